#include "graph/ir/scalar_cast.hpp"
#include "rewrite/simplify/rewriter.hpp"
#include "rewrite/simplify/rule.hpp"

#include <array>
#include <limits>

namespace cairn::simplify {
namespace {

using ir::NodeId;
using ir::Op;
using Result = std::optional<NodeId>;

bool floats(const Rewriter& r, NodeId id) { return is_float(r.node(id).dtype); }

// Operand `index` of `id`, broadcast to the shape of `id`.
NodeId operand_as(Rewriter& r, NodeId id, std::size_t index) {
    const Shape shape = r.node(id).shape;
    return r.broadcast_to(r.operand(id, index), shape);
}

// Returns the other operand if one operand is `value` in all elements.
Result beside(Rewriter& r, NodeId id, double value) {
    for (const std::size_t index : {std::size_t{1}, std::size_t{0}})
        if (r.is_scalar(r.operand(id, index), value)) return operand_as(r, id, 1 - index);
    return std::nullopt;
}

bool has_operand(const Rewriter& r, NodeId id, double value) {
    return r.is_scalar(r.operand(id, 0), value) || r.is_scalar(r.operand(id, 1), value);
}

// max, min, logical_and, logical_or, bitwise_and.
Result same_operands(Rewriter& r, NodeId id) {
    return r.operand(id, 0) == r.operand(id, 1) ? Result(r.operand(id, 0)) : std::nullopt;
}

Result min_highest(Rewriter& r, NodeId id) {
    return beside(r, id,
                  floats(r, id) ? std::numeric_limits<double>::infinity()
                                : static_cast<double>(ir::highest_integer(r.node(id).dtype)));
}

Result max_lowest(Rewriter& r, NodeId id) {
    return beside(r, id,
                  floats(r, id) ? -std::numeric_limits<double>::infinity()
                                : static_cast<double>(ir::lowest_integer(r.node(id).dtype)));
}

Result and_constant(Rewriter& r, NodeId id) {
    if (has_operand(r, id, 0)) return r.filled_like(id, 0);
    return beside(r, id, 1);
}

Result bits_constant(Rewriter& r, NodeId id) {
    if (has_operand(r, id, 0)) return r.filled_like(id, 0);
    return beside(r, id, r.node(id).dtype == DType::u8 ? 255 : -1);
}

Result or_constant(Rewriter& r, NodeId id) {
    if (has_operand(r, id, 1)) return r.filled_like(id, 1);
    return beside(r, id, 0);
}

Result xor_constant(Rewriter& r, NodeId id) {
    if (r.operand(id, 0) == r.operand(id, 1)) return r.filled_like(id, 0);
    if (const Result x = beside(r, id, 0)) return x;
    const Result x = beside(r, id, 1);
    return x ? Result(r.make(Op::logical_not, {*x})) : std::nullopt;
}

Result not_not(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    return r.is(x, Op::logical_not) ? Result(r.operand(x, 0)) : std::nullopt;
}

/// The negated form of a comparison: not (a `op` b) = a `opposite` b; for floats only if `with_nan`.
struct Comparison {
    Op op, opposite;
    bool with_nan;
};
constexpr Comparison comparisons[] = {{Op::eq, Op::ne, true},  {Op::ne, Op::eq, true},  {Op::lt, Op::ge, false},
                                      {Op::ge, Op::lt, false}, {Op::le, Op::gt, false}, {Op::gt, Op::le, false}};

// For a NaN both x < y and x >= y are false.
Result not_comparison(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    for (const Comparison& comparison : comparisons)
        if (r.is(x, comparison.op) && (comparison.with_nan || !floats(r, r.operand(x, 0))))
            return r.make(comparison.opposite, {r.operand(x, 0), r.operand(x, 1)});
    return std::nullopt;
}

// x < x is false even for NaN; x == x is true for all but NaN.
Result compare_self(Rewriter& r, NodeId id) {
    const Op op = r.node(id).op;
    if (r.operand(id, 0) != r.operand(id, 1)) return std::nullopt;
    const bool strict = op == Op::lt || op == Op::gt;
    if (!strict && floats(r, r.operand(id, 0))) return std::nullopt;
    return r.filled_like(id, op == Op::eq || op == Op::le || op == Op::ge ? 1 : 0);
}

Result where_constant(Rewriter& r, NodeId id) {
    const auto condition = r.scalar_value(r.operand(id, 0));
    return condition ? Result(operand_as(r, id, *condition != 0 ? 1 : 2)) : std::nullopt;
}

Result where_same(Rewriter& r, NodeId id) {
    return r.operand(id, 1) == r.operand(id, 2) ? Result(operand_as(r, id, 1)) : std::nullopt;
}

Result where_not(Rewriter& r, NodeId id) {
    const NodeId condition = r.operand(id, 0);
    if (!r.is(condition, Op::logical_not)) return std::nullopt;
    return r.make(Op::where, {r.operand(condition, 0), r.operand(id, 2), r.operand(id, 1)});
}

using enum Rounding;

// clang-format off
constexpr std::array rows = {
    Rule{"same_operands", "max(x, x) -> x", "likewise min, and, or, bitwise_and", exact, Op::max, same_operands},
    Rule{"same_operands", "max(x, x) -> x", "likewise min, and, or, bitwise_and", exact, Op::min, same_operands},
    Rule{"same_operands", "max(x, x) -> x", "likewise min, and, or, bitwise_and", exact, Op::logical_and, same_operands},
    Rule{"same_operands", "max(x, x) -> x", "likewise min, and, or, bitwise_and", exact, Op::logical_or, same_operands},
    Rule{"same_operands", "max(x, x) -> x", "likewise min, and, or, bitwise_and", exact, Op::bitwise_and, same_operands},
    Rule{"min_highest", "min(x, inf) -> x", "of integers the highest number", exact, Op::min, min_highest},
    Rule{"max_lowest", "max(x, -inf) -> x", "of integers the lowest number", exact, Op::max, max_lowest},
    Rule{"and_constant", "(x and false) -> false, (x and true) -> x", "", exact, Op::logical_and, and_constant},
    Rule{"bits_constant", "bitwise_and(x, 0) -> 0, bitwise_and(x, -1) -> x", "all bits of a u8 are 255", exact, Op::bitwise_and, bits_constant},
    Rule{"or_constant", "(x or true) -> true, (x or false) -> x", "", exact, Op::logical_or, or_constant},
    Rule{"xor_constant", "(x xor x) -> false, (x xor false) -> x, (x xor true) -> not x", "", exact, Op::logical_xor, xor_constant},
    Rule{"not_not", "not not x -> x", "", exact, Op::logical_not, not_not},
    Rule{"not_comparison", "not (a == b) -> (a != b), not (a < b) -> (a >= b)", "the second of integers", exact, Op::logical_not, not_comparison},
    Rule{"compare_self", "(x < x) -> false, (x == x) -> true", "integers; likewise the other comparisons", exact, Op::eq, compare_self},
    Rule{"compare_self", "(x < x) -> false, (x == x) -> true", "integers; likewise the other comparisons", exact, Op::ne, compare_self},
    Rule{"compare_self", "(x < x) -> false, (x == x) -> true", "integers; likewise the other comparisons", exact, Op::lt, compare_self},
    Rule{"compare_self", "(x < x) -> false, (x == x) -> true", "integers; likewise the other comparisons", exact, Op::le, compare_self},
    Rule{"compare_self", "(x < x) -> false, (x == x) -> true", "integers; likewise the other comparisons", exact, Op::gt, compare_self},
    Rule{"compare_self", "(x < x) -> false, (x == x) -> true", "integers; likewise the other comparisons", exact, Op::ge, compare_self},
    Rule{"where_constant", "where(true, a, b) -> a, where(false, a, b) -> b", "", exact, Op::where, where_constant},
    Rule{"where_same", "where(c, a, a) -> a", "", exact, Op::where, where_same},
    Rule{"where_not", "where(not c, a, b) -> where(c, b, a)", "", exact, Op::where, where_not},
};
// clang-format on

}  // namespace

std::span<const Rule> logic_rules() { return rows; }

}  // namespace cairn::simplify
