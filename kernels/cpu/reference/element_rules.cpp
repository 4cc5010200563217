#include "kernels/cpu/reference/element_rules.hpp"

#include <cmath>
#include <limits>

namespace cairn::inline v0::kernels::cpu::reference {
namespace {

using Real = double;
using Whole = std::int64_t;

// Two's complement arithmetic, which signed integers of the language do not promise.
constexpr Whole wrapped(std::uint64_t value) { return static_cast<Whole>(value); }
constexpr std::uint64_t bits(Whole value) { return static_cast<std::uint64_t>(value); }

Whole divide(Whole a, Whole b) {
    if (b == 0) return 0;
    return b == -1 ? wrapped(0 - bits(a)) : a / b;
}
Real smaller(Real a, Real b) {
    return std::isnan(a) || std::isnan(b) ? std::numeric_limits<Real>::quiet_NaN() : (b < a ? b : a);
}
Real larger(Real a, Real b) {
    return std::isnan(a) || std::isnan(b) ? std::numeric_limits<Real>::quiet_NaN() : (a < b ? b : a);
}

// clang-format off
constexpr ElementRule rules[] = {
    {"neg", 1, [](Real a, Real) { return -a; }, [](Whole a, Whole) { return wrapped(0 - bits(a)); }, nullptr, nullptr},
    {"abs", 1, [](Real a, Real) { return std::fabs(a); }, [](Whole a, Whole) { return a < 0 ? wrapped(0 - bits(a)) : a; }, nullptr, nullptr},
    {"exp", 1, [](Real a, Real) { return std::exp(a); }, nullptr, nullptr, nullptr},
    {"log", 1, [](Real a, Real) { return std::log(a); }, nullptr, nullptr, nullptr},
    {"sqrt", 1, [](Real a, Real) { return std::sqrt(a); }, nullptr, nullptr, nullptr},
    {"rsqrt", 1, [](Real a, Real) { return 1 / std::sqrt(a); }, nullptr, nullptr, nullptr},
    {"sin", 1, [](Real a, Real) { return std::sin(a); }, nullptr, nullptr, nullptr},
    {"cos", 1, [](Real a, Real) { return std::cos(a); }, nullptr, nullptr, nullptr},
    {"tanh", 1, [](Real a, Real) { return std::tanh(a); }, nullptr, nullptr, nullptr},
    {"erf", 1, [](Real a, Real) { return std::erf(a); }, nullptr, nullptr, nullptr},
    {"floor", 1, [](Real a, Real) { return std::floor(a); }, nullptr, nullptr, nullptr},
    {"add", 2, [](Real a, Real b) { return a + b; }, [](Whole a, Whole b) { return wrapped(bits(a) + bits(b)); }, nullptr, nullptr},
    {"sub", 2, [](Real a, Real b) { return a - b; }, [](Whole a, Whole b) { return wrapped(bits(a) - bits(b)); }, nullptr, nullptr},
    {"mul", 2, [](Real a, Real b) { return a * b; }, [](Whole a, Whole b) { return wrapped(bits(a) * bits(b)); }, nullptr, nullptr},
    {"div", 2, [](Real a, Real b) { return a / b; }, divide, nullptr, nullptr},
    {"min", 2, smaller, [](Whole a, Whole b) { return b < a ? b : a; }, nullptr, nullptr},
    {"max", 2, larger, [](Whole a, Whole b) { return a < b ? b : a; }, nullptr, nullptr},
    {"pow", 2, [](Real a, Real b) { return std::pow(a, b); }, nullptr, nullptr, nullptr},
    {"eq", 2, nullptr, nullptr, [](Real a, Real b) { return a == b; }, [](Whole a, Whole b) { return a == b; }},
    {"ne", 2, nullptr, nullptr, [](Real a, Real b) { return a != b; }, [](Whole a, Whole b) { return a != b; }},
    {"lt", 2, nullptr, nullptr, [](Real a, Real b) { return a < b; }, [](Whole a, Whole b) { return a < b; }},
    {"le", 2, nullptr, nullptr, [](Real a, Real b) { return a <= b; }, [](Whole a, Whole b) { return a <= b; }},
    {"gt", 2, nullptr, nullptr, [](Real a, Real b) { return a > b; }, [](Whole a, Whole b) { return a > b; }},
    {"ge", 2, nullptr, nullptr, [](Real a, Real b) { return a >= b; }, [](Whole a, Whole b) { return a >= b; }},
    {"logical_and", 2, nullptr, nullptr, nullptr, [](Whole a, Whole b) { return a != 0 && b != 0; }},
    {"logical_or", 2, nullptr, nullptr, nullptr, [](Whole a, Whole b) { return a != 0 || b != 0; }},
    {"logical_xor", 2, nullptr, nullptr, nullptr, [](Whole a, Whole b) { return (a != 0) != (b != 0); }},
    {"logical_not", 1, nullptr, nullptr, nullptr, [](Whole a, Whole) { return a == 0; }},
};
// clang-format on

}  // namespace

const ElementRule* find_element_rule(std::string_view name) noexcept {
    for (const ElementRule& rule : rules)
        if (rule.name == name) return &rule;
    return nullptr;
}

}  // namespace cairn::inline v0::kernels::cpu::reference
