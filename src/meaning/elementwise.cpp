#include "ir/number.hpp"
#include "ir/op_table.hpp"
#include "meaning/value.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace cairn::inline v0::meaning {

namespace {

using Real = double;
using Whole = std::int64_t;

/// What an op does to one element: of floats, and of integers and booleans before they wrap. Comparisons give 0 or 1.
/// An op of one operand ignores the second.
struct Formula {
    Real (*real)(Real, Real);
    Whole (*whole)(Whole, Whole);
};

Whole wrapping(std::uint64_t bits) noexcept { return static_cast<Whole>(bits); }
std::uint64_t bits(Whole value) noexcept { return static_cast<std::uint64_t>(value); }

constexpr Real no_number = std::numeric_limits<Real>::quiet_NaN();
bool is_unordered(Real a, Real b) noexcept { return std::isnan(a) || std::isnan(b); }

constexpr Formula real(Real (*formula)(Real, Real)) { return {formula, nullptr}; }
constexpr Formula logic(Whole (*formula)(Whole, Whole)) { return {nullptr, formula}; }
template <typename Test>
constexpr Formula comparison(Test) {
    return {[](Real a, Real b) -> Real { return Test{}(a, b) ? 1 : 0; },
            [](Whole a, Whole b) -> Whole { return Test{}(a, b) ? 1 : 0; }};
}

// clang-format off
constexpr auto formulas = std::to_array<OpEntry<Formula>>({
    {Op::neg, {[](Real x, Real) { return -x; }, [](Whole x, Whole) { return wrapping(0 - bits(x)); }}},
    {Op::abs, {[](Real x, Real) { return std::fabs(x); }, [](Whole x, Whole) { return x < 0 ? wrapping(0 - bits(x)) : x; }}},
    {Op::exp, real([](Real x, Real) { return std::exp(x); })},
    {Op::log, real([](Real x, Real) { return std::log(x); })},
    {Op::sqrt, real([](Real x, Real) { return std::sqrt(x); })},
    {Op::rsqrt, real([](Real x, Real) { return 1 / std::sqrt(x); })},
    {Op::sin, real([](Real x, Real) { return std::sin(x); })},
    {Op::cos, real([](Real x, Real) { return std::cos(x); })},
    {Op::tanh, real([](Real x, Real) { return std::tanh(x); })},
    {Op::erf, real([](Real x, Real) { return std::erf(x); })},
    {Op::floor, real([](Real x, Real) { return std::floor(x); })},
    {Op::logical_not, logic([](Whole x, Whole) { return Whole{x == 0}; })},
    {Op::add, {[](Real a, Real b) { return a + b; }, [](Whole a, Whole b) { return wrapping(bits(a) + bits(b)); }}},
    {Op::sub, {[](Real a, Real b) { return a - b; }, [](Whole a, Whole b) { return wrapping(bits(a) - bits(b)); }}},
    {Op::mul, {[](Real a, Real b) { return a * b; }, [](Whole a, Whole b) { return wrapping(bits(a) * bits(b)); }}},
    {Op::div, {[](Real a, Real b) { return a / b; },
               [](Whole a, Whole b) { return b == 0 ? 0 : b == -1 ? wrapping(0 - bits(a)) : a / b; }}},
    {Op::min, {[](Real a, Real b) { return is_unordered(a, b) ? no_number : std::min(a, b); },
               [](Whole a, Whole b) { return std::min(a, b); }}},
    {Op::max, {[](Real a, Real b) { return is_unordered(a, b) ? no_number : std::max(a, b); },
               [](Whole a, Whole b) { return std::max(a, b); }}},
    {Op::pow, real([](Real a, Real b) { return std::pow(a, b); })},
    {Op::eq, comparison([](auto a, auto b) { return a == b; })},
    {Op::ne, comparison([](auto a, auto b) { return a != b; })},
    {Op::lt, comparison([](auto a, auto b) { return a < b; })},
    {Op::le, comparison([](auto a, auto b) { return a <= b; })},
    {Op::gt, comparison([](auto a, auto b) { return a > b; })},
    {Op::ge, comparison([](auto a, auto b) { return a >= b; })},
    {Op::logical_and, logic([](Whole a, Whole b) { return a & b; })},
    {Op::logical_or, logic([](Whole a, Whole b) { return a | b; })},
    {Op::logical_xor, logic([](Whole a, Whole b) { return a ^ b; })},
});
// clang-format on

constexpr bool each_op_has_one() {
    for (const OpInfo& row : op_rows) {
        if (row.kind != OpClass::elementwise || row.op == Op::cast || row.op == Op::where) continue;
        const Formula* formula = find_entry(formulas, row.op);
        if (formula == nullptr) return false;
        if (row.accepts != Accepts::booleans && formula->real == nullptr) return false;
        if (row.accepts != Accepts::floats && formula->whole == nullptr) return false;
    }
    return true;
}
static_assert(each_op_has_one(), "an elementwise op has a formula for each kind of number that it accepts");

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
    with_storage(
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

// Of one operand or of two, which may be the same.
Value evaluate_formula(const Evaluation& e, std::span<const std::vector<std::int64_t>> at) {
    const Op op = e.node().op;
    const Formula& formula = entry_of(formulas, op, "interpret");
    const Value &a = e.operand(0), &b = e.operand(e.operands.size() - 1);
    Value out = e.result();
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto p = static_cast<std::size_t>(at.front()[i]), q = static_cast<std::size_t>(at.back()[i]);
        if (!is_float(a.dtype))
            out.integers[i] = wrap_to(out.dtype, formula.whole(a.integers[p], b.integers[q]));
        else if (info(op).has(Fact::compares))
            out.integers[i] = formula.real(a.data[p], b.data[q]) != 0 ? 1 : 0;
        else
            out.data[i] = formula.real(a.data[p], b.data[q]);
    }
    return out;
}

}  // namespace

Value evaluate_elementwise(const Evaluation& e) {
    if (e.node().op == Op::cast) return evaluate_cast(e);
    std::vector<std::vector<std::int64_t>> at;
    for (const Value* operand : e.operands) at.push_back(places(e.shape, {broadcast_strides(operand->shape, e.shape)}));
    return e.node().op == Op::where ? evaluate_where(e, at) : evaluate_formula(e, at);
}

}  // namespace cairn::inline v0::meaning
