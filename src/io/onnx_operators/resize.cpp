#include "io/onnx_operators/resizing.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

namespace cairn::inline v0::onnx {
namespace {

template <typename T, std::size_t N>
T resize_value_of_name(const Node& node, std::string_view attribute, std::string_view otherwise,
                       const std::array<std::pair<std::string_view, T>, N>& names) {
    const std::string text = node.text(attribute, otherwise);
    for (const auto& [name, value] : names)
        if (name == text) return value;
    node.refuse(fmt::format("its attribute {} is '{}'", attribute, text));
}

ResizeMode resize_mode(const Node& node) {
    static constexpr std::array<std::pair<std::string_view, ResizeMode>, 3> modes{
        {{"nearest", ResizeMode::nearest}, {"linear", ResizeMode::linear}, {"cubic", ResizeMode::cubic}}};
    return resize_value_of_name(node, "mode", "nearest", modes);
}

ResizePlan resize_plan(const Node& node) {
    using enum ResizeCoordinates;
    static constexpr std::array<std::pair<std::string_view, ResizeCoordinates>, 6> coordinates{
        {{"half_pixel", half_pixel},
         {"half_pixel_symmetric", half_pixel_symmetric},
         {"pytorch_half_pixel", pytorch_half_pixel},
         {"align_corners", align_corners},
         {"asymmetric", asymmetric},
         {"tf_crop_and_resize", crop}}};
    static constexpr std::array<std::pair<std::string_view, ResizeRounding>, 4> roundings{
        {{"round_prefer_floor", ResizeRounding::prefer_lower},
         {"round_prefer_ceil", ResizeRounding::prefer_higher},
         {"floor", ResizeRounding::down},
         {"ceil", ResizeRounding::up}}};
    ResizePlan plan{
        .mode = resize_mode(node),
        .coordinates = resize_value_of_name(node, "coordinate_transformation_mode", "half_pixel", coordinates),
        .rounding = resize_value_of_name(node, "nearest_mode", "round_prefer_floor", roundings),
        .excludes_outside = node.integer("exclude_outside", 0) != 0,
        .antialias = node.integer("antialias", 0) != 0,
        .cubic_a = node.real("cubic_coeff_a", -0.75),
        .extrapolation = node.real("extrapolation_value", 0)};
    if (plan.mode == ResizeMode::nearest) {
        if (plan.antialias) node.refuse("antialiasing is not defined for the mode nearest");
        plan.excludes_outside = false;
    }
    return plan;
}

bool resize_has_input(const Node& node, std::size_t input) {
    return node.has(input) && !(node.rank(input) == 1 && node.shape(input)[0] == Dim(0));
}

std::int64_t constant_resize_size(const Node& node, const Dim& size) {
    if (!size.is_constant())
        node.refuse(fmt::format("keeping the aspect ratio depends on the size {}", to_string(size)));
    return size.constant();
}

/// The sizes of the result, all enlarged by the same factor for another policy than to stretch.
void set_resize_sizes(const Node& node, const Shape& sizes, std::vector<ResizeAxis>& axes) {
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i].out = sizes[i];
    const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
    if (policy == "stretch" || axes.empty()) return;
    if (policy != "not_larger" && policy != "not_smaller")
        node.refuse(fmt::format("its attribute keep_aspect_ratio_policy is '{}'", policy));
    // The factor is the quotient of these two.
    std::int64_t above = 0, below = 0;
    for (const ResizeAxis& axis : axes) {
        const std::int64_t in = constant_resize_size(node, axis.in), out = constant_resize_size(node, axis.out);
        if (in < 1) node.refuse("an axis to resize is empty");
        const bool is_less = below != 0 && out * below < above * in;
        if (below == 0 || is_less == (policy == "not_larger")) above = out, below = in;
    }
    const double scale = static_cast<double>(above) / static_cast<double>(below);
    for (ResizeAxis& axis : axes) {
        const std::int64_t in = axis.in.constant();
        axis.out = (2 * above * in + below) / (2 * below);
        if (axis.out.constant() * below != above * in) axis.scale = scale;
    }
}

void set_resize_parts(const Node& node, std::vector<ResizeAxis>& axes) {
    if (!resize_has_input(node, 1)) node.refuse("its input roi is missing");
    const std::vector<double> roi = node.numbers(1, "roi");
    if (roi.size() != 2 * axes.size())
        node.refuse(fmt::format("roi has {} elements for {} axes", roi.size(), axes.size()));
    for (std::size_t i = 0; i < axes.size(); ++i) {
        axes[i].start = roi[i];
        axes[i].stop = roi[axes.size() + i];
        if (axes[i].scale)
            node.refuse(fmt::format("tf_crop_and_resize is not defined for a scale of {}", *axes[i].scale));
    }
}

/// The factor by which an axis becomes longer, if it is a whole number; 0 if it is none.
std::int64_t whole_resize_factor(const ResizeAxis& axis) {
    if (axis.scale) return 0;
    if (axis.in.is_constant() && axis.out.is_constant())
        return axis.in.constant() > 0 && axis.out.constant() % axis.in.constant() == 0
                   ? axis.out.constant() / axis.in.constant()
                   : 0;
    for (std::int64_t factor = 1; factor <= 64; ++factor)
        if (axis.in * factor == axis.out) return factor;
    return 0;
}

}  // namespace

