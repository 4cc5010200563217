#include "graph/interpreter/evaluation.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/scalar_cast.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace cairn::interpreter {

namespace {

using Float = double;
using Integer = std::int64_t;

/// The scalar formula of an op: for floats, and for integers and booleans before they wrap. Comparisons give 0 or 1. An
/// op of one operand ignores the second argument.
struct Formula {
    Float (*of_float)(Float, Float);
    Integer (*of_integer)(Integer, Integer);
};

Integer wrapping(std::uint64_t bits) noexcept { return static_cast<Integer>(bits); }
std::uint64_t bits(Integer value) noexcept { return static_cast<std::uint64_t>(value); }

constexpr Float quiet_nan = std::numeric_limits<Float>::quiet_NaN();
bool is_unordered(Float a, Float b) noexcept { return std::isnan(a) || std::isnan(b); }

constexpr Formula of_float(Float (*formula)(Float, Float)) { return {formula, nullptr}; }
constexpr Formula logic(Integer (*formula)(Integer, Integer)) { return {nullptr, formula}; }
template <typename Test>
constexpr Formula comparison(Test) {
    return {[](Float a, Float b) -> Float { return Test{}(a, b) ? 1 : 0; },
            [](Integer a, Integer b) -> Integer { return Test{}(a, b) ? 1 : 0; }};
}

// clang-format off
constexpr auto formulas = std::to_array<OpMapEntry<Formula>>({
    {Op::neg, {[](Float x, Float) { return -x; }, [](Integer x, Integer) { return wrapping(0 - bits(x)); }}},
    {Op::abs, {[](Float x, Float) { return std::fabs(x); }, [](Integer x, Integer) { return x < 0 ? wrapping(0 - bits(x)) : x; }}},
    {Op::exp, of_float([](Float x, Float) { return std::exp(x); })},
    {Op::log, of_float([](Float x, Float) { return std::log(x); })},
    {Op::sqrt, of_float([](Float x, Float) { return std::sqrt(x); })},
    {Op::rsqrt, of_float([](Float x, Float) { return 1 / std::sqrt(x); })},
    {Op::sin, of_float([](Float x, Float) { return std::sin(x); })},
    {Op::cos, of_float([](Float x, Float) { return std::cos(x); })},
    {Op::tanh, of_float([](Float x, Float) { return std::tanh(x); })},
    {Op::erf, of_float([](Float x, Float) { return std::erf(x); })},
    {Op::floor, of_float([](Float x, Float) { return std::floor(x); })},
    {Op::logical_not, logic([](Integer x, Integer) { return Integer{x == 0}; })},
    {Op::add, {[](Float a, Float b) { return a + b; }, [](Integer a, Integer b) { return wrapping(bits(a) + bits(b)); }}},
    {Op::sub, {[](Float a, Float b) { return a - b; }, [](Integer a, Integer b) { return wrapping(bits(a) - bits(b)); }}},
    {Op::mul, {[](Float a, Float b) { return a * b; }, [](Integer a, Integer b) { return wrapping(bits(a) * bits(b)); }}},
    {Op::div, {[](Float a, Float b) { return a / b; },
               [](Integer a, Integer b) { return b == 0 ? 0 : b == -1 ? wrapping(0 - bits(a)) : a / b; }}},
    {Op::min, {[](Float a, Float b) { return is_unordered(a, b) ? quiet_nan : std::min(a, b); },
               [](Integer a, Integer b) { return std::min(a, b); }}},
    {Op::max, {[](Float a, Float b) { return is_unordered(a, b) ? quiet_nan : std::max(a, b); },
               [](Integer a, Integer b) { return std::max(a, b); }}},
    {Op::pow, of_float([](Float a, Float b) { return std::pow(a, b); })},
    {Op::eq, comparison([](auto a, auto b) { return a == b; })},
    {Op::ne, comparison([](auto a, auto b) { return a != b; })},
    {Op::lt, comparison([](auto a, auto b) { return a < b; })},
    {Op::le, comparison([](auto a, auto b) { return a <= b; })},
    {Op::gt, comparison([](auto a, auto b) { return a > b; })},
    {Op::ge, comparison([](auto a, auto b) { return a >= b; })},
    {Op::logical_and, logic([](Integer a, Integer b) { return a & b; })},
    {Op::logical_or, logic([](Integer a, Integer b) { return a | b; })},
    {Op::logical_xor, logic([](Integer a, Integer b) { return a ^ b; })},
    {Op::bitwise_and, logic([](Integer a, Integer b) { return wrapping(bits(a) & bits(b)); })},
});
// clang-format on

constexpr bool covers_all_ops() {
    for (const OpInfo& row : op_rows) {
        if (row.kind != OpClass::elementwise || row.op == Op::cast || row.op == Op::where) continue;
        const Formula* formula = find_op_entry(formulas, row.op);
        if (formula == nullptr) return false;
        if (has_floats(row.accepts) && formula->of_float == nullptr) return false;
        if (row.accepts != DTypeSet::floats && formula->of_integer == nullptr) return false;
    }
    return true;
}
static_assert(covers_all_ops(), "an elementwise op has a formula for each kind of number that it accepts");

Value evaluate_cast(const Evaluation& e) {
    const Value& x = e.operand(0);
    Value out = e.result();
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (is_float(x.dtype) && is_float(out.dtype)) out.data[i] = round_to(out.dtype, x.data[i]);
        if (is_float(x.dtype) && !is_float(out.dtype)) out.integers[i] = truncate_to(out.dtype, x.data[i]);
        if (!is_float(x.dtype) && !is_float(out.dtype)) out.integers[i] = saturate_to(out.dtype, x.integers[i]);
        if (!is_float(x.dtype) && is_float(out.dtype)) out.data[i] = round_integer(out.dtype, x.integers[i]);
    }
    return out;
}

