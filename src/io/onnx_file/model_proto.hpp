#pragma once

#include "io/onnx_file/element_type.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The messages of an ONNX file (onnx.proto, IR versions 3 to 14) as plain structures. Names and attributes are copied,
/// elements of tensors stay where the file has them.
namespace cairn::inline v0::onnx {

/// TensorProto: dense elements in row-major order.
struct TensorProto {
    std::string name;
    ElementType type = ElementType::undefined;
    std::vector<std::int64_t> dims;
    /// The elements, little-endian, those of 2 and 4 bits packed from the lowest bits on. A view of the file, or of
    /// `owned`. Empty if they are strings or external.
    std::span<const std::byte> data;
    std::shared_ptr<const std::vector<std::byte>> owned;  ///< elements that the file has in another form
    std::vector<std::string> strings;
    /// Where external elements are, as the file says: `location`, `offset`, `length`, `checksum`.
    std::map<std::string, std::string> external;
    bool is_external = false;

    /// Product of dims.
    std::int64_t elements() const noexcept;
    /// Bytes of the elements in raw data, where types of less than 8 bits are packed; 0 if their form is not known.
    std::uint64_t raw_bytes() const noexcept;
};

struct GraphProto;

/// AttributeProto: a named value of one kind.
struct AttributeProto {
    /// In the numbering of the file.
    enum class Kind : std::uint8_t {
        undefined = 0,
        f = 1,
        i = 2,
        s = 3,
        tensor = 4,
        graph = 5,
        floats = 6,
        ints = 7,
        strings = 8,
        tensors = 9,
        graphs = 10,
        sparse_tensor = 11,
        sparse_tensors = 12,
        type_proto = 13,
        type_protos = 14
    };
    std::string name;
    Kind kind = Kind::undefined;
    std::string reference;  ///< within a function: the attribute of its call that has the value; else empty
    float f = 0;
    std::int64_t i = 0;
    std::string s;
    std::vector<float> floats;
    std::vector<std::int64_t> ints;
    std::vector<std::string> strings;
    std::vector<TensorProto> tensors;  ///< one for Kind::tensor
    std::vector<GraphProto> graphs;    ///< one for Kind::graph
};
/// `INTS`, as onnx.proto has it.
std::string_view to_string(AttributeProto::Kind kind) noexcept;

/// NodeProto: the call of an operator.
struct NodeProto {
    std::string op, domain;  ///< the domain `ai.onnx` is empty
    std::string name;        ///< may be empty
    std::string overload;
    std::vector<std::string> inputs, outputs;  ///< names of values; empty: an optional one is left out
    std::vector<AttributeProto> attributes;

    /// The attribute of that name, or null.
    const AttributeProto* find(std::string_view attribute) const noexcept;
};

/// One axis of a shape: a number, a name, or unknown.
struct DimensionProto {
    std::optional<std::int64_t> value;
    std::string parameter;  ///< `dim_param`
};

/// ValueInfoProto: an input or output of a graph.
struct ValueProto {
    enum class Kind : std::uint8_t { unknown, tensor, sequence, map, optional, sparse_tensor, opaque };
    std::string name;
    Kind kind = Kind::unknown;
    ElementType type = ElementType::undefined;
    bool has_shape = false;
    std::vector<DimensionProto> dims;
};

/// GraphProto: nodes in an order of execution.
struct GraphProto {
    std::string name;
    std::vector<NodeProto> nodes;
    std::vector<ValueProto> inputs, outputs;
    std::vector<TensorProto> initializers;
    std::vector<std::string> sparse_initializers;  ///< their names
};

/// Versions of operator sets by domain; `ai.onnx` is the empty one.
using OpsetVersions = std::map<std::string, std::int64_t>;

/// FunctionProto: an operator of the model's own.
struct FunctionProto {
    std::string name, domain, overload;
    std::vector<std::string> inputs, outputs;
    std::vector<std::string> attributes;   ///< without a default
    std::vector<AttributeProto> defaults;  ///< attributes with one
    std::vector<NodeProto> nodes;
    OpsetVersions opsets;
};

/// ModelProto.
struct ModelProto {
    std::int64_t ir_version = 0;
    OpsetVersions opsets;
    std::string producer, producer_version, domain;
    std::int64_t model_version = 0;
    GraphProto graph;
    std::vector<FunctionProto> functions;
    std::map<std::string, std::string> metadata;
    bool has_training = false;  ///< it describes a training step, which is not read
};

/// Parses the bytes of a file, which must outlive the result. `file` is its name in messages. Throws Error(file) that
/// names the place, `graph.node[3].attribute[0].t`, for bytes that are no such messages: cut lengths, fields of another
/// type, attributes with no or several values, counts of elements that overflow or that the data does not have, graphs
/// nested deeper than 32, and for a missing graph, IR version or operator set.
ModelProto parse_model(std::span<const std::byte> bytes, std::string_view file);
/// Parses one TensorProto, as the test data of models are stored in.
TensorProto parse_tensor(std::span<const std::byte> bytes, std::string_view file);

}  // namespace cairn::inline v0::onnx
