#include "graph/composites/sliding_windows.hpp"
#include "graph/composites/typed_name.hpp"

#include <algorithm>

// Convolution as a matrix product of the windows of x, as columns, and the filters (im2col: Chellapilla et al., 2006).
namespace cairn::inline v0 {
namespace {

using namespace composites;

/// The options of one call with an entry for each spatial axis.
struct ConvConfig {
    std::size_t axes;
    WindowParams slide;
    Padding padding;
    Numbers output_padding;
    std::int64_t groups;
};

ConvConfig conv_plan(const CompositeScope& scope, const Operand& x, const Operand& w, const ConvOptions& options,
                     std::size_t axes) {
    need_tensor(scope, "w", w);
    const std::string both = typed_name("x", x) + ", " + typed_name("w", w);
    if (x.tensor().shape().size() != axes + 2 || w.tensor().shape().size() != axes + 2)
        scope.fail("x and w need " + std::to_string(axes + 2) + " axes: " + both);
    if (x.tensor().dtype() != w.tensor().dtype()) scope.fail("dtypes differ, cast one of them: " + both);
    ConvConfig plan{axes, {}, padding_of(scope, options.padding, axes), {}, options.groups};
    for (std::size_t i = 0; i < axes; ++i) {
        const Dim size = w.tensor().shape()[i + 2];
        if (!size.is_constant() || size.constant() < 1)
            scope.fail("the kernel must have constant sizes of at least 1: " + typed_name("w", w));
        plan.slide.size.push_back(size.constant());
    }
    plan.slide.stride = per_axis(scope, "stride", options.stride, axes, 1);
    plan.slide.dilation = per_axis(scope, "dilation", options.dilation, axes, 1);
    plan.output_padding = per_axis(scope, "output_padding", options.output_padding, axes, 0);
    if (options.groups < 1) scope.fail("groups must be at least 1, got " + std::to_string(options.groups));
    return plan;
}

// Rejects an axis that is not provably a multiple of the groups.
void need_multiple(const CompositeScope& scope, const Dim& whole, std::int64_t groups, const std::string& what) {
    if (!(whole / groups * groups == whole))
        scope.fail("the " + to_string(whole) + " channels of " + what + " are not sure to be a multiple of " +
                   std::to_string(groups) + " groups");
}

void check_channels(const CompositeScope& scope, const Operand& x, const Operand& w, const Dim& wanted,
                    const Dim& found) {
    if (!(wanted == found))
        scope.fail("w is for " + to_string(found) + " channels, x has " + to_string(wanted) + ": " +
                   typed_name("x", x) + ", " + typed_name("w", w));
}

// Correlation of x [B, C, S...], already padded, with filters w [O, C / groups, K...].
Tensor correlate(const CompositeScope& scope, const Tensor& x, const Tensor& w, const ConvConfig& plan) {
    const Tensor slides = windows(scope, x, plan.slide);
    const int axes = static_cast<int>(plan.axes);
    std::vector<int> order{0, 1};
    for (int i = 0; i < axes; ++i) order.push_back(2 + axes + i);
    for (int i = 0; i < axes; ++i) order.push_back(2 + i);
    const Dim batch = x.dim(0), filters = w.dim(0);
    Dim taps = w.dim(1), positions = 1;
    Shape shape{batch, filters};
    for (int i = 0; i < axes; ++i) {
        taps *= w.dim(2 + i);
        positions *= slides.dim(2 + i);
        shape.push_back(slides.dim(2 + i));
    }
    const Tensor columns = reshape(transpose(slides, order), {batch, plan.groups, taps, positions});
    const Tensor rows = reshape(w, {plan.groups, filters / plan.groups, taps});
    return reshape(matmul(rows, columns), std::move(shape));
}

Tensor with_bias(const CompositeScope& scope, const Tensor& product, const Operand* b) {
    if (b == nullptr) return product;
    need_tensor(scope, "b", *b);
    if (b->tensor().rank() != 1 || !(b->tensor().dim(0) == product.dim(1)))
        scope.fail("b must have the " + to_string(product.dim(1)) +
                   " channels of the result as its only axis: " + typed_name("b", *b));
    Shape shape(product.shape().size() - 1, 1);
    shape[0] = product.dim(1);
    return product + reshape(*b, std::move(shape));
}

Tensor convolve(const CompositeScope& scope, const Operand& x, const Operand& w, const Operand* b,
                const ConvOptions& options, std::size_t axes) {
    const ConvConfig plan = conv_plan(scope, x, w, options, axes);
    if (std::any_of(plan.output_padding.begin(), plan.output_padding.end(), [](std::int64_t n) { return n != 0; }))
        scope.fail("output_padding belongs to transposed convolutions");
    need_multiple(scope, x.tensor().dim(1), plan.groups, typed_name("x", x));
    check_channels(scope, x, w, x.tensor().dim(1), w.tensor().dim(1) * plan.groups);
    need_multiple(scope, w.tensor().dim(0), plan.groups, typed_name("w", w));
    Tensor padded = x.tensor();
    for (std::size_t i = 0; i < axes; ++i)
        padded = pad(padded, static_cast<int>(i) + 2, plan.padding.before[i], plan.padding.behind[i]);
    return with_bias(scope, correlate(scope, padded, w.tensor(), plan), b);
}

// x with stride - 1 zeros between the elements of an axis.
Tensor insert_zeros(const CompositeScope& scope, const Tensor& x, int axis, std::int64_t stride) {
    if (stride == 1) return x;
    const Dim size = x.dim(axis), wide = size * stride;
    if (!provably_le(1, size)) scope.fail("axis " + std::to_string(axis) + " may be empty: " + typed_name("x", x));
    Shape shape = x.shape();
    shape[static_cast<std::size_t>(axis)] = wide;
    const Tensor apart = pad(unsqueeze(x, axis + 1), axis + 1, 0, stride - 1);
    return slice(reshape(apart, std::move(shape)), axis, 0, wide - (stride - 1));
}

// x with zeros added at both ends of an axis; a negative count removes elements.
Tensor pad_or_crop(const CompositeScope& scope, const Tensor& x, int axis, std::int64_t before, std::int64_t behind) {
    const Tensor padded = pad(x, axis, std::max<std::int64_t>(before, 0), std::max<std::int64_t>(behind, 0));
    const Dim start = std::max<std::int64_t>(-before, 0), stop = padded.dim(axis) - std::max<std::int64_t>(-behind, 0);
    if (!provably_le(start, stop))
        scope.fail("the padding may be more than axis " + std::to_string(axis) +
                   " of the result has: " + typed_name("x", x));
    return slice(padded, axis, start, stop);
}

// The elements of an axis in reverse order.
Tensor reverse_axis(const Tensor& x, int axis) {
    const std::int64_t size = x.dim(axis).constant();
    std::vector<std::int32_t> backwards;
    for (std::int64_t k = size; k-- > 0;) backwards.push_back(static_cast<std::int32_t>(k));
    return gather(x, Graph(x.graph()).constant(backwards, {size}), axis);
}

// Filters w [C, O / groups, K...] of a transposed convolution as those of a correlation: [O, C / groups, K...],
// flipped.
Tensor transposed_filters(const Tensor& w, const ConvConfig& plan) {
    const Dim inside = w.dim(0) / plan.groups;
    Shape apart{plan.groups, inside, w.dim(1)}, together{w.dim(1) * plan.groups, inside};
    std::vector<int> order{0, 2, 1};
    for (std::size_t i = 0; i < plan.axes; ++i) {
        apart.push_back(plan.slide.size[i]);
        together.push_back(plan.slide.size[i]);
        order.push_back(static_cast<int>(i) + 3);
    }
    Tensor filters = reshape(transpose(reshape(w, std::move(apart)), order), std::move(together));
    for (std::size_t i = 0; i < plan.axes; ++i) filters = reverse_axis(filters, static_cast<int>(i) + 2);
    return filters;
}

/// One axis of a transposed convolution without dilation. Element m of the result is element `skipped` + m of the
/// interleaved phases. Each phase is a correlation of x, grown by `before` and `behind`, with `taps` taps.
struct OutputPhases {
    std::int64_t stride, taps, before, behind, skipped;
    Dim size;  ///< of the result