ResizeAxis axis_by_scale(const Node& node, int axis, const Dim& in, double scale) {
    if (!(scale > 0) || scale > 0x1p24) node.refuse(fmt::format("its scale is {}", scale));
    ResizeAxis result{axis, in, in, scale};
    if (in.is_constant()) {
        const auto size = static_cast<float>(in.constant()), factor = static_cast<float>(scale);
        const auto out = static_cast<std::int64_t>(std::floor(size * factor));
        result.out = out;
        // A scale is the quotient of the sizes if it is the nearest float to it.
        const double quotient = in.constant() > 0 ? static_cast<double>(out) / static_cast<double>(in.constant()) : 0;
        if (in.constant() == 0 || static_cast<float>(quotient) == factor) result.scale.reset();
        return result;
    }
    std::int64_t below = 1;
    while (below < 4096 && scale * static_cast<double>(below) != std::floor(scale * static_cast<double>(below)))
        below *= 2;
    const double above = scale * static_cast<double>(below);
    if (above != std::floor(above))
        node.refuse(
            fmt::format("the size {} times the scale {} is no quotient of small numbers", to_string(in), scale));
    const Dim enlarged = in * static_cast<std::int64_t>(above);
    result.out = floordiv(enlarged, below);
    if (result.out * below == enlarged) result.scale.reset();
    return result;
}

std::optional<Tensor> resized_by_composite(const Tensor& x, const ResizePlan& plan,
                                           const std::vector<ResizeAxis>& axes) {
    using enum ResizeCoordinates;
    if (x.rank() < 3 || plan.mode == ResizeMode::cubic || plan.coordinates == crop) return std::nullopt;
    Shape size(x.shape().begin() + 2, x.shape().end());
    std::vector<int> factors(size.size(), 1);
    bool is_whole = true, is_single = false, shrinks = false;
    for (const ResizeAxis& axis : axes) {
        if (axis.axis < 2 || axis.scale || !provably_le(1, axis.in)) return std::nullopt;
        const auto i = static_cast<std::size_t>(axis.axis) - 2;
        size[i] = axis.out;
        is_single = is_single || !provably_le(2, axis.out);
        shrinks = shrinks || !provably_le(axis.in, axis.out);
        const std::int64_t factor = whole_resize_factor(axis);
        is_whole = is_whole && factor > 0;
        factors[i] = static_cast<int>(factor);
    }
    const bool is_centered = plan.coordinates == half_pixel || plan.coordinates == half_pixel_symmetric ||
                             (plan.coordinates == pytorch_half_pixel && !is_single);
    if (plan.coordinates == pytorch_half_pixel && is_single) return std::nullopt;
    const CoordinateTransformation coordinates = is_centered ? CoordinateTransformation::half_pixel
                                                 : plan.coordinates == align_corners
                                                     ? CoordinateTransformation::align_corners
                                                     : CoordinateTransformation::asymmetric;
    if (plan.mode == ResizeMode::nearest) {
        const bool repeats = is_centered ? plan.rounding == ResizeRounding::prefer_lower ||
                                               plan.rounding == ResizeRounding::prefer_higher
                                         : plan.coordinates == asymmetric && plan.rounding == ResizeRounding::down;
        if (is_whole && repeats) return upsample_nearest(x, factors);
        return resize_nearest(x, size, coordinates, plan.rounding);
    }
    if (plan.antialias && shrinks) return std::nullopt;
    if (is_whole && is_centered) return upsample_linear(x, factors);
    return resize_linear(x, size, coordinates);
}

