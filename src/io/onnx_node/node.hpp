#pragma once

#include "io/onnx_node/refusal.hpp"
#include "io/onnx_node/value.hpp"

#include "cairn/composites.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0::onnx {

/// The import as nodes see it that hold tensors or graphs.
class GraphImporter {
public:
    virtual ~GraphImporter() = default;
    /// A tensor that a node holds, as a weight of this name or a constant.
    virtual ValuePtr stored(const TensorProto& tensor, std::string_view name) = 0;
    /// The outputs of a graph that a node holds, for these inputs; it sees the names around the node.
    virtual std::vector<ValuePtr> import_graph(const GraphProto& graph, const std::vector<ValuePtr>& inputs) = 0;
    virtual std::int64_t unroll_limit() const = 0;
};

/// A node under import: its inputs and attributes, and what is made of its outputs. Every accessor throws Refusal with
/// a reason for what does not fit.
///
///     void make_gemm(Node& node) {
///         Tensor a = node.tensor(0), b = node.tensor(1);
///         if (node.integer("transB", 0) != 0) b = swap_axes(b, 0, 1);
///         ...
///         node.set(0, y);
///     }
class Node {
public:
    /// `opset`: version of the node's domain. `inputs` in order; null: absent.
    Node(const NodeProto& proto, std::int64_t opset, std::vector<ValuePtr> inputs, Graph graph,
         GraphImporter& importer);

    const std::string& op() const noexcept { return proto_.op; }
    const NodeProto& proto() const noexcept { return proto_; }
    std::int64_t opset() const noexcept { return opset_; }
    Graph& graph() noexcept { return graph_; }
    GraphImporter& importer() noexcept { return importer_; }

    // Inputs. Absent ones at the end do not count.
    std::size_t input_count() const noexcept { return inputs_.size(); }
    bool has(std::size_t input) const noexcept { return input < inputs_.size() && inputs_[input] != nullptr; }
    const Value& value(std::size_t input) const;
    const ValuePtr& value_ptr(std::size_t input) const;
    /// Refuses an element type without a dtype.
    Tensor tensor(std::size_t input) const;
    /// The tensor that holds elements of a type without a dtype: i32 for INT16 and UINT16, i8 for INT4 and INT2; u8 for
    /// UINT4, UINT2, FLOAT4E2M1 and, bit by bit, the floats of 8 bits. The same as tensor() for the others.
    Tensor held(std::size_t input) const;
    std::optional<Tensor> optional_tensor(std::size_t input) const;
    ElementType type(std::size_t input) const { return value(input).type(); }
    DType dtype(std::size_t input) const;
    Shape shape(std::size_t input) const { return value(input).shape(); }
    int rank(std::size_t input) const { return static_cast<int>(shape(input).size()); }
    /// The elements, or null if the input is absent or not known at import.
    const Known* known(std::size_t input) const;
    /// The elements, for folders. Refuses if the input is absent.
    const Known& elements(std::size_t input) const;
    /// The elements. Refuses if they are not known: `input 'shape' must be known at import ...`; `what` names the
    /// input.
    const Known& require_known(std::size_t input, std::string_view what) const;
    /// Known integers, which may be symbolic.
    Shape sizes(std::size_t input, std::string_view what) const;
    /// Known integers without symbols.
    std::vector<std::int64_t> integers(std::size_t input, std::string_view what) const;
    std::int64_t integer(std::size_t input, std::string_view what) const;
    /// Known numbers, of floats or integers without symbols.
    std::vector<double> numbers(std::size_t input, std::string_view what) const;
    double number(std::size_t input, std::string_view what) const;

    // Attributes. Those of another kind are refused.
    bool has_attribute(std::string_view name) const noexcept { return proto_.find(name) != nullptr; }
    std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
    std::int64_t integer(std::string_view name) const;  ///< required
    double real(std::string_view name, double otherwise) const;
    double real(std::string_view name) const;  ///< required
    std::string text(std::string_view name, std::string_view otherwise) const;
    /// An element type by its number; refuses numbers of none.
    ElementType element_type(std::string_view name, ElementType otherwise) const;
    std::vector<std::int64_t> integers(std::string_view name) const;  ///< empty if absent
    std::vector<double> reals(std::string_view name) const;           ///< empty if absent
    std::vector<std::string> texts(std::string_view name) const;      ///< empty if absent
    const TensorProto* tensor_attribute(std::string_view name) const;
    const GraphProto& graph_attribute(std::string_view name) const;  ///< required
    /// Integers that newer operator sets take as an input and older ones as an attribute; empty if neither is given.
    std::optional<std::vector<std::int64_t>> integers_of(std::string_view attribute, std::size_t input) const;
    std::optional<Shape> sizes_of(std::string_view attribute, std::size_t input) const;

    /// An axis counted from the front; refuses one outside -rank .. rank - 1.
    int axis(std::int64_t axis, int rank) const;
    std::vector<int> axes(const std::vector<std::int64_t>& axes, int rank) const;

    // Outputs.
    std::size_t output_count() const noexcept { return proto_.outputs.size(); }
    /// True if the node names that output: others need not be set.
    bool wants(std::size_t output) const noexcept {
        return output < proto_.outputs.size() && !proto_.outputs[output].empty();
    }
    const std::string& output_name(std::size_t output) const { return proto_.outputs.at(output); }
    void set(std::size_t output, Tensor tensor) { set(output, Value::of(std::move(tensor))); }
    void set(std::size_t output, Known known) { set(output, Value::of(std::move(known))); }
    void set(std::size_t output, ValuePtr value);
    /// What was set; null for the others.
    std::vector<ValuePtr>& outputs() noexcept { return outputs_; }

    [[noreturn]] void refuse(const std::string& reason) const;

private:
    const AttributeProto* find(std::string_view name, AttributeProto::Kind kind) const;

    const NodeProto& proto_;
    std::int64_t opset_;
    std::vector<ValuePtr> inputs_, outputs_;
    Graph graph_;
    GraphImporter& importer_;
};

/// Adds what an operator computes to the graph.
using Maker = void (*)(Node& node);
/// Computes an operator on elements known at import; false: it cannot, and the maker does. Called only if all inputs
/// that are present are known; for `Shape` and `Size` always.
using Folder = bool (*)(Node& node);

/// An operator of a domain, from an operator set on.
struct Operator {
    std::string_view name;
    int since = 1;
    Maker make = nullptr;
    Folder fold = nullptr;
    std::string_view domain = {};  ///< empty: `ai.onnx`
};

}  // namespace cairn::inline v0::onnx
