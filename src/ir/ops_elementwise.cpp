#include "cairn/ops.hpp"
#include "ir/call.hpp"

namespace cairn::inline v0 {

using ir::call;
using ir::Op;

// clang-format off
Tensor neg(const Operand& x) { return call(Op::neg, {x}); }
Tensor abs(const Operand& x) { return call(Op::abs, {x}); }
Tensor exp(const Operand& x) { return call(Op::exp, {x}); }
Tensor log(const Operand& x) { return call(Op::log, {x}); }
Tensor sqrt(const Operand& x) { return call(Op::sqrt, {x}); }
Tensor rsqrt(const Operand& x) { return call(Op::rsqrt, {x}); }
Tensor sin(const Operand& x) { return call(Op::sin, {x}); }
Tensor cos(const Operand& x) { return call(Op::cos, {x}); }
Tensor tanh(const Operand& x) { return call(Op::tanh, {x}); }
Tensor erf(const Operand& x) { return call(Op::erf, {x}); }
Tensor floor(const Operand& x) { return call(Op::floor, {x}); }

Tensor add(const Operand& a, const Operand& b) { return call(Op::add, {a, b}); }
Tensor sub(const Operand& a, const Operand& b) { return call(Op::sub, {a, b}); }
Tensor mul(const Operand& a, const Operand& b) { return call(Op::mul, {a, b}); }
Tensor div(const Operand& a, const Operand& b) { return call(Op::div, {a, b}); }
Tensor min(const Operand& a, const Operand& b) { return call(Op::min, {a, b}); }
Tensor max(const Operand& a, const Operand& b) { return call(Op::max, {a, b}); }
Tensor pow(const Operand& a, const Operand& b) { return call(Op::pow, {a, b}); }

Tensor eq(const Operand& a, const Operand& b) { return call(Op::eq, {a, b}); }
Tensor ne(const Operand& a, const Operand& b) { return call(Op::ne, {a, b}); }
Tensor lt(const Operand& a, const Operand& b) { return call(Op::lt, {a, b}); }
Tensor le(const Operand& a, const Operand& b) { return call(Op::le, {a, b}); }
Tensor gt(const Operand& a, const Operand& b) { return call(Op::gt, {a, b}); }
Tensor ge(const Operand& a, const Operand& b) { return call(Op::ge, {a, b}); }
Tensor logical_and(const Operand& a, const Operand& b) { return call(Op::logical_and, {a, b}); }
Tensor logical_or(const Operand& a, const Operand& b) { return call(Op::logical_or, {a, b}); }
Tensor logical_xor(const Operand& a, const Operand& b) { return call(Op::logical_xor, {a, b}); }
Tensor logical_not(const Operand& a) { return call(Op::logical_not, {a}); }
// clang-format on

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