Value evaluate_where(const Evaluation& e, std::span<const std::vector<std::int64_t>> at) {
    Value out = e.result();
    visit_storage(
        out.dtype,
        [&](auto& to, const auto& a, const auto& b) {
            for (std::size_t i = 0; i < to.size(); ++i) {
                const bool yes = e.operand(0).integers[static_cast<std::size_t>(at[0][i])] != 0;
                to[i] = yes ? a[static_cast<std::size_t>(at[1][i])] : b[static_cast<std::size_t>(at[2][i])];
            }
        },
        out, e.operand(1), e.operand(2));
    return out;
}

// Ops of one or two operands; for one operand, a and b are the same.
Value evaluate_formula(const Evaluation& e, std::span<const std::vector<std::int64_t>> at) {
    const Op op = e.node().op;
    const Formula& formula = op_entry(formulas, op, "interpret");
    const Value &a = e.operand(0), &b = e.operand(e.operands.size() - 1);
    Value out = e.result();
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto p = static_cast<std::size_t>(at.front()[i]), q = static_cast<std::size_t>(at.back()[i]);
        if (!is_float(a.dtype))
            out.integers[i] = wrap_to(out.dtype, formula.of_integer(a.integers[p], b.integers[q]));
        else if (info(op).has(OpTrait::compares))
            out.integers[i] = formula.of_float(a.data[p], b.data[q]) != 0 ? 1 : 0;
        else
            out.data[i] = formula.of_float(a.data[p], b.data[q]);
    }
    return out;
}

}  // namespace

Value evaluate_elementwise(const Evaluation& e) {
    if (e.node().op == Op::cast) return evaluate_cast(e);
    std::vector<std::vector<std::int64_t>> at;
    for (const Value* operand : e.operands)
        at.push_back(element_offsets(e.shape, {broadcast_strides(operand->shape, e.shape)}));
    return e.node().op == Op::where ? evaluate_where(e, at) : evaluate_formula(e, at);
}

}  // namespace cairn::interpreter
