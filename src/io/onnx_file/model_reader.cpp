#include "io/mapped_file/file_error.hpp"
#include "io/onnx_file/message_reader.hpp"
#include "io/onnx_file/model_proto.hpp"
#include "io/onnx_file/tensor_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace cairn::inline v0::onnx {
namespace {

using Bytes = std::span<const std::byte>;
using Kind = AttributeProto::Kind;

constexpr int deepest = 32;

constexpr std::array<std::string_view, 15> kind_names{
    "UNDEFINED", "FLOAT",   "INT",    "STRING",        "TENSOR",         "GRAPH",      "FLOATS",     "INTS",
    "STRINGS",   "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};

GraphProto read_graph(Bytes bytes, const Place& place);

/// A place one level deeper. Fails where it is too deep.
Place nested(const Place& outer, std::string_view field, std::int64_t index = -1) {
    Place place{{}, &outer, field, index, outer.depth + 1};
    if (place.depth > deepest) place.fail(fmt::format("messages are nested more than {} deep", deepest));
    return place;
}

/// A place in a field of this message, at the same depth.
Place within(const Place& outer, std::string_view field, std::size_t index) {
    return {{}, &outer, field, static_cast<std::int64_t>(index), outer.depth};
}

class AttributeReader {
public:
    explicit AttributeReader(const Place& place) : place_(place) {}

    AttributeProto read(Bytes bytes) {
        MessageReader reader(bytes, place_);
        while (reader.next()) read_field(reader);
        finish();
        return std::move(attribute_);
    }

private:
    void read_field(MessageReader& reader) {
        switch (reader.field()) {
            case 1: attribute_.name = reader.text("name"); return;
            case 2: attribute_.f = reader.float32(found(Kind::f)); return;
            case 3: attribute_.i = reader.integer(found(Kind::i)); return;
            case 4: attribute_.s = reader.text(found(Kind::s)); return;
            case 5: add_tensor(reader, Kind::tensor); return;
            case 6: add_graph(reader, Kind::graph); return;
            case 7: return reader.floats(found(Kind::floats), attribute_.floats);
            case 8: return reader.integers(found(Kind::ints), attribute_.ints);
            case 9: attribute_.strings.push_back(reader.text(found(Kind::strings))); return;
            case 10: add_tensor(reader, Kind::tensors); return;
            case 11: add_graph(reader, Kind::graphs); return;
            case 14: return skip(reader, Kind::type_proto);
            case 15: return skip(reader, Kind::type_protos);
            case 20: stated_ = kind_of(reader.integer("type")); return;
            case 21: attribute_.reference = reader.text("ref_attr_name"); return;
            case 22: return skip(reader, Kind::sparse_tensor);
            case 23: return skip(reader, Kind::sparse_tensors);
            default: return reader.skip();
        }
    }

    Kind kind_of(std::int64_t number) const {
        if (number < 0 || number >= static_cast<std::int64_t>(kind_names.size()))
            fail(fmt::format("there is no type {} of attributes", number));
        return static_cast<Kind>(number);
    }

    /// Notes that a value of this kind was found; returns the kind's name.
    std::string_view found(Kind kind) {
        if (found_ != Kind::undefined && found_ != kind) fail("it has values of several types");
        found_ = kind;
        return to_string(kind);
    }
    void skip(MessageReader& reader, Kind kind) {
        found(kind);
        reader.skip();
    }
    void add_tensor(MessageReader& reader, Kind kind) {
        const Bytes bytes = reader.bytes(found(kind));
        attribute_.tensors.push_back(read_tensor(bytes, within(place_, "tensor", attribute_.tensors.size())));
    }
    void add_graph(MessageReader& reader, Kind kind) {
        const Bytes bytes = reader.bytes(found(kind));
        attribute_.graphs.push_back(
            read_graph(bytes, nested(place_, "graph", static_cast<std::int64_t>(attribute_.graphs.size()))));
    }

    void finish() {
        if (attribute_.name.empty()) fail("it has no name");
        // Lists may be empty and files of old versions state no type.
        attribute_.kind = stated_ != Kind::undefined ? stated_ : found_;
        if (!attribute_.reference.empty()) {
            if (found_ != Kind::undefined) fail("it has a value and refers to one");
            return;
        }
        if (attribute_.kind == Kind::undefined) fail("it has no value");
        if (found_ != Kind::undefined && found_ != attribute_.kind)
            fail(fmt::format("its type is {}, its value one of {}", to_string(attribute_.kind), to_string(found_)));
        const bool needs_one = attribute_.kind == Kind::tensor || attribute_.kind == Kind::graph;
        if (needs_one && attribute_.tensors.size() + attribute_.graphs.size() != 1)
            fail(fmt::format("it has {} values of {}", attribute_.tensors.size() + attribute_.graphs.size(),
                             to_string(attribute_.kind)));
    }

    [[noreturn]] void fail(const std::string& what) const {
        place_.fail(fmt::format("attribute {}: {}", files::printable(attribute_.name), what));
    }

    const Place& place_;
    AttributeProto attribute_;
    Kind stated_ = Kind::undefined, found_ = Kind::undefined;
};

std::string domain_of(std::string name) { return name == "ai.onnx" ? std::string() : name; }

NodeProto read_node(Bytes bytes, const Place& place) {
    NodeProto node;
    MessageReader reader(bytes, place);
    while (reader.next()) switch (reader.field()) {
            case 1: node.inputs.push_back(reader.text("input")); break;
            case 2: node.outputs.push_back(reader.text("output")); break;
            case 3: node.name = reader.text("name"); break;
            case 4: node.op = reader.text("op_type"); break;
            case 5: {
                const Place inner = within(place, "attribute", node.attributes.size());
                AttributeProto attribute = AttributeReader(inner).read(reader.bytes("attribute"));
                if (node.find(attribute.name) != nullptr)
                    place.fail("it has two attributes " + files::printable(attribute.name));
                node.attributes.push_back(std::move(attribute));
                break;
            }
            case 7: node.domain = domain_of(reader.text("domain")); break;
            case 8: node.overload = reader.text("overload"); break;
            default: reader.skip();
        }
    if (node.op.empty()) place.fail("it names no operator");
    return node;
}

DimensionProto read_dimension(Bytes bytes, const Place& place) {
    DimensionProto dimension;
    MessageReader reader(bytes, place);
    while (reader.next()) switch (reader.field()) {
            case 1: dimension = {reader.integer("dim_value"), {}}; break;
            case 2: dimension = {std::nullopt, reader.text("dim_param")}; break;
            default: reader.skip();
        }
    return dimension;
}

/// TypeProto.Tensor.
void read_tensor_type(Bytes bytes, const Place& place, ValueProto& value) {
    MessageReader reader(bytes, place);
    while (reader.next())
        if (reader.field() == 1) {
            value.type = element_type_of(reader.integer("elem_type"), place);
        } else if (reader.field() == 2) {
            value.has_shape = true;
            value.dims.clear();
            MessageReader shape(reader.bytes("shape"), place);
            while (shape.next())
                if (shape.field() == 1)
                    value.dims.push_back(read_dimension(shape.bytes("dim"), within(place, "dim", value.dims.size())));
                else
                    shape.skip();
        } else {
            reader.skip();
        }
}

ValueProto read_value(Bytes bytes, const Place& place) {
    ValueProto value;
    const auto read_type = [&](Bytes type) {
        MessageReader reader(type, place);
        while (reader.next()) switch (reader.field()) {
                case 1:
                    value.kind = ValueProto::Kind::tensor;
                    read_tensor_type(reader.bytes("tensor_type"), place, value);
                    break;
                case 4: value.kind = ValueProto::Kind::sequence, reader.skip(); break;
                case 5: value.kind = ValueProto::Kind::map, reader.skip(); break;
                case 7: value.kind = ValueProto::Kind::opaque, reader.skip(); break;
                case 8: value.kind = ValueProto::Kind::sparse_tensor, reader.skip(); break;
                case 9: value.kind = ValueProto::Kind::optional, reader.skip(); break;
                default: reader.skip();
            }
    };
    MessageReader reader(bytes, place);
    while (reader.next())
        if (reader.field() == 1)
            value.name = reader.text("name");
        else if (reader.field() == 2)
            read_type(reader.bytes("type"));
        else
            reader.skip();
    if (value.name.empty()) place.fail("a value has no name");
    return value;
}

GraphProto read_graph(Bytes bytes, const Place& place) {
    GraphProto graph;
    MessageReader reader(bytes, place);
    while (reader.next()) switch (reader.field()) {
            case 1:
                graph.nodes.push_back(read_node(reader.bytes("node"), within(place, "node", graph.nodes.size())));
                break;
            case 2: graph.name = reader.text("name"); break;
            case 5:
                graph.initializers.push_back(
                    read_tensor(reader.bytes("initializer"), within(place, "initializer", graph.initializers.size())));
                break;
            case 11:
                graph.inputs.push_back(read_value(reader.bytes("input"), within(place, "input", graph.inputs.size())));
                break;
            case 12:
                graph.outputs.push_back(
                    read_value(reader.bytes("output"), within(place, "output", graph.outputs.size())));
                break;
            case 15:
                graph.sparse_initializers.push_back(
                    read_sparse_name(reader.bytes("sparse_initializer"),
                                     within(place, "sparse_initializer", graph.sparse_initializers.size())));
                break;
            default: reader.skip();  // shapes that exporters wrote (value_info) are often wrong
        }
    return graph;
}

void read_opset(Bytes bytes, const Place& place, OpsetVersions& to) {
    std::string domain;
    std::int64_t version = 0;
    MessageReader reader(bytes, place);
    while (reader.next())
        if (reader.field() == 1)
            domain = domain_of(reader.text("domain"));
        else if (reader.field() == 2)
            version = reader.integer("version");
        else
            reader.skip();
    const auto [known, is_new] = to.emplace(domain, version);
    if (!is_new && known->second != version)
        place.fail(fmt::format("the operator set {} is imported as {} and {}", files::printable(domain), known->second,
                               version));
}

FunctionProto read_function(Bytes bytes, const Place& place) {
    FunctionProto function;
    MessageReader reader(bytes, place);
    while (reader.next()) switch (reader.field()) {
            case 1: function.name = reader.text("name"); break;
            case 4: function.inputs.push_back(reader.text("input")); break;
            case 5: function.outputs.push_back(reader.text("output")); break;
            case 6: function.attributes.push_back(reader.text("attribute")); break;
            case 7:
                function.nodes.push_back(read_node(reader.bytes("node"), within(place, "node", function.nodes.size())));
                break;
            case 9: read_opset(reader.bytes("opset_import"), place, function.opsets); break;
            case 10: function.domain = domain_of(reader.text("domain")); break;
            case 11: {
                const Place inner = within(place, "attribute_proto", function.defaults.size());
                function.defaults.push_back(AttributeReader(inner).read(reader.bytes("attribute_proto")));
                break;
            }
            case 13: function.overload = reader.text("overload"); break;
            default: reader.skip();
        }
    if (function.name.empty()) place.fail("a function has no name");
    return function;
}

}  // namespace

std::string_view to_string(Kind kind) noexcept { return kind_names[static_cast<std::size_t>(kind)]; }

const AttributeProto* NodeProto::find(std::string_view attribute) const noexcept {
    const auto it = std::find_if(attributes.begin(), attributes.end(),
                                 [&](const AttributeProto& each) { return each.name == attribute; });
    return it == attributes.end() ? nullptr : &*it;
}

ModelProto parse_model(Bytes bytes, std::string_view file) {
    const Place whole{file};
    ModelProto model;
    bool has_graph = false;
    MessageReader reader(bytes, whole);
    while (reader.next()) switch (reader.field()) {
            case 1: model.ir_version = reader.integer("ir_version"); break;
            case 2: model.producer = reader.text("producer_name"); break;
            case 3: model.producer_version = reader.text("producer_version"); break;
            case 4: model.domain = reader.text("domain"); break;
            case 5: model.model_version = reader.integer("model_version"); break;
            case 7:
                if (std::exchange(has_graph, true)) whole.fail("it has two graphs");
                model.graph = read_graph(reader.bytes("graph"), nested(whole, "graph"));
                break;
            case 8: read_opset(reader.bytes("opset_import"), whole, model.opsets); break;
            case 14: read_entry(reader.bytes("metadata_props"), whole, model.metadata); break;
            case 20:
                model.has_training = true;
                reader.skip();
                break;
            case 25:
                model.functions.push_back(
                    read_function(reader.bytes("functions"), within(whole, "functions", model.functions.size())));
                break;
            default: reader.skip();
        }
    if (model.ir_version < 1) whole.fail("it is no ONNX model: it has no ir_version");
    if (!has_graph) whole.fail("it has no graph");
    if (model.opsets.empty()) whole.fail("it imports no operator set");
    return model;
}

}  // namespace cairn::inline v0::onnx
