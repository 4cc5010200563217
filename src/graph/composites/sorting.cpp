#include "cairn/composites.hpp"

namespace cairn::inline v0 {

Sorted sort(const Operand& x, int axis, bool descending) {
    const CompositeScope scope("sort", x);
    const Tensor indices = argsort(x, axis, descending);
    return {take_along_axis(x, indices, axis), indices};
}

Sorted topk(const Operand& x, const Dim& k, int axis, bool largest) {
    const CompositeScope scope("topk", x);
    const Tensor order = argsort(x, axis, largest);
    const Dim size = x.tensor().dim(axis);
    if (!provably_le(0, k) || !provably_le(k, size))
        scope.fail("0 <= " + to_string(k) + " <= " + to_string(size) + " is not sure to hold: x " +
                   to_string(x.tensor().dtype(), x.tensor().shape()));
    const Tensor indices = slice(order, axis, 0, k);
    return {take_along_axis(x, indices, axis), indices};
}

}  // namespace cairn::inline v0
