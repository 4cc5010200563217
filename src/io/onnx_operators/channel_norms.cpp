#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <array>

namespace cairn::inline v0::onnx {
namespace {

/// The input of a norm as [B, C, ..]: without C it has one channel.
Tensor with_channels(const Tensor& x) { return x.rank() == 1 ? unsqueeze(x, 1) : x; }

/// x [B, C, ..] and its parameters [C].
struct ChannelNorm {
    Tensor x, scale, bias, mean, var;
};

/// All operands in one dtype, the result in that of x.
Tensor batch_normalized(const Node& node, ChannelNorm norm, double eps) {
    const DType dtype = norm.x.dtype();
    bool is_one = true, is_f64 = false;
    for (const Tensor& tensor : {norm.x, norm.scale, norm.bias, norm.mean, norm.var}) {
        is_one = is_one && tensor.dtype() == dtype;
        is_f64 = is_f64 || tensor.dtype() == DType::f64;
    }
    if (!is_one)
        for (Tensor* const tensor : {&norm.x, &norm.scale, &norm.bias, &norm.mean, &norm.var})
            *tensor = as_dtype(*tensor, is_f64 ? DType::f64 : DType::f32);
    const Tensor y = batch_norm(norm.x, norm.scale, norm.bias, norm.mean, norm.var, eps);
    return as_dtype(reshape(y, node.shape(0)), dtype);
}

/// Normalizes with the statistics of the batch, and mixes them with the running ones.
void make_training_batch_norm(Node& node, ChannelNorm norm, double eps) {
    const double momentum = node.real("momentum", 0.9f);
    const Tensor wide = wide_of(norm.x);
    std::vector<int> axes;
    for (int axis = 0; axis < wide.rank(); ++axis)
        if (axis != 1) axes.push_back(axis);
    const Tensor current[] = {mean(wide, axes), variance(wide, axes)}, running[] = {norm.mean, norm.var};
    for (std::size_t i = 0; i < 2; ++i) {
        if (!node.wants(i + 1)) continue;
        const DType dtype = running[i].dtype();
        const Tensor kept = wide_of(running[i]) * momentum;
        const Tensor added = as_dtype(current[i], kept.dtype()) * (1 - momentum);
        node.set(i + 1, as_dtype(kept + added, dtype));
    }
    norm.mean = current[0];
    norm.var = current[1];
    node.set(0, batch_normalized(node, norm, eps));
}

void make_batch_norm(Node& node) {
    const double eps = node.real("epsilon", 1e-5f);
    const ChannelNorm norm{with_channels(node.tensor(0)), node.tensor(1), node.tensor(2), node.tensor(3),
                           node.tensor(4)};
    if (node.integer("spatial", 1) == 0 && norm.x.rank() > 2)
        node.refuse("it has statistics for each position (spatial = 0)");
    if (node.integer("training_mode", 0) != 0) return make_training_batch_norm(node, norm, eps);
    for (std::size_t output = 1; output < node.output_count(); ++output)
        if (node.wants(output)) node.refuse("it is in training mode, as its further outputs say");
    node.set(0, batch_normalized(node, norm, eps));
}

void make_instance_norm(Node& node) {
    const double eps = node.real("epsilon", 1e-5f);
    const Tensor x = node.tensor(0), scale = node.tensor(1), bias = node.tensor(2);
    // Without positions each channel has one.
    const Tensor positions = x.rank() == 2 ? unsqueeze(x, 2) : x;
    node.set(0, reshape(instance_norm(positions, scale, bias, eps), x.shape()));
}

/// The parameters of groups, repeated for each of their channels.
Tensor of_channels(const Node& node, const Tensor& parameter, const Dim& channels, int groups) {
    if (!(channels % groups == Dim(0)))
        node.refuse(fmt::format("its {} channels are not sure to be a multiple of {} groups",
                                cairn::to_string(channels), groups));
    return repeat(parameter, channels / groups, 0);
}

void make_group_norm(Node& node) {
    const double eps = node.real("epsilon", 1e-5f);
    const std::int64_t count = node.integer("num_groups");
    if (count < 1 || count > 1 << 30) node.refuse(fmt::format("its number of groups is {}", count));
    const int groups = static_cast<int>(count);
    const Tensor x = node.tensor(0);
    if (x.rank() < 2) node.refuse("its input has no axis of channels");
    Tensor scale = node.tensor(1), bias = node.tensor(2);
    if (node.opset() < 21) {
        scale = of_channels(node, scale, x.dim(1), groups);
        bias = of_channels(node, bias, x.dim(1), groups);
    }
    node.set(0, group_norm(x, groups, scale, bias, eps));
}

constexpr std::array<Operator, 3> channel_norm_rows{{{"BatchNormalization", 7, make_batch_norm},
                                                     {"InstanceNormalization", 6, make_instance_norm},
                                                     {"GroupNormalization", 18, make_group_norm}}};

}  // namespace

std::span<const Operator> channel_norm_operators() { return channel_norm_rows; }

}  // namespace cairn::inline v0::onnx
