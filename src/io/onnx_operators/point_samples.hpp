#pragma once

#include "io/onnx_node/node.hpp"

#include <optional>
#include <vector>

/// Elements of x [B, C, D1, ..] at computed positions, interpolated.
namespace cairn::inline v0::onnx {

/// One of the elements along an axis of which an interpolated one is made.
struct SampleTap {
    Tensor index;                  ///< i64, within the axis
    std::optional<Tensor> weight;  ///< 1 if not given
    std::optional<Tensor> inside;  ///< boolean; where it is false the element is replaced by 0
};

/// How the elements of all taps become one.
enum class TapCombination : std::uint8_t {
    sum,
    maximum  ///< of the weighted elements
};

/// The samples of x at the taps of each spatial axis: indices, weights and masks broadcast to [B, P1, ..], and the
/// result is [B, P1, .., C]. `batch` (i64), which broadcasts with them, selects the entry of the first axis of x; its
/// own position if not given. Elements are converted to `dtype`, in which weights are.
Tensor samples_at(const Tensor& x, const std::vector<std::vector<SampleTap>>& taps, DType dtype,
                  const std::optional<Tensor>& batch = std::nullopt, TapCombination combination = TapCombination::sum);

/// A whole number of a float dtype as an index within an axis of `size` elements; others are clamped to its ends.
Tensor clamped_index(const Tensor& position, const Dim& size);
/// The taps of linear interpolation at `coordinate` (float). Elements outside the axis are 0 for `zeros`, else those at
/// its ends.
std::vector<SampleTap> linear_taps(const Tensor& coordinate, const Dim& size, DType dtype, bool zeros);
/// Refuses spatial axes of x that may be empty.
void need_elements(const Node& node, const Shape& x);
/// A tensor of sizes 1 but for the one of `axis`, of a tensor of one axis.
Tensor along_axis(const Tensor& line, std::size_t axis, std::size_t rank);
/// The dtype in which elements of x are interpolated: f32 for 16-bit floats, f64 for integers.
DType interpolation_dtype(DType dtype) noexcept;

}  // namespace cairn::inline v0::onnx
