#include "io/onnx_operators/convolutions.hpp"
#include "io/onnx_operators/point_samples.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::onnx {
namespace {

/// A deformable convolution. Channels in an offset group are sampled at the same places, so each group is an entry of
/// the batch: x is [N * offset groups, C / offset groups, D1, ..].
struct DeformPlan {
    WindowAxes axes;
    std::int64_t offset_groups = 1;
    Dim batch, channels;   ///< of the operator's input
    Dim taps = 1, places;  ///< of a kernel, of the result
    Shape output;          ///< spatial sizes of the result
};

DeformPlan deform_plan(const Node& node, const Tensor& x, const Tensor& w, const Tensor& offset) {
    DeformPlan plan;
    plan.axes = window_axes(node, x.shape(), filter_sizes(node, w.shape()));
    plan.offset_groups = node.integer("offset_group", 1);
    plan.batch = x.dim(0);
    plan.channels = x.dim(1);
    if (plan.offset_groups < 1 || !(plan.channels / plan.offset_groups * plan.offset_groups == plan.channels))
        node.refuse(fmt::format("its {} channels are not sure to be a multiple of {} offset groups",
                                to_string(plan.channels), plan.offset_groups));
    if (offset.rank() != x.rank()) node.refuse("its offsets do not have the rank of its input");
    plan.output.assign(offset.shape().begin() + 2, offset.shape().end());
    plan.places = element_count(plan.output);
    for (std::size_t i = 0; i < plan.axes.size(); ++i) {
        const WindowAxis& axis = plan.axes[i];
        plan.taps *= axis.kernel;
        const Dim padded = x.shape()[i + 2] + axis.before + axis.after;
        if (provably_ne(floordiv(padded - axis.extent(), axis.stride) + 1, plan.output[i]))
            node.refuse(fmt::format("its offsets are for {} places of axis {}, which has others",
                                    to_string(plan.output[i]), i + 2));
    }
    return plan;
}

/// Where the kernel's elements lie along an axis without offsets, in f32 or f64: broadcasts to [1, K1, .., O1, ..].
Tensor regular_positions(Graph graph, const DeformPlan& plan, std::size_t i, DType dtype) {
    const std::size_t axes = plan.axes.size(), rank = 1 + 2 * axes;
    const WindowAxis& axis = plan.axes[i];
    const Tensor tap = along_axis(iota(graph, axis.kernel, DType::i64), 1 + i, rank) * axis.dilation;
    const Tensor place = along_axis(iota(graph, plan.output[i], DType::i64), 1 + axes + i, rank) * axis.stride;
    return cast(tap + place - axis.before, dtype);
}

/// The windows of x at the offset places: [N * offset groups, places of all taps, C / offset groups].
Tensor offset_samples(Graph graph, const DeformPlan& plan, const Tensor& x, const Tensor& offset, DType dtype) {
    const Dim entries = plan.batch * plan.offset_groups;
    const auto axes = static_cast<std::int64_t>(plan.axes.size());
    Shape shape{entries};
    for (const WindowAxis& axis : plan.axes) shape.emplace_back(axis.kernel);
    shape.insert(shape.end(), plan.output.begin(), plan.output.end());
    const Tensor offsets = reshape(cast(offset, dtype), {entries, plan.taps, axes, plan.places});
    std::vector<std::vector<SampleTap>> taps;
    for (std::int64_t i = 0; i < axes; ++i) {
        const auto index = static_cast<std::size_t>(i);
        const Tensor moved = reshape(slice(offsets, 2, i, i + 1), shape) + regular_positions(graph, plan, index, dtype);
        const Tensor flat = reshape(moved, {entries, plan.taps * plan.places});
        taps.push_back(linear_taps(flat, x.shape()[index + 2], dtype, true));
    }
    return samples_at(x, taps, dtype);
}

}  // namespace

void make_deform_conv(Node& node) {
    const std::size_t count = spatial_axes(node);
    const Tensor x = node.tensor(0), w = node.tensor(1), offset = node.tensor(2);
    if (w.rank() != x.rank()) node.refuse(fmt::format("its filters have {} axes for {} spatial ones", w.rank(), count));
    need_elements(node, x.shape());
    const DeformPlan plan = deform_plan(node, x, w, offset);
    const DType wide = interpolation_dtype(x.dtype());
    const Dim entries = plan.batch * plan.offset_groups, channels = plan.channels / plan.offset_groups;
    Shape shape{entries, channels};
    shape.insert(shape.end(), x.shape().begin() + 2, x.shape().end());
    Tensor samples = offset_samples(node.graph(), plan, reshape(x, shape), offset, wide);
    if (node.has(4)) samples = samples * reshape(cast(node.tensor(4), wide), {entries, plan.taps * plan.places, 1});
    const Tensor columns = reshape(swap_axes(samples, 1, 2), {plan.batch, plan.channels * plan.taps, plan.places});
    const Tensor product = grouped_product(node, cast(w, wide), columns, node.integer("group", 1));
    Shape result{plan.batch, w.dim(0)};
    result.insert(result.end(), plan.output.begin(), plan.output.end());
    std::optional<Tensor> bias = node.optional_tensor(3);
    if (bias.has_value()) bias = cast(*bias, wide);
    node.set(0, cast(with_channel_bias(node, reshape(product, result), bias), x.dtype()));
}

}  // namespace cairn::inline v0::onnx
