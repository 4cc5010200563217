#pragma once

#include "cairn/composites.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Shared code of convolutions, pools and upsampling: options with one number for each spatial axis of x [B, C, ...],
/// and windows that slide over these axes.
namespace cairn::composites {

using Numbers = std::vector<std::int64_t>;

/// Rejects a number or an empty handle in place of a Tensor.
void need_tensor(const CompositeScope& scope, std::string_view name, const Operand& operand);
/// Rejects an operand that is not [C], with the C of x [B, C, ...].
void need_channels(const CompositeScope& scope, const Operand& x, std::string_view name, const Operand& row);

/// `list` expanded to one entry for each of `axes` spatial axes; rejects other lengths, and entries below `least`.
Numbers per_axis(const CompositeScope& scope, std::string_view name, const IntList& list, std::size_t axes, int least);

struct Padding {
    Numbers before, behind;
};
/// The padding that a list describes: none, one number for all sides, one per axis, or all `before` and then all
/// `behind`.
Padding padding_of(const CompositeScope& scope, const IntList& list, std::size_t axes);

/// Size, stride and dilation of sliding windows: one entry for each spatial axis.
struct WindowParams {
    Numbers size, stride, dilation;
};
/// The windows of x [B, C, S...] as [B, C, P..., K...], a view. Rejects a kernel that may not fit.
Tensor windows(const CompositeScope& scope, const Tensor& x, const WindowParams& slide);

}  // namespace cairn::composites
