#include "io/onnx_operators/point_samples.hpp"
#include "io/onnx_operators/sampling.hpp"

#include <fmt/format.h>

#include <string>

namespace cairn::inline v0::onnx {
namespace {

/// One of the two axes of the boxes.
struct RoiAxis {
    std::int64_t bins = 1;  ///< of the result
    Dim size;               ///< of x
    Tensor start, stop;     ///< of each box: [R, 1]
};

/// The places of the samples along an axis: [R, bins * ratio].
Tensor sample_places(const RoiAxis& axis, std::int64_t ratio, bool half_pixel) {
    const DType dtype = axis.start.dtype();
    Tensor length = axis.stop - axis.start;
    // Without the shift of half an element, boxes have at least the size of one.
    if (!half_pixel) length = max(length, Operand(1.0));
    const Tensor bin = length / axis.bins;
    const Tensor sample = iota(Graph(bin.graph()), axis.bins * ratio, DType::i64);
    const Tensor whole = cast(sample / ratio, dtype), part = cast(sample - sample / ratio * ratio, dtype);
    return axis.start + whole * bin + (part + 0.5) * bin / ratio;
}

/// The elements before and after each place. Samples more than one element outside are 0, others are at the edge.
std::vector<SampleTap> roi_taps(const Tensor& place, const Dim& size, DType dtype) {
    const Tensor inside = place >= -1.0 && place <= size;
    const Tensor clamped = clamp(place, 0.0, size - 1), low = floor(clamped), far = cast(clamped - low, dtype);
    return {{clamped_index(low, size), 1 - far, inside}, {clamped_index(low + 1, size), far, inside}};
}

}  // namespace

void make_roi_align(Node& node) {
    const Tensor x = node.tensor(0), rois = node.tensor(1), batch = node.tensor(2);
    if (x.rank() != 4 || rois.rank() != 2 || !(rois.dim(1) == Dim(4)) || batch.rank() != 1)
        node.refuse(fmt::format("its rois are {} for an input {}", to_string(rois.shape()), to_string(x.shape())));
    need_elements(node, x.shape());
    const std::string mode = node.text("mode", "avg");
    if (mode != "avg" && mode != "max") node.refuse(fmt::format("its mode is '{}'", mode));
    const std::string coordinates =
        node.text("coordinate_transformation_mode", node.opset() >= 16 ? "half_pixel" : "output_half_pixel");
    if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
        node.refuse(fmt::format("its coordinate_transformation_mode is '{}'", coordinates));
    const std::int64_t ratio = node.integer("sampling_ratio", 0);
    if (ratio < 1) node.refuse("the number of its samples depends on the elements of rois, as sampling_ratio is 0");
    const bool half_pixel = coordinates == "half_pixel", is_max = mode == "max";
    const DType wide = interpolation_dtype(x.dtype());
    const Tensor boxes = cast(rois, wide) * node.real("spatial_scale", 1) - (half_pixel ? 0.5 : 0.0);
    const auto axis_of = [&](std::string_view bins, int axis, int column) {
        RoiAxis result{node.integer(bins, 1), x.dim(axis), slice(boxes, 1, column, column + 1),
                       slice(boxes, 1, column + 2, column + 3)};
        if (result.bins < 1) node.refuse(fmt::format("its attribute {} is {}", bins, result.bins));
        return result;
    };
    const RoiAxis rows = axis_of("output_height", 2, 1), columns = axis_of("output_width", 3, 0);
    const Tensor y = unsqueeze(sample_places(rows, ratio, half_pixel), 2),
                 z = unsqueeze(sample_places(columns, ratio, half_pixel), 1);
    const Tensor entry = reshape(cast(batch, DType::i64), {batch.dim(0), 1, 1});
    const Tensor samples = samples_at(x, {roi_taps(y, rows.size, wide), roi_taps(z, columns.size, wide)}, wide, entry,
                                      is_max ? TapCombination::maximum : TapCombination::sum);
    const Tensor bins = reshape(samples, {rois.dim(0), rows.bins, ratio, columns.bins, ratio, x.dim(1)});
    const Tensor pooled = is_max ? max_reduce(bins, {2, 4}) : sum(bins, {2, 4}) / (ratio * ratio);
    node.set(0, cast(transpose(pooled, {0, 3, 1, 2}), x.dtype()));
}

}  // namespace cairn::inline v0::onnx
