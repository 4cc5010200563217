#pragma once

#include "graph/ir/infer.hpp"
#include "graph/ir/op_table.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// Context of an inference function: its op, operands and attributes, and how it reports an error. infer() selects the
/// function of the op's family and converts a ShapeError into an Error with op and line:
///
///     if (inner differ) context.fail("inner dims differ: " + context.text());
///     // [matmul] inner dims differ: lhs f32[4,3], rhs f32[4,2] (model.cpp:17)
namespace cairn::ir {

/// Thrown by InferenceContext::fail, caught by infer().
struct ShapeError {
    std::string text;
};

class InferenceContext {
public:
    InferenceContext(const GraphData& graph, Op op, std::span<const NodeId> operands, Attributes& attributes) noexcept
        : graph_(graph), op_(op), operands_(operands), attributes_(attributes) {}

    Op op() const noexcept { return op_; }
    const GraphData& graph() const noexcept { return graph_; }
    std::size_t size() const noexcept { return operands_.size(); }
    NodeId id(std::size_t i) const noexcept { return operands_[i]; }
    const Node& node(std::size_t i) const { return graph_.node(operands_[i]); }
    const Shape& shape(std::size_t i) const { return node(i).shape; }
    std::int64_t rank(std::size_t i) const { return static_cast<std::int64_t>(shape(i).size()); }

    /// `x f32[4]`, `lhs f32[4,3], rhs f32[4,2]`: all operands with their names in the op.
    std::string text() const;

    std::vector<Dim>& dims(std::string_view name) const;
    Dim& dim(std::string_view name) const;
    double number(std::string_view name) const;
    /// The only element of that attribute, a constant integer.
    std::int64_t integer(std::string_view name) const;
    /// The attribute `dtype`; rejects a number that is none.
    DType dtype() const;
    /// An axis of a tensor of `rank` axes in stored form (negative); rejects one out of range.
    std::int64_t axis(std::int64_t axis, std::int64_t rank) const;
    /// The attribute `axis`, checked against operand 0 and converted to stored form; returns its index from the front.
    std::size_t axis_of_first() const;

    /// Rejects an axis of operand 0 that may be longer than i32 indices can address: 2^31 - 1 elements.
    void need_i32_indices(std::size_t axis) const;

    /// Rejects operands of different dtypes.
    void same_dtypes(std::size_t first, std::size_t last) const;
    /// Rejects a dtype that the op's row in op_table does not accept.
    void accepted_dtype(const Node& node) const;

    [[noreturn]] void fail(std::string text) const { throw ShapeError{std::move(text)}; }

private:
    const GraphData& graph_;
    Op op_;
    std::span<const NodeId> operands_;
    Attributes& attributes_;
};

using InferenceFunction = Inferred (*)(const InferenceContext& context);

Inferred infer_elementwise(const InferenceContext& context);
Inferred infer_reduction(const InferenceContext& context);
Inferred infer_matmul(const InferenceContext& context);
Inferred infer_movement(const InferenceContext& context);
Inferred infer_indexing(const InferenceContext& context);
Inferred infer_scan(const InferenceContext& context);
Inferred infer_iota(const InferenceContext& context);
Inferred infer_state_change(const InferenceContext& context);

}  // namespace cairn::ir
