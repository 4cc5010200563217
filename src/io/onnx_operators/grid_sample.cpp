#include "io/onnx_operators/cubic_convolution.hpp"
#include "io/onnx_operators/point_samples.hpp"
#include "io/onnx_operators/sampling.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <string>

namespace cairn::inline v0::onnx {
namespace {

enum class GridPadding : std::uint8_t { zeros, border, reflection };
enum class GridMode : std::uint8_t { nearest, linear, cubic };

struct GridPlan {
    GridMode mode = GridMode::linear;
    GridPadding padding = GridPadding::zeros;
    bool align_corners = false;
    DType dtype = DType::f32;  ///< of interpolated elements
};

GridPlan grid_plan(const Node& node) {
    GridPlan plan;
    const std::string mode = node.text("mode", "linear"), padding = node.text("padding_mode", "zeros");
    if (mode == "nearest")
        plan.mode = GridMode::nearest;
    else if (mode == "cubic" || mode == "bicubic")
        plan.mode = GridMode::cubic;
    else if (mode != "linear" && mode != "bilinear")
        node.refuse(fmt::format("its mode is '{}'", mode));
    if (padding == "border")
        plan.padding = GridPadding::border;
    else if (padding == "reflection")
        plan.padding = GridPadding::reflection;
    else if (padding != "zeros")
        node.refuse(fmt::format("its padding_mode is '{}'", padding));
    if (plan.mode == GridMode::cubic && plan.padding == GridPadding::border)
        node.refuse(
            "cubic interpolation beyond the border is defined in two ways: of the border's element alone, or of "
            "its neighbours too");
    plan.align_corners = node.integer("align_corners", 0) != 0;
    const DType dtype = node.dtype(0);
    if (dtype == DType::boolean && plan.mode != GridMode::nearest) node.refuse("booleans cannot be interpolated");
    plan.dtype = plan.mode == GridMode::nearest ? dtype : interpolation_dtype(dtype);
    return plan;
}

/// The ends of an axis, which lie at the centers of the outer elements, or half an element beyond.
struct GridBorder {
    Dim twice_low, twice_high;
    GridBorder(const Dim& size, bool align_corners)
        : twice_low(align_corners ? 0 : -1), twice_high(align_corners ? 2 * size - 2 : 2 * size - 1) {}
};

/// Positions reflected at both ends until they lie between them.
Tensor grid_reflected(const Tensor& position, const Dim& size, bool align_corners) {
    const GridBorder border(size, align_corners);
    Graph graph(position.graph());
    const DType dtype = position.dtype();
    const Tensor low = graph.constant(dtype, border.twice_low) / 2, high = graph.constant(dtype, border.twice_high) / 2;
    // A single element has ends that coincide if corners are aligned.
    const Tensor range = max(high - low, graph.constant(dtype, align_corners ? 1 : 0) / 2);
    const Tensor period = 2 * range, away = position - low, phase = away - floor(away / period) * period;
    const Tensor folded = low + where(phase <= range, phase, period - phase);
    return where(position < low || position > high, min(max(folded, low), high), position);
}

/// Where the normalized coordinates of the grid lie on an axis, in elements.
Tensor grid_positions(const Tensor& normalized, const Dim& size, const GridPlan& plan) {
    Tensor position = plan.align_corners ? (normalized + 1) / 2 * (size - 1) : ((normalized + 1) * size - 1) / 2;
    if (plan.mode == GridMode::nearest) position = round(position);
    if (plan.padding == GridPadding::zeros) return position;
    if (plan.padding == GridPadding::reflection) return grid_reflected(position, size, plan.align_corners);
    // Only what lies beyond the border moves to the outer element.
    const GridBorder border(size, plan.align_corners);
    const Tensor twice = position * 2;
    return where(twice < border.twice_low || twice > border.twice_high, clamp(position, 0.0, size - 1), position);
}

/// The element at a whole position, which may lie outside.
SampleTap grid_tap(const Tensor& position, const Dim& size, const GridPlan& plan) {
    SampleTap tap;
    const bool reflects = plan.padding == GridPadding::reflection && plan.mode == GridMode::cubic;
    tap.index = clamped_index(reflects ? grid_reflected(position, size, plan.align_corners) : position, size);
    if (plan.padding == GridPadding::zeros) tap.inside = position >= 0.0 && position < size;
    return tap;
}

/// The four elements around a position with weights of cubic convolution (Keys, 1981) for a = -3/4.
std::vector<SampleTap> grid_cubic_taps(const Tensor& position, const Dim& size, const GridPlan& plan) {
    const double a = -0.75;
    const Tensor low = floor(position), t = cast(position - low, plan.dtype);
    std::vector<SampleTap> taps;
    for (int k = -1; k <= 2; ++k) {
        taps.push_back(grid_tap(low + k, size, plan));
        const Tensor distance = k <= 0 ? t - k : k - t;
        taps.back().weight = k == 0 || k == 1 ? cubic_weight_near(distance, a) : cubic_weight_far(distance, a);
    }
    return taps;
}

std::vector<SampleTap> grid_taps(const Tensor& position, const Dim& size, const GridPlan& plan) {
    switch (plan.mode) {
        case GridMode::nearest: return {grid_tap(position, size, plan)};
        case GridMode::cubic: return grid_cubic_taps(position, size, plan);
        case GridMode::linear: break;
    }
    return linear_taps(position, size, plan.dtype, plan.padding == GridPadding::zeros);
}

}  // namespace

void make_grid_sample(Node& node) {
    const Tensor x = node.tensor(0), grid = node.tensor(1);
    const int axes = x.rank() - 2;
    if (axes < 1 || grid.rank() != x.rank() || !(grid.dim(-1) == Dim(axes)) || !(grid.dim(0) == x.dim(0)))
        node.refuse(fmt::format("its grid is {} for an input {}", to_string(grid.shape()), to_string(x.shape())));
    need_elements(node, x.shape());
    const GridPlan plan = grid_plan(node);
    const Tensor places = float_of(grid);
    std::vector<std::vector<SampleTap>> taps;
    for (int i = 0; i < axes; ++i) {
        // Coordinates are those of the last axis first.
        const Tensor normalized = squeeze(slice(places, -1, axes - 1 - i, axes - i), -1);
        const Dim size = x.dim(2 + i);
        taps.push_back(grid_taps(grid_positions(normalized, size, plan), size, plan));
    }
    const Tensor samples = samples_at(x, taps, plan.dtype);
    std::vector<int> order{0, 1 + axes};
    for (int i = 0; i < axes; ++i) order.push_back(1 + i);
    node.set(0, cast(transpose(samples, order), x.dtype()));
}

}  // namespace cairn::inline v0::onnx
