#include "rewrite/normal_form/normalizer.hpp"

#include "graph/ir/infer.hpp"
#include "graph/types/hash.hpp"
#include "rewrite/normal_form/identities.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace cairn::normal_form {
namespace {

using ir::Node;
using ir::Op;
using Parts = std::span<const ScaledTerm>;

}  // namespace

Shape trimmed(const Shape& shape) {
    const auto first = std::find_if(shape.begin(), shape.end(), [](const Dim& size) { return !(size == Dim(1)); });
    return {first, shape.end()};
}

const Shape* Normalizer::trimmed_shape(const Shape& shape) {
    return terms_.keep(shape.empty() || !(shape[0] == Dim(1)) ? shape : trimmed(shape));
}

TermId Normalizer::op_term(Op op, DType dtype, const Shape* shape, Parts parts, const Attributes* attributes) {
    Term term = terms_.draft(TermKind::op, dtype, shape);
    term.op = op;
    term.parts = parts;
    if (attributes != nullptr) term.attributes = attributes;
    if (!ir::info(op).has(ir::OpTrait::commutes)) return terms_.intern(term);
    std::vector<ScaledTerm> sorted(parts.begin(), parts.end());
    std::sort(sorted.begin(), sorted.end(), by_core);
    term.parts = sorted;
    return terms_.intern(term);
}

bool Normalizer::is_op(TermId core, Op op) const {
    const Term& term = terms_[core];
    return term.kind == TermKind::op && term.op == op && term.values.empty();
}

bool Normalizer::is_constant(const ScaledTerm& value, double number) const {
    return terms_[value.core].kind == TermKind::one && close(value.factor, number, terms_[value.core].dtype);
}

bool Normalizer::is_bound(TermId core) {
    while (bound_.size() <= core) {
        const Term& term = terms_[static_cast<TermId>(bound_.size())];
        bound_.push_back(term.kind == TermKind::leaf
                             ? term.op == Op::weight || term.op == Op::constant
                             : std::all_of(term.parts.begin(), term.parts.end(),
                                           [&](const ScaledTerm& p) { return bound_[p.core]; }));
    }
    return bound_[core];
}

const Shape* Normalizer::joint_shape(Parts parts) {
    const Shape* shape = terms_.scalar();
    for (const ScaledTerm& part : parts) {
        const Shape* other = terms_[part.core].shape;
        if (other == shape || other->empty()) continue;
        if (shape->empty())
            shape = other;
        else if (const auto joined = ir::broadcast_shapes(*shape, *other))
            shape = terms_.keep(*joined);
    }
    return shape;
}

ScaledTerm Normalizer::constant(const Node& node) {
    if (node.shape.empty() && std::isfinite(node.values->front())) {
        const double value = node.values->front();
        if (node.dtype == DType::boolean) return {value != 0 ? 1.0 : -1.0, one(node.dtype)};
        return number(value, node.dtype);
    }
    Term term = terms_.draft(TermKind::op, node.dtype, trimmed_shape(node.shape));
    term.values = *node.values;
    return {1, terms_.intern(term)};
}

// The dtype that decides on the identities of a comparison is that of its operands.
ScaledTerm Normalizer::apply(const Operation& operation) {
    const bool compares = ir::info(operation.op).has(ir::OpTrait::compares);
    const DType dtype = compares ? terms_[operation.operands[0].core].dtype : operation.dtype;
    for (const auto apply : table_->of(operation.op, dtype))
        if (const auto form = apply(*this, operation)) return *form;
    const Shape* shape = operation.shape != nullptr ? operation.shape : joint_shape(operation.operands);
    if (operation.op == Op::sum && operation.shape == nullptr)
        shape = terms_.keep(reduced(*shape, operation.attributes->dims("axes")));
    return {1, op_term(operation.op, operation.dtype, shape, operation.operands, operation.attributes)};
}

// An opaque value; also an integer constant that a double cannot represent exactly.
ScaledTerm Normalizer::of_leaf(const Node& node, ir::NodeId id) {
    Term term = terms_.draft(TermKind::leaf, node.dtype, trimmed_shape(node.shape));
    term.op = node.op;
    term.node = id;
    return {1, terms_.intern(term)};
}

ScaledTerm Normalizer::of(const Node& node, ir::NodeId id, Parts x) {
    const bool is_plain = ir::is(node, ir::OpClass::elementwise) || (node.op == Op::matmul && is_float(node.dtype));
    if (results_.empty() || !is_plain || !node.attributes.empty() || x.size() > 2) return compute(node, id, x);
    auto hash = static_cast<std::size_t>(node.op);
    for (const ScaledTerm& operand : x) {
        types::hash_combine(hash, operand.core);
        types::hash_combine(hash, std::bit_cast<std::uint64_t>(operand.factor));
    }
    Result& known = results_[hash % results_kept];
    const auto same = [](const ScaledTerm& a, const ScaledTerm& b) {
        return a.core == b.core && std::bit_cast<std::uint64_t>(a.factor) == std::bit_cast<std::uint64_t>(b.factor);
    };
    if (known.op == node.op && known.count == x.size() && std::equal(x.begin(), x.end(), known.operands, same))
        return known.result;
    known = {node.op, x.size(), {}, compute(node, id, x)};
    std::copy(x.begin(), x.end(), known.operands);
    return known.result;
}

ScaledTerm Normalizer::compute(const Node& node, ir::NodeId id, Parts x) {
    const bool real = is_float(node.dtype);
    if (node.op == Op::constant) return node.exact_integers ? of_leaf(node, id) : constant(node);
    if (ir::is_given(node) || node.op == Op::state_write) return of_leaf(node, id);
    if (node.op == Op::reshape || node.op == Op::transpose) return move(node, x[0]);
    if (node.op == Op::slice || node.op == Op::gather)
        if (const auto move = node.op == Op::slice ? slice_of(*this, node, x[0]) : gather_of(*this, node, x[0], x[1])) {
            const ScaledTerm result = moved(x[0].core, *move);
            return {x[0].factor * result.factor, result.core};
        }
    if (ir::is(node, ir::OpClass::elementwise)) return apply({node.op, node.dtype, x, &node.attributes});
    if (node.op == Op::matmul && real) return multiply_matrices(x[0], x[1]);
    // The factors that leave a sum may have axes that the rest has not.
    const Shape* shape = node.op == Op::sum && real ? nullptr : trimmed_shape(node.shape);
    return apply({node.op, node.dtype, x, &node.attributes, shape});
}

}  // namespace cairn::normal_form