Tensor resized(const Node& node, const Tensor& x, const ResizePlan& plan, const std::vector<ResizeAxis>& axes) {
    std::vector<ResizeAxis> changed;
    for (const ResizeAxis& axis : axes) {
        const bool is_part = plan.coordinates == ResizeCoordinates::crop && !(axis.start == 0 && axis.stop == 1);
        if (axis.scale || is_part || !(axis.in == axis.out)) changed.push_back(axis);
        if (axis.in == Dim(0) && !(axis.out == Dim(0))) node.refuse("an axis to resize is empty");
        if (!provably_le(0, axis.out)) node.refuse(fmt::format("the size {} may be negative", to_string(axis.out)));
    }
    if (changed.empty()) return x;
    const bool interpolates = plan.mode != ResizeMode::nearest;
    if (interpolates && !is_float(x.dtype()))
        node.refuse("it is not defined how interpolated integers are rounded; cast them to floats before");
    if (std::optional<Tensor> y = resized_by_composite(x, plan, changed)) return *y;
    Tensor y = interpolates ? wide_of(x) : x;
    for (const ResizeAxis& axis : changed)
        y = axis.in.is_constant() && axis.out.is_constant() ? resized_by_table(y, plan, axis)
                                                            : resized_by_coordinates(node, y, plan, axis);
    return as_dtype(y, x.dtype());
}

void make_resize(Node& node) {
    if (node.opset() < 11) return make_upsample(node);
    const Tensor x = node.tensor(0);
    const ResizePlan plan = resize_plan(node);
    std::vector<int> numbers(static_cast<std::size_t>(x.rank()));
    std::iota(numbers.begin(), numbers.end(), 0);
    if (node.has_attribute("axes")) numbers = node.axes(node.integers("axes"), x.rank());
    std::vector<ResizeAxis> axes;
    if (resize_has_input(node, 3)) {
        const Shape sizes = node.sizes(3, "sizes");
        if (sizes.size() != numbers.size())
            node.refuse(fmt::format("sizes has {} elements for {} axes", sizes.size(), numbers.size()));
        for (const int axis : numbers) axes.push_back({axis, x.dim(axis), 0, std::nullopt});
        set_resize_sizes(node, sizes, axes);
    } else {
        const std::vector<double> scales = node.numbers(2, "scales");
        if (scales.size() != numbers.size())
            node.refuse(fmt::format("scales has {} elements for {} axes", scales.size(), numbers.size()));
        for (std::size_t i = 0; i < numbers.size(); ++i)
            axes.push_back(axis_by_scale(node, numbers[i], x.dim(numbers[i]), scales[i]));
    }
    if (plan.coordinates == ResizeCoordinates::crop) set_resize_parts(node, axes);
    node.set(0, resized(node, x, plan, axes));
}

/// The first versions state no coordinates: they are those of `asymmetric`. Which element is the nearest is stated
/// neither; where axes become longer it is the one before.
void make_upsample(Node& node) {
    const Tensor x = node.tensor(0);
    const ResizePlan plan{.mode = node.text("mode", "nearest") == "bilinear" ? ResizeMode::linear : resize_mode(node),
                          .coordinates = ResizeCoordinates::asymmetric,
                          .rounding = ResizeRounding::down};
    if (plan.mode == ResizeMode::cubic) node.refuse("its mode is 'cubic'");
    const std::vector<double> scales = node.has(1) ? node.numbers(1, "scales") : node.reals("scales");
    if (scales.size() != x.shape().size())
        node.refuse(fmt::format("scales has {} elements for {} axes", scales.size(), x.rank()));
    std::vector<ResizeAxis> axes;
    for (int axis = 0; axis < x.rank(); ++axis) {
        const double scale = scales[static_cast<std::size_t>(axis)];
        if (plan.mode == ResizeMode::nearest && scale < 1 && 1 / scale != std::floor(1 / scale))
            node.refuse(fmt::format("it is not defined which element is the nearest for the scale {}", scale));
        axes.push_back(axis_by_scale(node, axis, x.dim(axis), scale));
    }
    node.set(0, resized(node, x, plan, axes));
}

}  // namespace cairn::inline v0::onnx
