#pragma once

/// Every op, one row each: all that stages know of an op without knowing which it is. op_table.hpp says what the
/// columns mean. Facts are what holds of the op always; what is not told is not known.
///
/// An elementwise op of one or two operands of one dtype needs no more than its row: its number in `Op`, its line in
/// op_table() and the function a user calls (declared in cairn/ops.hpp) are made of it.
// clang-format off
//     name             accepts   work   form   facts
#define CAIRN_UNARY_OPS(OP) \
    OP(neg,             numbers,  cheap, open,  odd | linear | wraps) \
    OP(abs,             numbers,  cheap, whole, even | nonnegative | wraps) \
    OP(exp,             floats,   heavy, whole, nonnegative) \
    OP(log,             floats,   heavy, whole, none) \
    OP(sqrt,            floats,   heavy, open,  keeps_sign) \
    OP(rsqrt,           floats,   heavy, open,  keeps_sign) \
    OP(sin,             floats,   heavy, whole, odd) \
    OP(cos,             floats,   heavy, whole, even) \
    OP(tanh,            floats,   heavy, whole, odd | keeps_sign) \
    OP(erf,             floats,   heavy, whole, odd | keeps_sign) \
    OP(floor,           floats,   cheap, whole, keeps_sign) \
    OP(logical_not,     booleans, cheap, open,  none)

//     name             accepts   work   form   facts
#define CAIRN_BINARY_OPS(OP) \
    OP(add,             numbers,  cheap, open,  commutes | keeps_sign | wraps) \
    OP(sub,             numbers,  cheap, open,  wraps) \
    OP(mul,             numbers,  cheap, open,  commutes | keeps_sign | wraps) \
    OP(div,             numbers,  heavy, open,  keeps_sign | wraps) \
    OP(min,             numbers,  cheap, open,  commutes | keeps_sign) \
    OP(max,             numbers,  cheap, open,  commutes | keeps_sign) \
    OP(pow,             floats,   heavy, open,  keeps_sign) \
    OP(eq,              any,      cheap, open,  commutes | compares) \
    OP(ne,              any,      cheap, open,  commutes | compares) \
    OP(lt,              numbers,  cheap, open,  compares) \
    OP(le,              numbers,  cheap, open,  compares) \
    OP(gt,              numbers,  cheap, open,  compares) \
    OP(ge,              numbers,  cheap, open,  compares) \
    OP(logical_and,     booleans, cheap, open,  commutes) \
    OP(logical_or,      booleans, cheap, open,  commutes) \
    OP(logical_xor,     booleans, cheap, open,  commutes)

//     name             class        least most operands accepts work form facts [attributes ..]
#define CAIRN_OTHER_OPS(OP) \
    OP(input,           leaf,        0,  0, "",                  any,     unsaid, whole, none) \
    OP(weight,          leaf,        0,  0, "",                  any,     unsaid, whole, none) \
    OP(constant,        leaf,        0,  0, "",                  any,     unsaid, whole, none) \
    OP(state_read,      leaf,        0,  0, "",                  any,     unsaid, whole, none, "axis", "capacity") \
    OP(iota,            leaf,        0,  0, "",                  numbers, unsaid, whole, none, "length", "start", "dtype") \
    OP(cast,            elementwise, 1,  1, "x",                 any,     cheap,  whole, keeps_sign, "dtype") \
    OP(where,           elementwise, 3,  3, "condition a b",     any,     cheap,  open,  keeps_sign) \
    OP(sum,             reduction,   1,  1, "x",                 numbers, unsaid, whole, linear | keeps_sign | wraps, "axes") \
    OP(max_reduce,      reduction,   1,  1, "x",                 numbers, unsaid, whole, none, "axes") \
    OP(prod,            reduction,   1,  1, "x",                 numbers, unsaid, whole, keeps_sign | wraps, "axes") \
    OP(argmax,          reduction,   1,  1, "x",                 numbers, unsaid, whole, nonnegative, "axis") \
    OP(matmul,          contraction, 2,  2, "lhs rhs",           numbers, unsaid, whole, linear | keeps_sign | wraps) \
    OP(reshape,         movement,    1,  1, "x",                 any,     unsaid, open,  linear | keeps_sign, "shape") \
    OP(transpose,       movement,    1,  1, "x",                 any,     unsaid, open,  linear | keeps_sign, "permutation") \
    OP(broadcast,       movement,    1,  1, "x",                 any,     unsaid, open,  linear | keeps_sign, "shape") \
    OP(slice,           movement,    1,  1, "x",                 any,     unsaid, whole, linear | keeps_sign, "axis", "start", "stop", "step") \
    OP(window,          movement,    1,  1, "x",                 any,     unsaid, whole, linear | keeps_sign, "axis", "size", "stride", "dilation") \
    OP(pad,             indexing,    1,  1, "x",                 any,     unsaid, whole, none, "axis", "before", "after", "value") \
    OP(concat,          indexing,    1, -1, "#",                 any,     unsaid, whole, keeps_sign, "axis") \
    OP(gather,          indexing,    2,  2, "x indices",         any,     unsaid, whole, linear | keeps_sign, "axis") \
    OP(scatter,         indexing,    3,  3, "x indices updates", any,     unsaid, whole, keeps_sign, "axis") \
    OP(take_along_axis, indexing,    2,  2, "x indices",         any,     unsaid, whole, linear | keeps_sign, "axis") \
    OP(cumsum,          scan,        1,  1, "x",                 numbers, unsaid, whole, linear | keeps_sign | wraps, "axis") \
    OP(argsort,         scan,        1,  1, "x",                 numbers, unsaid, whole, nonnegative, "axis", "descending") \
    OP(copy_to,         transfer,    1,  1, "x",                 any,     unsaid, whole, linear | keeps_sign, "device") \
    OP(state_append,    effect,      2,  2, "state rows",        any,     unsaid, whole, none) \
    OP(state_write,     effect,      2,  2, "state rows",        any,     unsaid, whole, none, "start")
// clang-format on
