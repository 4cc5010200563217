#pragma once

#include "io/onnx_node/known.hpp"

#include "cairn/graph.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cairn::inline v0::onnx {

class Value;
/// A value of an ONNX graph; null: an optional one that is absent.
using ValuePtr = std::shared_ptr<Value>;

/// A value of an ONNX graph during import: a tensor of the graph under construction, elements known at import, a tensor
/// stored in the file, or a sequence of values. Of the first three it may be several: each is made when first asked
/// for.
class Value {
public:
    enum class Kind : std::uint8_t {
        tensor,
        sequence,  ///< a list of values, known at import
        optional,  ///< an empty optional
        refused    ///< of a node that cannot be imported
    };
    static ValuePtr of(Tensor tensor);
    /// With an element type that differs from the tensor's: integers of 4 bits are held in bytes.
    static ValuePtr of(Tensor tensor, ElementType type);
    static ValuePtr of(Known known);
    /// A tensor in a file, or with elements that outlive the import. `make` adds it to the graph as a weight.
    static ValuePtr stored(const TensorProto& tensor, std::function<Tensor()> make);
    static ValuePtr sequence(std::vector<ValuePtr> elements, ElementType type);
    static ValuePtr empty_optional();
    static ValuePtr refused();

    Kind kind() const noexcept { return kind_; }
    /// Of tensors, and of the elements of a sequence.
    ElementType type() const noexcept { return type_; }
    /// Sizes of a tensor.
    Shape shape() const;
    /// The elements, or null if they are not known at import.
    const Known* known() const;
    /// The tensor in `graph`. Throws Refusal for element types without a dtype.
    const Tensor& tensor(const Graph& graph) const;
    /// True if tensor() was called, or the value is nothing else.
    bool has_tensor() const noexcept { return tensor_.has_value(); }
    const std::vector<ValuePtr>& elements() const noexcept { return elements_; }

private:
    Kind kind_ = Kind::tensor;
    ElementType type_ = ElementType::undefined;
    mutable std::optional<Tensor> tensor_;
    mutable std::optional<Known> known_;
    mutable bool is_read_ = false;  ///< known_ is what can be known of stored_
    const TensorProto* stored_ = nullptr;
    std::function<Tensor()> make_;
    std::vector<ValuePtr> elements_;
};

/// The dtype of a type. Throws Refusal for one without.
DType require_dtype(ElementType type);
/// A tensor with these elements: a constant; for symbolic ones, constants of one element each, joined.
Tensor tensor_of(const Known& known, const Graph& graph);

}  // namespace cairn::inline v0::onnx
