#include "rewrite/normal_form/normalizer.hpp"

#include "graph/ir/infer.hpp"
#include "graph/types/hash.hpp"

#include <algorithm>
#include <array>
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

TermId Normalizer::one(DType dtype) { return terms_.intern(terms_.draft(TermKind::one, dtype, terms_.scalar())); }

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

// f(c x) = c f(x), for ops linear in their first operand.
ScaledTerm Normalizer::with_factor_outside(const Node& node, Parts operands) {
    std::vector<ScaledTerm> parts(operands.begin(), operands.end());
    const double factor = std::exchange(parts[0].factor, 1);
    return {factor, op_term(node.op, node.dtype, trimmed_shape(node.shape), parts, &node.attributes)};
}

ScaledTerm Normalizer::concat(DType dtype, const Shape* shape, const Attributes& attributes,
                              std::vector<ScaledTerm> parts) {
    double factor = 1;
    if ((is_float(dtype) || dtype == DType::boolean) && std::isnormal(parts[0].factor)) {
        factor = parts[0].factor;
        for (ScaledTerm& part : parts) part.factor /= factor;
    }
    return {factor, op_term(Op::concat, dtype, shape, parts, &attributes)};
}

// Handles ops expressed by other ops first, then ops that carry a sign or factor to the front.
ScaledTerm Normalizer::real(Op op, DType dtype, const Attributes& attributes, Parts x) {
    static constexpr auto laws = std::to_array<ir::OpMapEntry<Formula>>({
        {Op::neg, [](Normalizer&, DType, Parts of) { return negated(of[0]); }},
        {Op::add,
         [](Normalizer& normalizer, DType type, Parts of) {
             return normalizer.add({of[0], of[1]}, type);
         }},
        {Op::sub,
         [](Normalizer& normalizer, DType type, Parts of) {
             return normalizer.add({of[0], negated(of[1])}, type);
         }},
        {Op::mul, [](Normalizer& normalizer, DType, Parts of) { return normalizer.multiply(of[0], of[1]); }},
        {Op::div, [](Normalizer& normalizer, DType,
                     Parts of) { return normalizer.multiply(of[0], normalizer.power(of[1], -1)); }},
        {Op::sqrt, [](Normalizer& normalizer, DType, Parts of) { return normalizer.power(of[0], 0.5); }},
        {Op::rsqrt, [](Normalizer& normalizer, DType, Parts of) { return normalizer.power(of[0], -0.5); }},
        {Op::exp, [](Normalizer& normalizer, DType type, Parts of) { return normalizer.exponential(of[0], type); }},
        {Op::log, [](Normalizer& normalizer, DType type, Parts of) { return normalizer.logarithm(of[0], type); }},
        {Op::max, [](Normalizer& normalizer, DType type, Parts of) { return normalizer.maximum(of[0], of[1], type); }},
        {Op::min, [](Normalizer& normalizer, DType type,
                     Parts of) { return negated(normalizer.maximum(negated(of[0]), negated(of[1]), type)); }},
    });
    if (const Formula* law = ir::find_op_entry(laws, op)) return (*law)(*this, dtype, x);
    if (op == Op::pow && terms_[x[1].core].kind == TermKind::one) return power(x[0], x[1].factor);
    const auto of_part = [&](double front, double inside) {
        return ScaledTerm{front, op_term(op, dtype, terms_[x[0].core].shape, {{inside, x[0].core}})};
    };
    if (op == Op::abs) return of_part(std::fabs(x[0].factor), 1);
    if (ir::info(op).has(ir::OpTrait::odd)) return of_part(std::copysign(1, x[0].factor), std::fabs(x[0].factor));
    if (ir::info(op).has(ir::OpTrait::even)) return of_part(1, std::fabs(x[0].factor));
    return {1, op_term(op, dtype, joint_shape(x), x, &attributes)};
}

