#pragma once

#include "cairn/types.hpp"

#include <cstdint>
#include <string_view>

/// The formulas of the elementwise ops, each written once. Reference kernels evaluate them in double and 64-bit
/// integers; block ops evaluate them in vectors of floats, doubles, and 32-bit and 64-bit integers.
///
/// A formula is an expression in x, and in y if there is a second operand. Their type is a vector of floats or doubles,
/// with the operators and functions of simd/vector/vector_math.hpp and simd/vector/double_math.hpp, or `Number` of
/// number.hpp with the same functions. Integers wrap, and division by zero gives 0. So `x - floor(x)` is vectorised
/// everywhere at once. A function without a vector implementation is applied lane by lane:
///
///     ROW(atan, 1, floats, same, 12, for_each_lane(x, [](auto v) { return std::atan(v); }))
///
/// `cast` and `where` mix dtypes, so they are implemented with the block ops.
// clang-format off
//      name        operands  dtypes result cost  formula
#define CAIRN_ELEMENT_OPS(ROW) \
    ROW(neg,         1, numbers,  same,  12, -x) \
    ROW(abs,         1, numbers,  same,  12, abs(x)) \
    ROW(exp,         1, floats,   same,  12, exp(x)) \
    ROW(log,         1, floats,   same,  12, log(x)) \
    ROW(sqrt,        1, floats,   same,  12, sqrt(x)) \
    ROW(rsqrt,       1, floats,   same,  12, 1.0f / sqrt(x)) \
    ROW(sin,         1, floats,   same,  12, sin(x)) \
    ROW(cos,         1, floats,   same,  12, cos(x)) \
    ROW(tanh,        1, floats,   same,  12, tanh(x)) \
    ROW(erf,         1, floats,   same,  12, erf(x)) \
    ROW(floor,       1, floats,   same,  12, floor(x)) \
    ROW(add,         2, numbers,  same,   1, x + y) \
    ROW(sub,         2, numbers,  same,   1, x - y) \
    ROW(mul,         2, numbers,  same,   1, x * y) \
    ROW(div,         2, numbers,  same,  12, x / y) \
    ROW(min,         2, numbers,  same,  12, min(x, y)) \
    ROW(max,         2, numbers,  same,  12, max(x, y)) \
    ROW(pow,         2, floats,   same,  12, pow(x, y)) \
    ROW(eq,          2, any,      truth, 12, x == y) \
    ROW(ne,          2, any,      truth, 12, x != y) \
    ROW(lt,          2, numbers,  truth, 12, x < y) \
    ROW(le,          2, numbers,  truth, 12, x <= y) \
    ROW(gt,          2, numbers,  truth, 12, x > y) \
    ROW(ge,          2, numbers,  truth, 12, x >= y) \
    ROW(logical_and, 2, booleans, truth, 12, x && y) \
    ROW(logical_or,  2, booleans, truth, 12, x || y) \
    ROW(logical_xor, 2, booleans, truth, 12, x != y) \
    ROW(logical_not, 1, booleans, truth, 12, !x) \
    ROW(bitwise_and, 2, integers, same,   1, x & y)
// clang-format on

namespace cairn::kernels::cpu {

enum class ElementCode : std::uint8_t {
#define CAIRN_CODE(name, ...) name,
    CAIRN_ELEMENT_OPS(CAIRN_CODE)
#undef CAIRN_CODE
};

/// The dtypes an op is offered for.
enum class ElementDtypes : std::uint8_t { any, floats, numbers, booleans, integers };
/// The dtype of the result: that of the operands, or boolean.
enum class ElementResult : std::uint8_t { same, truth };

struct ElementOp {
    std::string_view name;
    ElementCode code;
    int operands;
    ElementDtypes dtypes;
    ElementResult result;
    double cost;  ///< operations per element, for cost estimates before the op is measured

    constexpr bool on_floats() const noexcept {
        return dtypes != ElementDtypes::booleans && dtypes != ElementDtypes::integers;
    }
    constexpr bool on_integers() const noexcept {
        return dtypes != ElementDtypes::booleans && dtypes != ElementDtypes::floats;
    }
    constexpr bool on_booleans() const noexcept {
        return dtypes == ElementDtypes::any || dtypes == ElementDtypes::booleans;
    }
    bool supports(DType dtype) const noexcept {
        return is_float(dtype) ? on_floats() : is_integer(dtype) ? on_integers() : on_booleans();
    }
    DType result_of(DType dtype) const noexcept { return result == ElementResult::same ? dtype : DType::boolean; }
};

inline constexpr ElementOp element_ops[] = {
#define CAIRN_ROW(name, operands, dtypes, result, cost, formula) \
    {#name, ElementCode::name, operands, ElementDtypes::dtypes, ElementResult::result, cost},
    CAIRN_ELEMENT_OPS(CAIRN_ROW)
#undef CAIRN_ROW
};
constexpr const ElementOp& element_op(ElementCode code) noexcept { return element_ops[static_cast<int>(code)]; }
/// The element op of that name; null if there is none.
constexpr const ElementOp* find_element_op(std::string_view name) noexcept {
    for (const ElementOp& op : element_ops)
        if (op.name == name) return &op;
    return nullptr;
}

}  // namespace cairn::kernels::cpu

/// Defines `Formula<ElementCode::exp>{}(x, y)`. Expand CAIRN_ELEMENT_OPS(CAIRN_FORMULA) after `template <ElementCode
/// code> struct Formula;`, where the functions of the operand types are visible.
#define CAIRN_FORMULA(name, operands, dtypes, result, cost, formula)        \
    template <>                                                             \
    struct Formula<ElementCode::name> {                                     \
        template <typename T>                                               \
        auto operator()([[maybe_unused]] T x, [[maybe_unused]] T y) const { \
            return formula;                                                 \
        }                                                                   \
    };
