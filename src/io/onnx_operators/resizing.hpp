#pragma once

#include "io/onnx_node/node.hpp"

#include <cstdint>
#include <optional>
#include <vector>

/// Resize and Upsample: how each axis is resized.
namespace cairn::inline v0::onnx {

enum class ResizeMode : std::uint8_t { nearest, linear, cubic };

enum class ResizeCoordinates : std::uint8_t {
    half_pixel,
    half_pixel_symmetric,
    pytorch_half_pixel,
    align_corners,
    asymmetric,
    crop  ///< tf_crop_and_resize
};

struct ResizePlan {
    ResizeMode mode = ResizeMode::nearest;
    ResizeCoordinates coordinates = ResizeCoordinates::half_pixel;
    ResizeRounding rounding = ResizeRounding::prefer_lower;
    bool excludes_outside = false, antialias = false;
    double cubic_a = -0.75;
    double extrapolation = 0;  ///< what lies outside of x for ResizeCoordinates::crop
};

struct ResizeAxis {
    int axis = 0;
    Dim in, out;
    /// Elements of the result for each of x; not given: out / in, exactly.
    std::optional<double> scale;
    double start = 0, stop = 1;  ///< the part of x for ResizeCoordinates::crop

    /// The scale as a number, for constant sizes.
    double scale_factor() const {
        return scale ? *scale : static_cast<double>(out.constant()) / static_cast<double>(in.constant());
    }
};

/// Elements of x of which each element of a resized axis is the weighted sum, for constant sizes. There are `taps`
/// indices and weights for each element of the result; for nearest one, of weight 1.
struct ResizeTable {
    std::int64_t taps = 1;
    std::vector<std::int64_t> indices;
    std::vector<double> weights;
    std::vector<bool> is_outside;  ///< by element of the result: it is ResizePlan::extrapolation
};

ResizeTable resize_table(const ResizePlan& plan, const ResizeAxis& axis);
/// x with one axis resized by its table; elements are in the dtype of the computation.
Tensor resized_by_table(const Tensor& x, const ResizePlan& plan, const ResizeAxis& axis);
/// The same for symbolic sizes: coordinates are computed by the graph.
Tensor resized_by_coordinates(const Node& node, const Tensor& x, const ResizePlan& plan, const ResizeAxis& axis);
/// All axes by a composite, if one means the same.
std::optional<Tensor> resized_by_composite(const Tensor& x, const ResizePlan& plan,
                                           const std::vector<ResizeAxis>& axes);
/// All axes.
Tensor resized(const Node& node, const Tensor& x, const ResizePlan& plan, const std::vector<ResizeAxis>& axes);

/// An axis resized to `scale` (f32) times its size, rounded down.
ResizeAxis axis_by_scale(const Node& node, int axis, const Dim& in, double scale);

void make_resize(Node& node);
void make_upsample(Node& node);

}  // namespace cairn::inline v0::onnx
