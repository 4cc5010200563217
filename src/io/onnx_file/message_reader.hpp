#pragma once

#include <protozero/pbf_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Protocol-buffer messages, read by protozero with every fault an Error(file).
namespace cairn::inline v0::onnx {

/// Where in a file a message is: a field of another message, as a list up to the file.
struct Place {
    std::string_view file;         ///< of the outermost message
    const Place* outer = nullptr;  ///< null: the whole file
    std::string_view field = {};
    std::int64_t index = -1;  ///< among repeated fields; -1: not repeated
    int depth = 0;            ///< of nested graphs and types

    /// `graph.node[3].attribute[0]`; empty for the whole file.
    std::string text() const;
    /// Throws Error(file): `model.onnx: graph.node[3]: what`.
    [[noreturn]] void fail(std::string_view what) const;
};

/// The fields of one message, in the order of the file. protozero checks lengths, but wire types by assertions only, so
/// each access checks them first.
class MessageReader {
public:
    MessageReader(std::span<const std::byte> bytes, const Place& place);

    /// Moves to the next field; false at the end.
    bool next();
    /// The number of the field.
    std::uint32_t field() const noexcept { return reader_.tag(); }

    std::int64_t integer(std::string_view name);
    float float32(std::string_view name);
    /// The bytes of a string or message.
    std::span<const std::byte> bytes(std::string_view name);
    std::string text(std::string_view name);
    /// Appends one number or, in packed form, several.
    void integers(std::string_view name, std::vector<std::int64_t>& to);
    void floats(std::string_view name, std::vector<float>& to);
    void doubles(std::string_view name, std::vector<double>& to);
    void skip();

    const Place& place() const noexcept { return place_; }

private:
    void require(std::string_view name, protozero::pbf_wire_type type) const;
    template <typename T, typename Single, typename Packed>
    void numbers(std::string_view name, protozero::pbf_wire_type type, std::vector<T>& to, Single single,
                 Packed packed);

    const Place& place_;
    protozero::pbf_reader reader_;
};

}  // namespace cairn::inline v0::onnx
