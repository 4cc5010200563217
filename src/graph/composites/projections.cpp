#include "cairn/composites.hpp"
#include "graph/composites/typed_name.hpp"

#include <cmath>
#include <string>
#include <vector>

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

namespace {

/// The size of the axis that a rotary embedding rotates, half of it the first elements of pairs.
std::int64_t rotated_size(const CompositeScope& scope, const Operand& x) {
    const Tensor& tensor = x.tensor();
    if (tensor.rank() < 2 || !is_float(tensor.dtype()))
        scope.fail("x must be a float with two axes or more: " + typed_name("x", tensor));
    const Dim last = tensor.dim(-1);
    if (!last.is_constant() || last.constant() % 2 != 0)
        scope.fail("the last axis must have a constant even size: " + typed_name("x", tensor));
    return last.constant();
}

Tensor rotate(const CompositeScope& scope, const Operand& x, const Operand& positions,
              const std::vector<double>& frequencies) {
    const Tensor& tensor = x.tensor();
    if (positions.is_scalar() || positions.tensor().empty()) scope.fail("positions must be a Tensor");
    if (positions.tensor().dtype() != DType::i32 && positions.tensor().dtype() != DType::i64)
        scope.fail("positions must be i32 or i64: " + typed_name("positions", positions));

    const auto size = static_cast<std::int64_t>(frequencies.size()), half = size / 2;
    // Angles grow with the position: 16-bit floats cannot represent them.
    const DType wide = tensor.dtype() == DType::f64 ? DType::f64 : DType::f32;
    const Tensor table = Graph(tensor.graph()).constant(wide, {size}, frequencies);
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

}  // namespace

Tensor rope(const Operand& x, const Operand& positions, double base) {
    const CompositeScope scope("rope", x);
    const std::int64_t size = rotated_size(scope, x), half = size / 2;
    if (!(base > 0)) scope.fail("base must be above 0");
    std::vector<double> frequencies;
    for (std::int64_t i = 0; i < size; ++i)
        frequencies.push_back(std::pow(base, -2.0 * static_cast<double>(i % half) / static_cast<double>(size)));
    return rotate(scope, x, positions, frequencies);
}

Tensor rope(const Operand& x, const Operand& positions, std::span<const double> frequencies) {
    const CompositeScope scope("rope", x);
    const std::int64_t size = rotated_size(scope, x);
    if (static_cast<std::int64_t>(frequencies.size()) != size / 2)
        scope.fail(std::to_string(frequencies.size()) +
                   " frequencies, expected one for each pair of elements: " + typed_name("x", x));
    std::vector<double> both(frequencies.begin(), frequencies.end());
    both.insert(both.end(), frequencies.begin(), frequencies.end());
    for (const double frequency : both)
        if (!std::isfinite(frequency)) scope.fail("frequencies must be finite");
    return rotate(scope, x, positions, both);
}

}  // namespace cairn::inline v0