ScaledTerm Normalizer::apply(Op op, DType dtype, const Attributes& attributes, Parts x) {
    static constexpr auto laws = std::to_array<ir::OpMapEntry<Formula>>({
        {Op::logical_and,
         [](Normalizer& normalizer, DType, Parts of) {
             return normalizer.conjunction({of.begin(), of.end()});
         }},
        {Op::logical_or,
         [](Normalizer& normalizer, DType, Parts of) {
             return negated(normalizer.conjunction({negated(of[0]), negated(of[1])}));
         }},
        {Op::logical_not, [](Normalizer&, DType, Parts of) { return negated(of[0]); }},
        {Op::where,
         [](Normalizer& normalizer, DType type, Parts of) { return normalizer.choose(of[0], of[1], of[2], type); }},
    });
    if (const Formula* law = ir::find_op_entry(laws, op)) return (*law)(*this, dtype, x);
    if (ir::info(op).has(ir::OpTrait::compares)) return compare(op, x[0], x[1]);
    if (op == Op::cast)
        if (auto counted = affine_in(dtype, x[0])) return from_affine(std::move(*counted), dtype);
    const bool is_arithmetic = op != Op::cast && dtype != DType::boolean;
    if (is_arithmetic) return is_float(dtype) ? real(op, dtype, attributes, x) : integer(op, dtype, attributes, x);
    return {1, op_term(op, dtype, joint_shape(x), x, &attributes)};
}

// An opaque value; also an integer constant that a double cannot represent exactly.
ScaledTerm Normalizer::of_leaf(const Node& node, ir::NodeId id) {
    Term term = terms_.draft(TermKind::leaf, node.dtype, trimmed_shape(node.shape));
    term.op = node.op;
    term.node = id;
    return {1, terms_.intern(term)};
}

ScaledTerm Normalizer::of_whole(const Node& node, Parts x) {
    return {1, op_term(node.op, node.dtype, trimmed_shape(node.shape), x, &node.attributes)};
}

ScaledTerm Normalizer::largest(const Attributes& attributes, const Shape* shape, const ScaledTerm& x) {
    const ScaledTerm part{x.factor == 0 ? 0 : std::copysign(1, x.factor), x.core};
    const TermId largest = op_term(Op::max_reduce, terms_[x.core].dtype, shape, {part}, &attributes);
    return {x.factor == 0 ? 1 : std::fabs(x.factor), largest};
}

ScaledTerm Normalizer::of(const Node& node, ir::NodeId id, Parts x) {
    const bool is_plain = ir::is(node, ir::OpClass::elementwise) || (node.op == Op::matmul && is_float(node.dtype));
    if (results_.empty() || !is_plain || !node.attributes.empty() || x.size() > 2) return made_of(node, id, x);
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
    known = {node.op, x.size(), {}, made_of(node, id, x)};
    std::copy(x.begin(), x.end(), known.operands);
    return known.result;
}

ScaledTerm Normalizer::made_of(const Node& node, ir::NodeId id, Parts x) {
    const bool real = is_float(node.dtype);
    if (node.op == Op::constant) return node.exact_integers ? of_leaf(node, id) : constant(node);
    if (node.op == Op::iota && !real) return from_iota(node);
    if (ir::is_given(node) || ir::is(node, ir::OpClass::effect)) return of_leaf(node, id);
    if (node.op == Op::reshape || node.op == Op::transpose) return move(node, x[0]);
    if (node.op == Op::slice)
        if (const auto slice = slice_of(node, x[0])) {
            const ScaledTerm result = moved(x[0].core, *slice);
            return {x[0].factor * result.factor, result.core};
        }
    if (node.op == Op::gather)
        if (const auto gather = gather_of(node, x[0], x[1])) {
            const ScaledTerm result = moved(x[0].core, *gather);
            return {x[0].factor * result.factor, result.core};
        }
    if (node.op == Op::concat)
        return concat(node.dtype, trimmed_shape(node.shape), node.attributes, {x.begin(), x.end()});
    if (ir::is(node, ir::OpClass::elementwise)) return apply(node.op, node.dtype, node.attributes, x);
    if (node.op == Op::sum && real) return summed(node.attributes, x[0]);
    if (node.op == Op::matmul && real) return multiply_matrices(x[0], x[1]);
    if (node.op == Op::max_reduce && real) return largest(node.attributes, trimmed_shape(node.shape), x[0]);
    if (ir::info(node.op).has(ir::OpTrait::linear) && (real || node.dtype == DType::boolean))
        return with_factor_outside(node, x);
    return of_whole(node, x);
}

}  // namespace cairn::normal_form
