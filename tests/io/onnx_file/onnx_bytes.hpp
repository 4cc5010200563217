#pragma once

#include "io/onnx_file/model_proto.hpp"

#include <protozero/pbf_writer.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// ONNX messages as bytes, written by protozero.
namespace cairn::test {

/// A message under construction: `Message().text(1, "x").number(2, 7)`.
class Message {
public:
    Message& number(std::uint32_t field, std::int64_t value) {
        protozero::pbf_writer(bytes_).add_int64(field, value);
        return *this;
    }
    Message& text(std::uint32_t field, std::string_view value) {
        protozero::pbf_writer(bytes_).add_string(field, value.data(), value.size());
        return *this;
    }
    Message& float32(std::uint32_t field, float value) {
        protozero::pbf_writer(bytes_).add_float(field, value);
        return *this;
    }
    Message& float64(std::uint32_t field, double value) {
        protozero::pbf_writer(bytes_).add_double(field, value);
        return *this;
    }
    Message& packed(std::uint32_t field, const std::vector<std::int64_t>& values) {
        protozero::pbf_writer(bytes_).add_packed_int64(field, values.begin(), values.end());
        return *this;
    }
    Message& packed_floats(std::uint32_t field, const std::vector<float>& values) {
        protozero::pbf_writer(bytes_).add_packed_float(field, values.begin(), values.end());
        return *this;
    }
    Message& message(std::uint32_t field, const Message& inner) { return text(field, inner.bytes_); }
    Message& texts(std::uint32_t field, const std::vector<std::string>& values) {
        for (const std::string& value : values) text(field, value);
        return *this;
    }

    const std::string& bytes() const { return bytes_; }
    std::span<const std::byte> span() const { return std::as_bytes(std::span(bytes_)); }

private:
    std::string bytes_;
};

/// TensorProto with raw data.
inline Message tensor(std::string_view name, onnx::ElementType type, const std::vector<std::int64_t>& dims,
                      std::string_view raw) {
    return Message().packed(1, dims).number(2, static_cast<int>(type)).text(8, name).text(9, raw);
}

/// ValueInfoProto of a tensor of f32; a text is a name of an axis, a number its size.
inline Message value(std::string_view name, const std::vector<std::string>& dims) {
    Message shape;
    for (const std::string& dim : dims)
        shape.message(1,
                      dim[0] >= '0' && dim[0] <= '9' ? Message().number(1, std::stoll(dim)) : Message().text(2, dim));
    return Message().text(1, name).message(2, Message().message(1, Message().number(1, 1).message(2, shape)));
}

/// NodeProto.
inline Message node(std::string_view op, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs, const std::vector<Message>& attributes = {}) {
    Message made;
    made.texts(1, inputs).texts(2, outputs).text(4, op);
    for (const Message& attribute : attributes) made.message(5, attribute);
    return made;
}

/// AttributeProto of type INT, and of type GRAPH.
inline Message attribute(std::string_view name, std::int64_t value) {
    return Message().text(1, name).number(3, value).number(20, 2);
}
inline Message attribute(std::string_view name, const Message& graph) {
    return Message().text(1, name).message(6, graph).number(20, 5);
}

/// GraphProto of nodes, with an input and an output without shapes where named.
inline Message graph(const std::vector<Message>& nodes, std::string_view output = {}, std::string_view input = {}) {
    Message made;
    for (const Message& each : nodes) made.message(1, each);
    if (!input.empty()) made.message(11, value(input, {}));
    if (!output.empty()) made.message(12, value(output, {}));
    return made;
}

/// ModelProto of IR version 8 and operator set 17.
inline Message model(const Message& graph) {
    return Message().number(1, 8).message(7, graph).message(8, Message().number(2, 17));
}

}  // namespace cairn::test
