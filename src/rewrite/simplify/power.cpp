#include "rewrite/simplify/rewriter.hpp"
#include "rewrite/simplify/rule.hpp"

#include <array>

namespace cairn::simplify {
namespace {

using ir::NodeId;
using ir::Op;
using Result = std::optional<NodeId>;

bool has_exponent(const Rewriter& r, NodeId id, double exponent) { return r.is_scalar(r.operand(id, 1), exponent); }

// The base of a power, broadcast to the shape of the power.
NodeId base(Rewriter& r, NodeId id) {
    const Shape shape = r.node(id).shape;
    return r.broadcast_to(r.operand(id, 0), shape);
}

Result pow_zero(Rewriter& r, NodeId id) { return has_exponent(r, id, 0) ? Result(r.filled_like(id, 1)) : std::nullopt; }

Result pow_one(Rewriter& r, NodeId id) { return has_exponent(r, id, 1) ? Result(base(r, id)) : std::nullopt; }

Result pow_two(Rewriter& r, NodeId id) {
    if (!has_exponent(r, id, 2)) return std::nullopt;
    const NodeId x = base(r, id);
    return r.make(Op::mul, {x, x});
}

Result pow_three(Rewriter& r, NodeId id) {
    if (!has_exponent(r, id, 3)) return std::nullopt;
    const NodeId x = base(r, id);
    return r.make(Op::mul, {r.make(Op::mul, {x, x}), x});
}

Result pow_minus_one(Rewriter& r, NodeId id) {
    if (!has_exponent(r, id, -1)) return std::nullopt;
    const NodeId x = base(r, id);
    return r.make(Op::div, {r.scalar(r.node(id).dtype, 1), x});
}

// pow(-0, 1/2) is +0 and pow(-inf, 1/2) is inf, where sqrt gives -0 and NaN.
Result pow_half(Rewriter& r, NodeId id) {
    if (!r.is_nonnegative(r.operand(id, 0))) return std::nullopt;
    if (has_exponent(r, id, 0.5)) return r.make(Op::sqrt, {base(r, id)});
    if (has_exponent(r, id, -0.5)) return r.make(Op::rsqrt, {base(r, id)});
    return std::nullopt;
}

Result reciprocal(Rewriter& r, NodeId id, Op of, Op is) {
    const NodeId x = r.operand(id, 1);
    if (!r.is_scalar(r.operand(id, 0), 1) || !r.is(x, of)) return std::nullopt;
    const Shape shape = r.node(id).shape;
    return r.broadcast_to(r.make(is, {r.operand(x, 0)}), shape);
}

Result reciprocal_sqrt(Rewriter& r, NodeId id) { return reciprocal(r, id, Op::sqrt, Op::rsqrt); }
Result reciprocal_rsqrt(Rewriter& r, NodeId id) { return reciprocal(r, id, Op::rsqrt, Op::sqrt); }

Result inverse_of(Rewriter& r, NodeId id, Op inner) {
    const NodeId x = r.operand(id, 0);
    return r.is(x, inner) ? Result(r.operand(x, 0)) : std::nullopt;
}

Result log_exp(Rewriter& r, NodeId id) { return inverse_of(r, id, Op::exp); }

Result floor_floor(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    return r.is(x, Op::floor) ? Result(x) : std::nullopt;
}

Result cos_even(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    return r.is(x, Op::neg) || r.is(x, Op::abs) ? Result(r.make(Op::cos, {r.operand(x, 0)})) : std::nullopt;
}

using enum Rounding;

// clang-format off
constexpr std::array rows = {
    Rule{"pow_zero", "pow(x, 0) -> 1", "", exact, Op::pow, pow_zero},
    Rule{"pow_one", "pow(x, 1) -> x", "", exact, Op::pow, pow_one},
    Rule{"pow_two", "pow(x, 2) -> x * x", "", rounded, Op::pow, pow_two},
    Rule{"pow_three", "pow(x, 3) -> x * x * x", "", rounded, Op::pow, pow_three},
    Rule{"pow_minus_one", "pow(x, -1) -> 1 / x", "", rounded, Op::pow, pow_minus_one},
    Rule{"pow_half", "pow(x, 1/2) -> sqrt(x), pow(x, -1/2) -> rsqrt(x)", "x is never negative", rounded, Op::pow, pow_half},
    Rule{"reciprocal_sqrt", "1 / sqrt(x) -> rsqrt(x)", "", rounded, Op::div, reciprocal_sqrt},
    Rule{"reciprocal_rsqrt", "1 / rsqrt(x) -> sqrt(x)", "", rounded, Op::div, reciprocal_rsqrt},
    // Holds for every real x; where exp(x) overflows, underflows or rounds, x is the exact value. exp(log(x)) = x is no
    // rule: its left side is NaN for all x < 0.
    Rule{"log_exp", "log(exp(x)) -> x", "", rounded, Op::log, log_exp},
    Rule{"floor_floor", "floor(floor(x)) -> floor(x)", "", exact, Op::floor, floor_floor},
    Rule{"cos_even", "cos(neg(x)) -> cos(x), cos(abs(x)) -> cos(x)", "", exact, Op::cos, cos_even},
};
// clang-format on

}  // namespace

std::span<const Rule> power_rules() { return rows; }

}  // namespace cairn::simplify
