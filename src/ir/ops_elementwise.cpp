#include "cairn/ops.hpp"
#include "ir/call.hpp"
#include "ir/op_list.hpp"

namespace cairn::inline v0 {

using ir::call;
using ir::Op;

#define CAIRN_UNARY(name, ...) \
    Tensor name(const Operand& x) { return call(Op::name, {x}); }
#define CAIRN_BINARY(name, ...) \
    Tensor name(const Operand& a, const Operand& b) { return call(Op::name, {a, b}); }
CAIRN_UNARY_OPS(CAIRN_UNARY)
CAIRN_BINARY_OPS(CAIRN_BINARY)
#undef CAIRN_UNARY
#undef CAIRN_BINARY

Tensor min(const Tensor& a, const Tensor& b, std::source_location where) { return min(Operand(a, where), Operand(b)); }
Tensor max(const Tensor& a, const Tensor& b, std::source_location where) { return max(Operand(a, where), Operand(b)); }
Tensor pow(const Tensor& a, const Tensor& b, std::source_location where) { return pow(Operand(a, where), Operand(b)); }

Tensor where(const Operand& condition, const Operand& a, const Operand& b) {
    return call(Op::where, {condition, a, b});
}

Tensor cast(const Operand& x, DType dtype) {
    return call(Op::cast, {x}, {{"dtype", std::vector<Dim>{static_cast<int>(dtype)}}});
}

Tensor matmul(const Operand& a, const Operand& b) { return call(Op::matmul, {a, b}); }

}  // namespace cairn::inline v0
