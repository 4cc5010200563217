#include "cairn/composites.hpp"
#include "graph/composites/typed_name.hpp"

#include <cmath>

namespace cairn::inline v0 {

using composites::typed_name;

Tensor linear(const Operand& x, const Operand& w) {
    const CompositeScope scope("linear", x);
    return matmul(x, w);
}

Tensor linear(const Operand& x, const Operand& w, const Operand& b) {
    const CompositeScope scope("linear", x);
    const Tensor product = matmul(x, w);
    if (b.is_scalar() || b.tensor().empty()) scope.fail("b must be a Tensor");
    if (b.tensor().rank() != 1 || !(b.tensor().dim(0) == product.dim(-1)))
        scope.fail("b must have the last axis of w as its only one: " + typed_name("w", w) + ", " + typed_name("b", b));
    return product + b;
}

Tensor embedding(const Operand& table, const Operand& ids) {
    const CompositeScope scope("embedding", table);
    if (table.tensor().rank() != 2) scope.fail("the table must have two axes: " + typed_name("table", table));
    return gather(table, ids, 0);
}

Tensor rope(const Operand& x, const Operand& positions, double base) {
    const CompositeScope scope("rope", x);
    const Tensor& tensor = x.tensor();
    if (tensor.rank() < 2 || !is_float(tensor.dtype()))
        scope.fail("x must be a float with two axes or more: " + typed_name("x", tensor));
    const Dim last = tensor.dim(-1);
    if (!last.is_constant() || last.constant() % 2 != 0)
        scope.fail("the last axis must have a constant even size: " + typed_name("x", tensor));
    if (!(base > 0)) scope.fail("base must be above 0");
    if (positions.is_scalar() || positions.tensor().empty()) scope.fail("positions must be a Tensor");
    if (positions.tensor().dtype() != DType::i32 && positions.tensor().dtype() != DType::i64)
        scope.fail("positions must be i32 or i64: " + typed_name("positions", positions));

    const std::int64_t size = last.constant(), half = size / 2;
    std::vector<double> frequencies;
    for (std::int64_t i = 0; i < size; ++i)
        frequencies.push_back(std::pow(base, -2.0 * static_cast<double>(i % half) / static_cast<double>(size)));
    // Angles grow with the position: 16-bit floats cannot represent them.
    const DType wide = tensor.dtype() == DType::f64 ? DType::f64 : DType::f32;
    const Tensor table = Graph(tensor.graph()).constant(wide, {last}, frequencies);
    const Tensor angles = unsqueeze(cast(positions, wide), -1) * table;
    const auto narrow = [&](const Tensor& wave) {
        return wave.dtype() == tensor.dtype() ? wave : cast(wave, tensor.dtype());
    };
    const Tensor first = slice(x, -1, 0, half), second = slice(x, -1, half, size);
    const Tensor straight = x * narrow(cos(angles));
    const Tensor rotated = concat({-second, first}, -1) * narrow(sin(angles));
    const Tensor result = straight + rotated;
    if (result.shape() != tensor.shape())
        scope.fail("positions must be [T] or [..., T]: " + typed_name("x", tensor) + ", " +
                   typed_name("positions", positions));
    return result;
}

}  // namespace cairn::inline v0
