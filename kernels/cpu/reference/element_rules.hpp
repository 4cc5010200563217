#pragma once

#include <cstdint>
#include <string_view>

/// What each elementwise op does to one element, as one row an op.
namespace cairn::inline v0::kernels::cpu::reference {

/// The functions an op has: on floats, on integers and booleans (the result is then wrapped to its dtype), and tests,
/// whose result is a boolean whatever the operands are. Null where the op does not exist for such operands. Unary ops
/// ignore the second operand.
struct ElementRule {
    std::string_view name;
    int operands;
    double (*real)(double a, double b);
    std::int64_t (*whole)(std::int64_t a, std::int64_t b);
    bool (*real_test)(double a, double b);
    bool (*whole_test)(std::int64_t a, std::int64_t b);
};

/// The row of an op but `cast`, `where` and `const`, which are no functions of equal operands; null for any other name.
const ElementRule* find_element_rule(std::string_view name) noexcept;

}  // namespace cairn::inline v0::kernels::cpu::reference
