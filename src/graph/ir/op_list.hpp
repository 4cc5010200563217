#pragma once

/// Every op, one row each: all that stages know about an op without testing which it is. op_table.hpp documents the
/// columns. Traits hold for all operands; a trait that is not listed is unknown.
///
/// An elementwise op of one or two operands of one dtype needs only its row: its enumerator in `Op`, its entry in
/// op_table() and the function that users call (declared in cairn/ops.hpp) are generated from it.
// clang-format off
//     name             accepts   work   form   traits
#define CAIRN_UNARY_OPS(OP) \
    OP(neg,             numbers,  cheap, transparent,  odd | linear | wraps) \
    OP(abs,             numbers,  cheap, opaque, even | nonnegative | wraps) \
    OP(exp,             floats,   heavy, opaque, nonnegative) \
    OP(log,             floats,   heavy, opaque, none) \
    OP(sqrt,            floats,   heavy, transparent,  keeps_sign) \
    OP(rsqrt,           floats,   heavy, transparent,  keeps_sign) \
    OP(sin,             floats,   heavy, opaque, odd) \
    OP(cos,             floats,   heavy, opaque, even) \
    OP(tanh,            floats,   heavy, opaque, odd | keeps_sign) \
    OP(erf,             floats,   heavy, opaque, odd | keeps_sign) \
    OP(floor,           floats,   cheap, opaque, keeps_sign) \
    OP(logical_not,     booleans, cheap, transparent,  none)

//     name             accepts   work   form   traits
#define CAIRN_BINARY_OPS(OP) \
    OP(add,             numbers,  cheap, transparent,  commutes | keeps_sign | wraps) \
    OP(sub,             numbers,  cheap, transparent,  wraps) \
    OP(mul,             numbers,  cheap, transparent,  commutes | keeps_sign | wraps) \
    OP(div,             numbers,  heavy, transparent,  keeps_sign | wraps) \
    OP(min,             numbers,  cheap, transparent,  commutes | keeps_sign) \
    OP(max,             numbers,  cheap, transparent,  commutes | keeps_sign) \
    OP(pow,             floats,   heavy, transparent,  keeps_sign) \
    OP(eq,              any,      cheap, transparent,  commutes | compares) \
    OP(ne,              any,      cheap, transparent,  commutes | compares) \
    OP(lt,              numbers,  cheap, transparent,  compares) \
    OP(le,              numbers,  cheap, transparent,  compares) \
    OP(gt,              numbers,  cheap, transparent,  compares) \
    OP(ge,              numbers,  cheap, transparent,  compares) \
    OP(logical_and,     booleans, cheap, transparent,  commutes) \
    OP(logical_or,      booleans, cheap, transparent,  commutes) \
    OP(logical_xor,     booleans, cheap, transparent,  commutes) \
    OP(bitwise_and,     integers, cheap, transparent,  commutes | keeps_sign)

//     name             class        least most operands accepts work form traits [attributes ..]
#define CAIRN_OTHER_OPS(OP) \
    OP(input,           leaf,        0,  0, "",                  any,     unspecified, opaque, none) \
    OP(weight,          leaf,        0,  0, "",                  any,     unspecified, opaque, none) \
    OP(constant,        leaf,        0,  0, "",                  any,     unspecified, opaque, none) \
    OP(state_read,      leaf,        0,  0, "",                  any,     unspecified, opaque, none, "axis", "capacity") \
    OP(iota,            leaf,        0,  0, "",                  numbers, unspecified, opaque, none, "length", "start", "dtype") \
    OP(cast,            elementwise, 1,  1, "x",                 any,     cheap,  opaque, keeps_sign, "dtype") \
    OP(where,           elementwise, 3,  3, "condition a b",     any,     cheap,  transparent,  keeps_sign) \
    OP(sum,             reduction,   1,  1, "x",                 numbers, unspecified, opaque, linear | keeps_sign | wraps, "axes") \
    OP(max_reduce,      reduction,   1,  1, "x",                 numbers, unspecified, opaque, none, "axes") \
    OP(prod,            reduction,   1,  1, "x",                 numbers, unspecified, opaque, keeps_sign | wraps, "axes") \
    OP(argmax,          reduction,   1,  1, "x",                 numbers, unspecified, opaque, nonnegative, "axis") \
    OP(matmul,          contraction, 2,  2, "lhs rhs",           numbers, unspecified, opaque, linear | keeps_sign | wraps) \
    OP(reshape,         movement,    1,  1, "x",                 any,     unspecified, transparent,  linear | keeps_sign, "shape") \
    OP(transpose,       movement,    1,  1, "x",                 any,     unspecified, transparent,  linear | keeps_sign, "permutation") \
    OP(broadcast,       movement,    1,  1, "x",                 any,     unspecified, transparent,  linear | keeps_sign, "shape") \
    OP(slice,           movement,    1,  1, "x",                 any,     unspecified, opaque, linear | keeps_sign, "axis", "start", "stop", "step") \
    OP(window,          movement,    1,  1, "x",                 any,     unspecified, opaque, linear | keeps_sign, "axis", "size", "stride", "dilation") \
    OP(pad,             indexing,    1,  1, "x",                 any,     unspecified, opaque, none, "axis", "before", "after", "value") \
    OP(concat,          indexing,    1, -1, "#",                 any,     unspecified, opaque, keeps_sign, "axis") \
    OP(gather,          indexing,    2,  2, "x indices",         any,     unspecified, opaque, linear | keeps_sign, "axis") \
    OP(scatter,         indexing,    3,  3, "x indices updates", any,     unspecified, opaque, keeps_sign, "axis") \
    OP(take_along_axis, indexing,    2,  2, "x indices",         any,     unspecified, opaque, linear | keeps_sign, "axis") \
    OP(bitcast,         indexing,    1,  1, "x",                 numbers, unspecified, opaque, none, "dtype") \
    OP(cumsum,          scan,        1,  1, "x",                 numbers, unspecified, opaque, linear | keeps_sign | wraps, "axis") \
    OP(argsort,         scan,        1,  1, "x",                 numbers, unspecified, opaque, nonnegative, "axis", "descending") \
    OP(copy_to,         transfer,    1,  1, "x",                 any,     unspecified, opaque, linear | keeps_sign, "device") \
    OP(state_append,    effect,      2,  2, "state rows",        any,     unspecified, opaque, none) \
    OP(state_write,     effect,      2,  2, "state rows",        any,     unspecified, opaque, none, "start")
// clang-format on
