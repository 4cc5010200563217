#include "io/onnx_operators/point_samples.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::onnx {
namespace {

/// The product, or conjunction, of what is given.
template <typename Join>
std::optional<Tensor> joined_tap(std::optional<Tensor> a, const std::optional<Tensor>& b, Join join) {
    if (!a.has_value()) return b;
    if (b.has_value()) a = join(*a, *b);
    return a;
}

}  // namespace

Tensor samples_at(const Tensor& x, const std::vector<std::vector<SampleTap>>& taps, DType dtype,
                  const std::optional<Tensor>& batch, TapCombination combination) {
    const std::size_t axes = taps.size();
    Dim positions = 1;
    for (std::size_t i = 0; i < axes; ++i) positions *= x.shape()[i + 2];
    const Tensor rows =
        reshape(swap_axes(reshape(x, {x.dim(0), x.dim(1), positions}), 1, 2), {x.dim(0) * positions, x.dim(1)});
    const auto rank = static_cast<std::size_t>(taps[0][0].index.rank());
    const Tensor entry = batch.has_value() ? *batch : along_axis(iota(Graph(x.graph()), x.dim(0), DType::i64), 0, rank);
    std::optional<Tensor> result;
    std::vector<std::size_t> chosen(axes, 0);
    for (bool more = true; more;) {
        Tensor row = entry;
        std::optional<Tensor> weight, inside;
        for (std::size_t i = 0; i < axes; ++i) {
            const SampleTap& tap = taps[i][chosen[i]];
            row = row * x.shape()[i + 2] + tap.index;
            weight = joined_tap(weight, tap.weight, [](const Tensor& a, const Tensor& b) { return a * b; });
            inside = joined_tap(inside, tap.inside, [](const Tensor& a, const Tensor& b) { return a && b; });
        }
        Tensor value = gather(rows, row, 0);
        if (value.dtype() != dtype) value = cast(value, dtype);
        if (inside.has_value()) value = where(unsqueeze(*inside, -1), value, Graph(x.graph()).constant(dtype, 0));
        if (weight.has_value()) value = value * unsqueeze(*weight, -1);
        if (!result.has_value())
            result = value;
        else
            result = combination == TapCombination::sum ? *result + value : max(*result, value);
        more = false;
        for (std::size_t i = axes; i-- > 0 && !more;) {
            more = ++chosen[i] < taps[i].size();
            if (!more) chosen[i] = 0;
        }
    }
    return *result;
}

Tensor clamped_index(const Tensor& position, const Dim& size) {
    return cast(clamp(position, 0.0, size - 1), DType::i64);
}

std::vector<SampleTap> linear_taps(const Tensor& coordinate, const Dim& size, DType dtype, bool zeros) {
    const Tensor low = floor(coordinate), far = cast(coordinate - low, dtype);
    const auto tap = [&](const Tensor& position, const Tensor& weight) {
        SampleTap result{clamped_index(position, size), weight, std::nullopt};
        if (zeros) result.inside = position >= 0.0 && position < size;
        return result;
    };
    return {tap(low, 1 - far), tap(low + 1, far)};
}

void need_elements(const Node& node, const Shape& x) {
    for (std::size_t axis = 2; axis < x.size(); ++axis)
        if (!provably_le(1, x[axis]))
            node.refuse(fmt::format("axis {} of its input may be empty: {}", axis, to_string(x)));
}

Tensor along_axis(const Tensor& line, std::size_t axis, std::size_t rank) {
    Shape shape(rank, Dim(1));
    shape[axis] = line.dim(0);
    return reshape(line, shape);
}

DType interpolation_dtype(DType dtype) noexcept { return is_float(dtype) ? wide_dtype(dtype) : DType::f64; }

}  // namespace cairn::inline v0::onnx
