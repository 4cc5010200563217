#include "cairn/composites.hpp"

namespace cairn::inline v0 {
namespace {

// x in the opposite order; its own inverse. An integer n becomes -1 - n (255 - n where there are no negative ones):
// unlike -n, that is another element of the dtype for every n.
Tensor reverse_order(const Operand& x) {
    const DType dtype = x.tensor().dtype();
    if (is_float(dtype)) return -x;
    return dtype == DType::u8 ? 255 - x : -1 - x;
}

void need_booleans(const CompositeScope& scope, const Operand& x) {
    if (x.tensor().dtype() != DType::boolean)
        scope.fail("needs booleans: x " + to_string(x.tensor().dtype(), x.tensor().shape()));
}

void need_numbers(const CompositeScope& scope, const Operand& x) {
    if (x.tensor().dtype() == DType::boolean)
        scope.fail("needs numbers, not booleans: x " + to_string(x.tensor().dtype(), x.tensor().shape()));
}

}  // namespace

Tensor min_reduce(const Operand& x, const IntList& axes, bool keepdims) {
    const CompositeScope scope("min_reduce", x);
    need_numbers(scope, x);
    return reverse_order(max_reduce(reverse_order(x), axes, keepdims));
}

Tensor argmin(const Operand& x, int axis, bool keepdims) {
    const CompositeScope scope("argmin", x);
    need_numbers(scope, x);
    return argmax(reverse_order(x), axis, keepdims);
}

Tensor any(const Operand& x, const IntList& axes, bool keepdims) {
    const CompositeScope scope("any", x);
    need_booleans(scope, x);
    return max_reduce(cast(x, DType::u8), axes, keepdims) != 0;
}

Tensor all(const Operand& x, const IntList& axes, bool keepdims) {
    const CompositeScope scope("all", x);
    need_booleans(scope, x);
    return max_reduce(cast(!x, DType::u8), axes, keepdims) == 0;
}

}  // namespace cairn::inline v0
