#include "cairn/ops.hpp"
#include "graph/ir/op_builder.hpp"
#include "graph/ir/op_list.hpp"

namespace cairn::inline v0 {

using ir::build_op;
using ir::Op;

#define CAIRN_UNARY(name, ...) \
    Tensor name(const Operand& x) { return build_op(Op::name, {x}); }
#define CAIRN_BINARY(name, ...) \
    Tensor name(const Operand& a, const Operand& b) { return build_op(Op::name, {a, b}); }
CAIRN_UNARY_OPS(CAIRN_UNARY)
CAIRN_BINARY_OPS(CAIRN_BINARY)
#undef CAIRN_UNARY
#undef CAIRN_BINARY

Tensor min(const Tensor& a, const Tensor& b, std::source_location where) { return min(Operand(a, where), Operand(b)); }
Tensor max(const Tensor& a, const Tensor& b, std::source_location where) { return max(Operand(a, where), Operand(b)); }
Tensor pow(const Tensor& a, const Tensor& b, std::source_location where) { return pow(Operand(a, where), Operand(b)); }

Tensor where(const Operand& condition, const Operand& a, const Operand& b) {
    return build_op(Op::where, {condition, a, b});
}

Tensor cast(const Operand& x, DType dtype) {
    return build_op(Op::cast, {x}, {{"dtype", std::vector<Dim>{static_cast<int>(dtype)}}});
}

Tensor matmul(const Operand& a, const Operand& b) { return build_op(Op::matmul, {a, b}); }

}  // namespace cairn::inline v0