    OutputPhases(const ConvConfig& plan, std::size_t i, const Dim& length)
        : stride(plan.slide.stride[i]), taps((plan.slide.size[i] + stride - 1) / stride) {
        const std::int64_t more = plan.slide.size[i] - stride + plan.output_padding[i] - plan.padding.behind[i],
                           cropped = plan.padding.before[i] / stride;
        before = taps - 1 - cropped;
        behind = more > 0 ? (more + stride - 1) / stride : -(-more / stride);
        skipped = plan.padding.before[i] % stride;
        size = length * stride + (more - plan.padding.before[i]);
    }
    /// True if x and the result are provably not empty, and x has the elements that negative growth removes.
    bool fits(const Dim& length) const {
        return provably_le(1, length) && provably_le(1, size) &&
               provably_le(std::max<std::int64_t>(-before, 0) + std::max<std::int64_t>(-behind, 0), length);
    }
};

/// Filters w [C, O / groups, K...] of the transposed convolution as those of the correlations of all phases:
/// [O * strides..., C / groups, taps...], flipped. Phase r uses the taps r, r + stride, ...; taps after the last are
/// 0.
Tensor filters_of_phases(const Tensor& w, const ConvConfig& plan, const std::vector<OutputPhases>& phases) {
    const int axes = static_cast<int>(plan.axes);
    const Dim inside = w.dim(0) / plan.groups;
    Tensor filters = w;
    Shape apart{plan.groups, inside, w.dim(1)}, together{w.dim(1) * plan.groups, inside};
    std::vector<int> order{0, 2};
    for (int i = 0; i < axes; ++i) {
        const OutputPhases& p = phases[static_cast<std::size_t>(i)];
        filters = pad(filters, 2 + i, 0, p.taps * p.stride - plan.slide.size[static_cast<std::size_t>(i)]);
        apart.insert(apart.end(), {p.taps, p.stride});
        together[0] *= p.stride;
        together.push_back(p.taps);
        order.push_back(4 + 2 * i);
    }
    order.push_back(1);
    for (int i = 0; i < axes; ++i) order.push_back(3 + 2 * i);
    filters = reshape(transpose(reshape(filters, std::move(apart)), order), std::move(together));
    for (int i = 0; i < axes; ++i) filters = reverse_axis(filters, 2 + i);
    return filters;
}

/// Transposed convolution without dilation, as one correlation of x with filters for each phase of the result (an index
/// modulo the stride), whose results are interleaved (sub-pixel convolution: Shi et al., arXiv 1609.05158). No zeros
/// are put between the elements of x: they would take memory and be multiplied.
Tensor convolve_by_phases(const CompositeScope& scope, const Tensor& x, const Tensor& w, ConvConfig plan,
                          const std::vector<OutputPhases>& phases) {
    const Tensor filters = filters_of_phases(w, plan, phases);
    Tensor wide = x;
    for (std::size_t i = 0; i < plan.axes; ++i) {
        wide = pad_or_crop(scope, wide, static_cast<int>(i) + 2, phases[i].before, phases[i].behind);
        plan.slide.size[i] = phases[i].taps;
        plan.slide.stride[i] = 1;
    }
    // Channels are split after a transpose: a reshape directly after the correlation would merge with its own reshape.
    const Tensor correlated = correlate(scope, wide, filters, plan);
    const int axes = static_cast<int>(plan.axes);
    std::vector<int> channels_last{0}, order{0, 1 + axes};
    Shape apart{x.dim(0)}, together{x.dim(0), w.dim(1) * plan.groups};
    for (int i = 0; i < axes; ++i) {
        const std::int64_t stride = phases[static_cast<std::size_t>(i)].stride;
        channels_last.push_back(2 + i);
        apart.push_back(correlated.dim(2 + i));
        together.push_back(correlated.dim(2 + i) * stride);
        order.insert(order.end(), {1 + i, 2 + axes + i});
    }
    channels_last.push_back(1);
    apart.push_back(w.dim(1) * plan.groups);
    for (const OutputPhases& p : phases) apart.push_back(p.stride);
    const Tensor cut = reshape(transpose(correlated, channels_last), std::move(apart));
    Tensor result = reshape(transpose(cut, order), std::move(together));
    for (int i = 0; i < axes; ++i) {
        const OutputPhases& p = phases[static_cast<std::size_t>(i)];
        result = slice(result, 2 + i, p.skipped, p.size + p.skipped);
    }
    return result;
}

/// The phases of each axis. Empty if there is only one, if windows are dilated, or if a phase does not provably fit.
std::vector<OutputPhases> phases_of(const Tensor& x, const ConvConfig& plan) {
    std::vector<OutputPhases> phases;
    bool is_strided = false;
    for (std::size_t i = 0; i < plan.axes; ++i) {
        const Dim length = x.dim(static_cast<int>(i) + 2);
        phases.emplace_back(plan, i, length);
        if (plan.slide.dilation[i] > 1 || !phases.back().fits(length)) return {};
        is_strided = is_strided || phases.back().stride > 1;
    }
    return is_strided ? phases : std::vector<OutputPhases>();
}

Tensor convolve_transposed(const CompositeScope& scope, const Operand& x, const Operand& w, const Operand* b,
                           const ConvOptions& options, std::size_t axes) {
    ConvConfig plan = conv_plan(scope, x, w, options, axes);
    need_multiple(scope, x.tensor().dim(1), plan.groups, typed_name("x", x));
    check_channels(scope, x, w, x.tensor().dim(1), w.tensor().dim(0));
    for (std::size_t i = 0; i < axes; ++i)
        if (const std::int64_t more = plan.output_padding[i];
            more >= std::max(plan.slide.stride[i], plan.slide.dilation[i]))
            scope.fail("output_padding must be below stride or dilation, got " + std::to_string(more));
    if (const std::vector<OutputPhases> phases = phases_of(x.tensor(), plan); !phases.empty())
        return with_bias(scope, convolve_by_phases(scope, x.tensor(), w.tensor(), plan, phases), b);
    Tensor wide = x.tensor();
    for (std::size_t i = 0; i < axes; ++i) {
        const int axis = static_cast<int>(i) + 2;
        const std::int64_t more = plan.output_padding[i];
        const std::int64_t reach = plan.slide.dilation[i] * (plan.slide.size[i] - 1);
        wide = pad_or_crop(scope, insert_zeros(scope, wide, axis, plan.slide.stride[i]), axis,
                           reach - plan.padding.before[i], reach - plan.padding.behind[i] + more);
        plan.slide.stride[i] = 1;
    }
    return with_bias(scope, correlate(scope, wide, transposed_filters(w.tensor(), plan), plan), b);
}

}  // namespace

Tensor conv1d(const Operand& x, const Operand& w, const ConvOptions& options) {
    const CompositeScope scope("conv1d", x);
    return convolve(scope, x, w, nullptr, options, 1);
}

Tensor conv1d(const Operand& x, const Operand& w, const Operand& b, const ConvOptions& options) {
    const CompositeScope scope("conv1d", x);
    return convolve(scope, x, w, &b, options, 1);
}

Tensor conv2d(const Operand& x, const Operand& w, const ConvOptions& options) {
    const CompositeScope scope("conv2d", x);
    return convolve(scope, x, w, nullptr, options, 2);
}

Tensor conv2d(const Operand& x, const Operand& w, const Operand& b, const ConvOptions& options) {
    const CompositeScope scope("conv2d", x);
    return convolve(scope, x, w, &b, options, 2);
}

Tensor conv_transpose1d(const Operand& x, const Operand& w, const ConvOptions& options) {
    const CompositeScope scope("conv_transpose1d", x);
    return convolve_transposed(scope, x, w, nullptr, options, 1);
}

Tensor conv_transpose1d(const Operand& x, const Operand& w, const Operand& b, const ConvOptions& options) {
    const CompositeScope scope("conv_transpose1d", x);
    return convolve_transposed(scope, x, w, &b, options, 1);
}

Tensor conv_transpose2d(const Operand& x, const Operand& w, const ConvOptions& options) {
    const CompositeScope scope("conv_transpose2d", x);
    return convolve_transposed(scope, x, w, nullptr, options, 2);
}

Tensor conv_transpose2d(const Operand& x, const Operand& w, const Operand& b, const ConvOptions& options) {
    const CompositeScope scope("conv_transpose2d", x);
    return convolve_transposed(scope, x, w, &b, options, 2);
}

}  // namespace cairn::inline v0
