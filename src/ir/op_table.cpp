#include "ir/op_table.hpp"

#include <array>

namespace cairn::inline v0::ir {
namespace {

template <typename... Names>
constexpr auto list(Names... names) {
    return std::array<std::string_view, sizeof...(Names)>{names...};
}

constexpr auto state_attributes = list("axis", "capacity");
constexpr auto dtype_attribute = list("dtype");
constexpr auto axes_attribute = list("axes");
constexpr auto axis_attribute = list("axis");
constexpr auto shape_attribute = list("shape");
constexpr auto permutation_attribute = list("permutation");
constexpr auto slice_attributes = list("axis", "start", "stop", "step");
constexpr auto pad_attributes = list("axis", "before", "after", "value");
constexpr auto iota_attributes = list("length", "start", "dtype");
constexpr auto window_attributes = list("axis", "size", "stride", "dilation");
constexpr auto argsort_attributes = list("axis", "descending");
constexpr auto device_attribute = list("device");
constexpr auto start_attribute = list("start");

using C = OpClass;
using A = Accepts;
using W = Work;
using F = Form;

// clang-format off
constexpr std::array rows = {
    OpInfo{Op::input,           "input",           C::leaf,        0,  0, "",                   W::unsaid, F::whole},
    OpInfo{Op::weight,          "weight",          C::leaf,        0,  0, "",                   W::unsaid, F::whole},
    OpInfo{Op::constant,        "constant",        C::leaf,        0,  0, "",                   W::unsaid, F::whole},
    OpInfo{Op::state_read,      "state_read",      C::leaf,        0,  0, "",                   W::unsaid, F::whole, A::any, false, state_attributes},
    OpInfo{Op::neg,             "neg",             C::elementwise, 1,  1, "x",                  W::cheap,  F::open, A::numbers},
    OpInfo{Op::abs,             "abs",             C::elementwise, 1,  1, "x",                  W::cheap,  F::whole, A::numbers},
    OpInfo{Op::exp,             "exp",             C::elementwise, 1,  1, "x",                  W::heavy,  F::whole, A::floats},
    OpInfo{Op::log,             "log",             C::elementwise, 1,  1, "x",                  W::heavy,  F::whole, A::floats},
    OpInfo{Op::sqrt,            "sqrt",            C::elementwise, 1,  1, "x",                  W::heavy,  F::open, A::floats},
    OpInfo{Op::rsqrt,           "rsqrt",           C::elementwise, 1,  1, "x",                  W::heavy,  F::open, A::floats},
    OpInfo{Op::sin,             "sin",             C::elementwise, 1,  1, "x",                  W::heavy,  F::whole, A::floats},
    OpInfo{Op::cos,             "cos",             C::elementwise, 1,  1, "x",                  W::heavy,  F::whole, A::floats},
    OpInfo{Op::tanh,            "tanh",            C::elementwise, 1,  1, "x",                  W::heavy,  F::whole, A::floats},
    OpInfo{Op::erf,             "erf",             C::elementwise, 1,  1, "x",                  W::heavy,  F::whole, A::floats},
    OpInfo{Op::floor,           "floor",           C::elementwise, 1,  1, "x",                  W::cheap,  F::whole, A::floats},
    OpInfo{Op::cast,            "cast",            C::elementwise, 1,  1, "x",                  W::cheap,  F::whole, A::any, false, dtype_attribute},
    OpInfo{Op::add,             "add",             C::elementwise, 2,  2, "lhs rhs",            W::cheap,  F::open, A::numbers, true},
    OpInfo{Op::sub,             "sub",             C::elementwise, 2,  2, "lhs rhs",            W::cheap,  F::open, A::numbers},
    OpInfo{Op::mul,             "mul",             C::elementwise, 2,  2, "lhs rhs",            W::cheap,  F::open, A::numbers, true},
    OpInfo{Op::div,             "div",             C::elementwise, 2,  2, "lhs rhs",            W::heavy,  F::open, A::numbers},
    OpInfo{Op::min,             "min",             C::elementwise, 2,  2, "lhs rhs",            W::cheap,  F::open, A::numbers, true},
    OpInfo{Op::max,             "max",             C::elementwise, 2,  2, "lhs rhs",            W::cheap,  F::open, A::numbers, true},
    OpInfo{Op::pow,             "pow",             C::elementwise, 2,  2, "lhs rhs",            W::heavy,  F::open, A::floats},
    OpInfo{Op::eq,              "eq",              C::elementwise, 2,  2, "lhs rhs",            W::cheap,  F::open, A::any, true},
    OpInfo{Op::ne,              "ne",              C::elementwise, 2,  2, "lhs rhs",            W::cheap,  F::open, A::any, true},
    OpInfo{Op::lt,              "lt",              C::elementwise, 2,  2, "lhs rhs",            W::cheap,  F::open, A::numbers},
    OpInfo{Op::le,              "le",              C::elementwise, 2,  2, "lhs rhs",            W::cheap,  F::open, A::numbers},
    OpInfo{Op::gt,              "gt",              C::elementwise, 2,  2, "lhs rhs",            W::cheap,  F::open, A::numbers},
    OpInfo{Op::ge,              "ge",              C::elementwise, 2,  2, "lhs rhs",            W::cheap,  F::open, A::numbers},
    OpInfo{Op::logical_and,     "logical_and",     C::elementwise, 2,  2, "lhs rhs",            W::cheap,  F::open, A::booleans, true},
    OpInfo{Op::logical_or,      "logical_or",      C::elementwise, 2,  2, "lhs rhs",            W::cheap,  F::open, A::booleans, true},
    OpInfo{Op::logical_xor,     "logical_xor",     C::elementwise, 2,  2, "lhs rhs",            W::cheap,  F::open, A::booleans, true},
    OpInfo{Op::logical_not,     "logical_not",     C::elementwise, 1,  1, "x",                  W::cheap,  F::open, A::booleans},
    OpInfo{Op::where,           "where",           C::elementwise, 3,  3, "condition a b",      W::cheap,  F::open},
    OpInfo{Op::sum,             "sum",             C::reduction,   1,  1, "x",                  W::unsaid, F::whole, A::numbers, false, axes_attribute},
    OpInfo{Op::max_reduce,      "max_reduce",      C::reduction,   1,  1, "x",                  W::unsaid, F::whole, A::numbers, false, axes_attribute},
    OpInfo{Op::prod,            "prod",            C::reduction,   1,  1, "x",                  W::unsaid, F::whole, A::numbers, false, axes_attribute},
    OpInfo{Op::argmax,          "argmax",          C::reduction,   1,  1, "x",                  W::unsaid, F::whole, A::numbers, false, axis_attribute},
    OpInfo{Op::matmul,          "matmul",          C::contraction, 2,  2, "lhs rhs",            W::unsaid, F::whole, A::numbers},
    OpInfo{Op::reshape,         "reshape",         C::movement,    1,  1, "x",                  W::unsaid, F::open, A::any, false, shape_attribute},
    OpInfo{Op::transpose,       "transpose",       C::movement,    1,  1, "x",                  W::unsaid, F::open, A::any, false, permutation_attribute},
    OpInfo{Op::broadcast,       "broadcast",       C::movement,    1,  1, "x",                  W::unsaid, F::open, A::any, false, shape_attribute},
    OpInfo{Op::slice,           "slice",           C::movement,    1,  1, "x",                  W::unsaid, F::whole, A::any, false, slice_attributes},
    OpInfo{Op::pad,             "pad",             C::indexing,    1,  1, "x",                  W::unsaid, F::whole, A::any, false, pad_attributes},
    OpInfo{Op::concat,          "concat",          C::indexing,    1, -1, "#",                  W::unsaid, F::whole, A::any, false, axis_attribute},
    OpInfo{Op::gather,          "gather",          C::indexing,    2,  2, "x indices",          W::unsaid, F::whole, A::any, false, axis_attribute},
    OpInfo{Op::scatter,         "scatter",         C::indexing,    3,  3, "x indices updates",  W::unsaid, F::whole, A::any, false, axis_attribute},
    OpInfo{Op::take_along_axis, "take_along_axis", C::indexing,    2,  2, "x indices",          W::unsaid, F::whole, A::any, false, axis_attribute},
    OpInfo{Op::iota,            "iota",            C::leaf,        0,  0, "",                   W::unsaid, F::whole, A::numbers, false, iota_attributes},
    OpInfo{Op::window,          "window",          C::movement,    1,  1, "x",                  W::unsaid, F::whole, A::any, false, window_attributes},
    OpInfo{Op::cumsum,          "cumsum",          C::scan,        1,  1, "x",                  W::unsaid, F::whole, A::numbers, false, axis_attribute},
    OpInfo{Op::argsort,         "argsort",         C::scan,        1,  1, "x",                  W::unsaid, F::whole, A::numbers, false, argsort_attributes},
    OpInfo{Op::copy_to,         "copy_to",         C::transfer,    1,  1, "x",                  W::unsaid, F::whole, A::any, false, device_attribute},
    OpInfo{Op::state_append,    "state_append",    C::effect,      2,  2, "state rows",         W::unsaid, F::whole},
    OpInfo{Op::state_write,     "state_write",     C::effect,      2,  2, "state rows",         W::unsaid, F::whole, A::any, false, start_attribute},
};
// clang-format on

constexpr bool in_order() {
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (static_cast<std::size_t>(rows[i].op) != i) return false;
    return true;
}
constexpr bool work_is_said() {
    for (const OpInfo& row : rows)
        if ((row.kind == OpClass::elementwise) != (row.work != Work::unsaid)) return false;
    return true;
}
static_assert(work_is_said(), "an elementwise op says what an element costs, and no other does");
static_assert(in_order(), "rows stand in the order of Op");
static_assert(rows.size() == static_cast<std::size_t>(Op::state_write) + 1, "every Op has a row");

}  // namespace

const OpInfo& info(Op op) noexcept { return rows[static_cast<std::size_t>(op)]; }

std::span<const OpInfo> op_table() noexcept { return rows; }

std::optional<Op> find_op(std::string_view name) noexcept {
    for (const OpInfo& row : rows)
        if (row.name == name) return row.op;
    return std::nullopt;
}

}  // namespace cairn::inline v0::ir
