#include "graph/interpreter/evaluation.hpp"
#include "graph/ir/scalar_cast.hpp"

namespace cairn::interpreter {
namespace {

double multiply_add(double sum, double a, double b) noexcept { return sum + a * b; }
std::int64_t multiply_add(std::int64_t sum, std::int64_t a, std::int64_t b) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                     static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

// Rows of b are walked in memory order: the sum over k still runs 0, 1, 2, ... for each element.
template <typename T>
void multiply(const T* a, const T* b, T* c, std::int64_t rows, std::int64_t inner, std::int64_t columns) {
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t k = 0; k < inner; ++k)
            for (std::int64_t j = 0; j < columns; ++j)
                c[i * columns + j] = multiply_add(c[i * columns + j], a[i * inner + k], b[k * columns + j]);
}

Sizes batch_of(const Sizes& shape) { return {shape.begin(), shape.end() - 2}; }

}  // namespace

Value evaluate_matmul(const Evaluation& e) {
    const Value &a = e.operand(0), &b = e.operand(1);
    Value out = e.result();
    const std::int64_t rows = e.shape[e.shape.size() - 2], columns = e.shape.back(), inner = a.shape.back();
    const Sizes batch = batch_of(e.shape);
    const auto from_a = element_offsets(batch, {broadcast_strides(batch_of(a.shape), batch)});
    const auto from_b = element_offsets(batch, {broadcast_strides(batch_of(b.shape), batch)});
    visit_storage(
        out.dtype,
        [&](auto& to, const auto& x, const auto& y) {
            for (std::size_t i = 0; i < from_a.size() && !to.empty(); ++i)
                multiply(x.data() + from_a[i] * rows * inner, y.data() + from_b[i] * inner * columns,
                         to.data() + static_cast<std::int64_t>(i) * rows * columns, rows, inner, columns);
        },
        out, a, b);
    for (std::int64_t& value : out.integers) value = wrap_to(out.dtype, value);
    return out;
}

}  // namespace cairn::interpreter
