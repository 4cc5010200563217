#pragma once

#include "io/onnx_node/node.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

/// Windows over the spatial axes of x [N, C, D1, ..], as convolutions and pooling have them.
namespace cairn::inline v0::onnx {

/// Windows along one spatial axis.
struct WindowAxis {
    std::int64_t kernel = 1, stride = 1, dilation = 1;
    Dim before = 0, after = 0;  ///< padding
    Dim overhang = 0;           ///< elements after the padding that the last window reads, with `ceil_mode`

    /// Elements from the first to the last of a window.
    std::int64_t extent() const noexcept { return dilation * (kernel - 1) + 1; }
};

using WindowAxes = std::vector<WindowAxis>;

/// An attribute of integers, one for each spatial axis: `otherwise` if absent. Refuses another number of them, and ones
/// below `least`.
std::vector<std::int64_t> spatial_integers(const Node& node, std::string_view name, std::size_t axes,
                                           std::int64_t otherwise, std::int64_t least);
/// The attribute `pads`, those before each axis first; zeros if absent. Refuses negative ones.
std::vector<std::int64_t> spatial_pads(const Node& node, std::size_t axes);
/// The number of spatial axes of input 0, which has at least one.
std::size_t spatial_axes(const Node& node);

/// The windows of `kernel` over `x`, by the attributes strides, dilations, pads and auto_pad, without overhang.
WindowAxes window_axes(const Node& node, const Shape& x, const std::vector<std::int64_t>& kernel);
/// Adds the overhang: the number of windows is rounded up, but none begins after the elements of x.
void round_windows_up(WindowAxes& axes, const Shape& x);

/// The padding as composites take it. False if it is symbolic, or for `most_below_kernel` not below the kernel.
bool is_plain_padding(const WindowAxes& axes, bool most_below_kernel) noexcept;
/// x with the padding, and the overhang, filled with `value`.
Tensor with_padding(const Tensor& x, const WindowAxes& axes, double value);
/// The windows of x, already padded: [N, C, P1, .., K1, ..].
Tensor windows_of(const Tensor& x, const WindowAxes& axes);

/// Lists for the options of composites.
IntList strides_of(const Node& node, const WindowAxes& axes);
IntList dilations_of(const Node& node, const WindowAxes& axes);
IntList kernels_of(const Node& node, const WindowAxes& axes);
IntList paddings_of(const Node& node, const WindowAxes& axes);
/// As int, refusing what does not fit.
int small_integer(const Node& node, std::int64_t value);

}  // namespace cairn::inline v0::onnx
