#include "graph/ir/scalar_cast.hpp"
#include "rewrite/simplify/rewriter.hpp"
#include "rewrite/simplify/rule.hpp"

#include <array>
#include <cmath>

namespace cairn::simplify {
namespace {

using ir::NodeId;
using ir::Op;
using Result = std::optional<NodeId>;

bool floats(const Rewriter& r, NodeId id) { return is_float(r.node(id).dtype); }

// If operand `index` is `value` in all elements, returns the other operand, broadcast to the shape of `id`.
Result other_if(Rewriter& r, NodeId id, std::size_t index, double value) {
    if (!r.is_scalar(r.operand(id, index), value)) return std::nullopt;
    const Shape shape = r.node(id).shape;
    return r.broadcast_to(r.operand(id, 1 - index), shape);
}

bool is_negative_zero(const Rewriter& r, NodeId id) { return r.is_scalar(id, 0) && std::signbit(*r.scalar_value(id)); }

// -0 + 0 is +0: for floats the constant must be -0, or x never -0.
Result add_zero(Rewriter& r, NodeId id) {
    for (const std::size_t zero : {std::size_t{1}, std::size_t{0}}) {
        const NodeId x = r.operand(id, 1 - zero);
        if (floats(r, id) && !is_negative_zero(r, r.operand(id, zero)) && !r.is_nonnegative(x)) continue;
        if (const Result result = other_if(r, id, zero, 0)) return result;
    }
    return std::nullopt;
}

// A product of matrices that sums no terms is a zero of either sign.
Result add_empty_product(Rewriter& r, NodeId id) {
    for (const std::size_t empty : {std::size_t{1}, std::size_t{0}}) {
        NodeId product = r.operand(id, empty);
        while (r.is(product, Op::reshape)) product = r.operand(product, 0);
        if (!r.is(product, Op::matmul) || !(r.node(r.operand(product, 0)).shape.back() == Dim(0))) continue;
        const Shape shape = r.node(id).shape;
        return r.broadcast_to(r.operand(id, 1 - empty), shape);
    }
    return std::nullopt;
}

// x - (-0) turns -0 into +0.
Result sub_zero(Rewriter& r, NodeId id) {
    if (is_negative_zero(r, r.operand(id, 1)) && floats(r, id)) return std::nullopt;
    return other_if(r, id, 1, 0);
}

// 0 - 0 is +0, neg(0) is -0: for floats the constant must be -0.
Result zero_sub(Rewriter& r, NodeId id) {
    if (floats(r, id) && !is_negative_zero(r, r.operand(id, 0))) return std::nullopt;
    const Result x = other_if(r, id, 0, 0);
    return x ? Result(r.make(Op::neg, {*x})) : std::nullopt;
}

Result sub_self(Rewriter& r, NodeId id) {
    if (floats(r, id) || r.operand(id, 0) != r.operand(id, 1)) return std::nullopt;
    return r.filled_like(id, 0);
}

Result mul_one(Rewriter& r, NodeId id) {
    const Result result = other_if(r, id, 1, 1);
    return result ? result : other_if(r, id, 0, 1);
}

Result div_one(Rewriter& r, NodeId id) { return other_if(r, id, 1, 1); }

// NaN * 0 and infinity * 0 are NaN.
Result mul_zero(Rewriter& r, NodeId id) {
    if (floats(r, id) || !(r.is_scalar(r.operand(id, 0), 0) || r.is_scalar(r.operand(id, 1), 0))) return std::nullopt;
    return r.filled_like(id, 0);
}

Result mul_minus_one(Rewriter& r, NodeId id) {
    Result x = other_if(r, id, 1, -1);
    if (!x && r.is(id, Op::mul)) x = other_if(r, id, 0, -1);
    return x ? Result(r.make(Op::neg, {*x})) : std::nullopt;
}

// Exact only if 1/c is exact: c is a power of two with a normal reciprocal.
Result div_power_of_two(Rewriter& r, NodeId id) {
    const auto c = r.scalar_value(r.operand(id, 1));
    if (!floats(r, id) || !c || r.scalar_value(r.operand(id, 0))) return std::nullopt;
    int exponent = 0;
    if (std::fabs(std::frexp(*c, &exponent)) != 0.5) return std::nullopt;
    const int range = r.node(id).dtype == DType::f16 ? 14 : r.node(id).dtype == DType::f64 ? 1000 : 120;
    if (std::abs(exponent) > range) return std::nullopt;
    const NodeId x = r.operand(id, 0);
    return r.make(Op::mul, {x, r.scalar(r.node(id).dtype, 1 / *c)});
}

Result neg_neg(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    return r.is(x, Op::neg) ? Result(r.operand(x, 0)) : std::nullopt;
}

Result add_neg(Rewriter& r, NodeId id) {
    for (const std::size_t negated : {std::size_t{1}, std::size_t{0}}) {
        const NodeId b = r.operand(id, negated);
        if (r.is(b, Op::neg)) return r.make(Op::sub, {r.operand(id, 1 - negated), r.operand(b, 0)});
    }
    return std::nullopt;
}

Result sub_neg(Rewriter& r, NodeId id) {
    const NodeId b = r.operand(id, 1);
    if (!r.is(b, Op::neg)) return std::nullopt;
    return r.make(Op::add, {r.operand(id, 0), r.operand(b, 0)});
}

// Integer division truncates toward zero, so the signs cancel in it too. But the lowest integer divided by -1 wraps
// differently.
Result neg_both(Rewriter& r, NodeId id) {
    const NodeId a = r.operand(id, 0), b = r.operand(id, 1);
    if (!r.is(a, Op::neg) || !r.is(b, Op::neg) || (r.is(id, Op::div) && !floats(r, id))) return std::nullopt;
    return r.make(r.node(id).op, {r.operand(a, 0), r.operand(b, 0)});
}

Result neg_into_constant(Rewriter& r, NodeId id) {
    if (!floats(r, id)) return std::nullopt;
    for (const std::size_t scale : {std::size_t{1}, std::size_t{0}}) {
        const NodeId a = r.operand(id, 1 - scale);
        const auto c = r.scalar_value(r.operand(id, scale));
        if (!c || !r.is(a, Op::neg)) continue;
        std::array<NodeId, 2> operands{};
        operands[1 - scale] = r.operand(a, 0);
        operands[scale] = r.scalar(r.node(id).dtype, -*c);
        return r.make(r.node(id).op, {operands[0], operands[1]});
    }
    return std::nullopt;
}

Result abs_neg(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    return r.is(x, Op::neg) ? Result(r.make(Op::abs, {r.operand(x, 0)})) : std::nullopt;
}

Result abs_nonnegative(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    return r.is(x, Op::abs) || r.is_nonnegative(x) ? Result(x) : std::nullopt;
}

// Wrapping addition and multiplication are associative; those of floats are not.
Result collect_constants(Rewriter& r, NodeId id) {
    const Op op = r.node(id).op;
    const NodeId inner = r.operand(id, 0), c = r.operand(id, 1);
    if (floats(r, id) || !r.scalar_value(c) || !r.is(inner, op) || !r.scalar_value(r.operand(inner, 1)))
        return std::nullopt;
    const NodeId both = r.make(op, {r.operand(inner, 1), c});
    return r.make(op, {r.operand(inner, 0), both});
}

using enum Rounding;

// clang-format off
constexpr std::array rows = {
    Rule{"add_zero", "x + 0 -> x", "integers; floats where the 0 is -0 or x is never -0", exact, Op::add, add_zero},
    Rule{"add_empty_product", "x + a @ b -> x", "a has no columns; likewise a reshape of a @ b", exact, Op::add, add_empty_product},
    Rule{"sub_zero", "x - 0 -> x", "", exact, Op::sub, sub_zero},
    Rule{"zero_sub", "0 - x -> neg(x)", "integers; floats where the 0 is -0", exact, Op::sub, zero_sub},
    Rule{"sub_self", "x - x -> 0", "integers", exact, Op::sub, sub_self},
    Rule{"mul_one", "x * 1 -> x", "", exact, Op::mul, mul_one},
    Rule{"div_one", "x / 1 -> x", "", exact, Op::div, div_one},
    Rule{"mul_zero", "x * 0 -> 0", "integers", exact, Op::mul, mul_zero},
    Rule{"mul_minus_one", "x * -1 -> neg(x), x / -1 -> neg(x)", "", exact, Op::mul, mul_minus_one},
    Rule{"mul_minus_one", "x * -1 -> neg(x), x / -1 -> neg(x)", "", exact, Op::div, mul_minus_one},
    Rule{"div_power_of_two", "x / c -> x * (1 / c)", "floats; c is a power of two", exact, Op::div, div_power_of_two},
    Rule{"neg_neg", "neg(neg(x)) -> x", "", exact, Op::neg, neg_neg},
    Rule{"neg_both", "neg(a) * neg(b) -> a * b", "likewise / of floats", exact, Op::mul, neg_both},
    Rule{"neg_both", "neg(a) * neg(b) -> a * b", "likewise / of floats", exact, Op::div, neg_both},
    Rule{"neg_into_constant", "neg(x) * c -> x * -c", "likewise / of floats", exact, Op::mul, neg_into_constant},
    Rule{"neg_into_constant", "neg(x) * c -> x * -c", "likewise / of floats", exact, Op::div, neg_into_constant},
    Rule{"add_neg", "a + neg(b) -> a - b", "", exact, Op::add, add_neg},
    Rule{"sub_neg", "a - neg(b) -> a + b", "", exact, Op::sub, sub_neg},
    Rule{"abs_neg", "abs(neg(x)) -> abs(x)", "", exact, Op::abs, abs_neg},
    Rule{"abs_nonnegative", "abs(x) -> x", "x is an absolute value or never negative", exact, Op::abs, abs_nonnegative},
    Rule{"collect_constants", "(x + c) + d -> x + (c + d)", "integers; likewise *", exact, Op::add, collect_constants},
    Rule{"collect_constants", "(x + c) + d -> x + (c + d)", "integers; likewise *", exact, Op::mul, collect_constants},
};
// clang-format on

}  // namespace

std::span<const Rule> algebra_rules() { return rows; }

}  // namespace cairn::simplify
