#pragma once

#include "cairn/composites.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What convolutions, pools and upsampling share: options as one number for each spatial axis of x [B, C, ...], and
/// windows that slide over these axes.
namespace cairn::composites {

using Numbers = std::vector<std::int64_t>;

/// Refuses a number where a Tensor must stand, and an empty handle.
void need_tensor(const CompositeScope& scope, std::string_view name, const Operand& operand);
/// Refuses an operand that is not [C] with the C of x [B, C, ...].
void need_channels(const CompositeScope& scope, const Operand& x, std::string_view name, const Operand& row);

/// `list` with one entry for each of `axes` spatial axes; refuses another length, and entries below `least`.
Numbers per_axis(const CompositeScope& scope, std::string_view name, const IntList& list, std::size_t axes, int least);

struct Padding {
    Numbers before, behind;
};
/// The padding a list tells: none, one number for all sides, one for each axis, or all before and then all behind.
Padding padding_of(const CompositeScope& scope, const IntList& list, std::size_t axes);

/// How windows slide: one entry for each spatial axis.
struct WindowParams {
    Numbers size, stride, dilation;
};
/// The windows of x [B, C, S...] as [B, C, P..., K...], a view; refuses a kernel that may not fit.
Tensor windows(const CompositeScope& scope, const Tensor& x, const WindowParams& slide);

}  // namespace cairn::composites
