#include "graph/composites/f32_compute.hpp"
#include "graph/composites/sliding_windows.hpp"
#include "graph/composites/typed_name.hpp"

#include <algorithm>
#include <limits>

namespace cairn::inline v0 {
namespace {

using namespace composites;

struct PoolPlan {
    WindowParams slide;
    Padding padding;
    Numbers overhang;  ///< elements after the padding that the last window of ceil_mode reads
};

// How far windows reach beyond the padded axis if their number is rounded up. No window begins after x.
std::int64_t overhang(const PoolPlan& plan, std::size_t i, std::int64_t size) {
    const std::int64_t stride = plan.slide.stride[i], extent = plan.slide.dilation[i] * (plan.slide.size[i] - 1) + 1;
    const std::int64_t padded = size + plan.padding.before[i] + plan.padding.behind[i];
    std::int64_t last = (std::max<std::int64_t>(padded - extent, 0) + stride - 1) / stride * stride;
    if (last >= size + plan.padding.before[i]) last -= stride;
    return std::max<std::int64_t>(last + extent - padded, 0);
}

PoolPlan pool_plan(const CompositeScope& scope, const Operand& x, const IntList& kernel, const PoolOptions& options) {
    const std::string shown = typed_name("x", x);
    if (x.tensor().rank() < 3) scope.fail("x needs a spatial axis behind [B, C]: " + shown);
    const std::size_t axes = x.tensor().shape().size() - 2;
    PoolPlan plan;
    plan.slide.size = per_axis(scope, "kernel", kernel, axes, 1);
    const bool has_stride = !options.stride.values().empty();
    plan.slide.stride = has_stride ? per_axis(scope, "stride", options.stride, axes, 1) : plan.slide.size;
    plan.slide.dilation = per_axis(scope, "dilation", options.dilation, axes, 1);
    plan.padding = padding_of(scope, options.padding, axes);
    plan.overhang.assign(axes, 0);
    for (std::size_t i = 0; i < axes; ++i) {
        const std::int64_t most = std::max(plan.padding.before[i], plan.padding.behind[i]);
        if (most >= plan.slide.size[i])
            scope.fail("padding must be below the kernel's size, got " + std::to_string(most) + " for " +
                       std::to_string(plan.slide.size[i]) + ": " + shown);
        const Dim size = x.tensor().shape()[i + 2];
        if (options.ceil_mode && !size.is_constant())
            scope.fail("ceil_mode needs spatial axes of constant size: " + shown);
        if (options.ceil_mode) plan.overhang[i] = overhang(plan, i, size.constant());
    }
    return plan;
}

// The windows [B, C, P..., K...]; elements outside x are `value`.
Tensor padded_windows(const CompositeScope& scope, const Tensor& x, const PoolPlan& plan, double value) {
    Tensor wide = x;
    for (std::size_t i = 0; i < plan.overhang.size(); ++i)
        wide = pad(wide, static_cast<int>(i) + 2, plan.padding.before[i], plan.padding.behind[i] + plan.overhang[i],
                   value);
    return windows(scope, wide, plan.slide);
}

std::vector<int> last_axes(std::size_t count) {
    std::vector<int> axes;
    for (std::size_t i = 1; i <= count; ++i) axes.push_back(-static_cast<int>(i));
    return axes;
}

double below_all(DType dtype) {
    switch (dtype) {
        case DType::i64: return -0x1p63;
        case DType::i32: return -0x1p31;
        case DType::i8: return -128;
        case DType::u8: return 0;
        default: return -std::numeric_limits<double>::infinity();
    }
}

// Number of elements that count in each window along one spatial axis: [P, 1, ..], in the dtype of x.
Tensor window_counts(const Tensor& x, const PoolPlan& plan, std::size_t i, bool count_padding) {
    const Tensor one = Graph(x.graph()).constant(x.dtype(), 1);
    const Tensor padded_ones = pad(broadcast(one, {x.shape()[i + 2]}), 0, plan.padding.before[i],
                                   plan.padding.behind[i], count_padding ? 1 : 0);
    const Tensor slides = window(pad(padded_ones, 0, 0, plan.overhang[i]), 0, plan.slide.size[i], plan.slide.stride[i],
                                 plan.slide.dilation[i]);
    Shape shape(x.shape().size() - 2 - i, 1);
    shape[0] = slides.dim(0);
    return reshape(sum(slides, -1), std::move(shape));
}

}  // namespace

Tensor max_pool(const Operand& x, const IntList& kernel, const PoolOptions& options) {
    const CompositeScope scope("max_pool", x);
    const PoolPlan plan = pool_plan(scope, x, kernel, options);
    if (options.count_padding) scope.fail("count_padding belongs to avg_pool");
    if (x.tensor().dtype() == DType::boolean) scope.fail("needs numbers, not booleans: " + typed_name("x", x));
    const Tensor slides = padded_windows(scope, x.tensor(), plan, below_all(x.tensor().dtype()));
    return max_reduce(slides, last_axes(plan.overhang.size()));
}

Tensor avg_pool(const Operand& x, const IntList& kernel, const PoolOptions& options) {
    const CompositeScope scope("avg_pool", x);
    const PoolPlan plan = pool_plan(scope, x, kernel, options);
    if (!is_float(x.tensor().dtype())) scope.fail("needs a float dtype: " + typed_name("x", x));
    std::int64_t whole = 1;
    std::vector<std::size_t> counted;  // spatial axes whose windows count different numbers of elements
    for (std::size_t i = 0; i < plan.overhang.size(); ++i) {
        const bool padded = plan.padding.before[i] + plan.padding.behind[i] > 0 && !options.count_padding;
        if (padded || plan.overhang[i] > 0)
            counted.push_back(i);
        else
            whole *= plan.slide.size[i];
    }
    // Kernels for 16-bit floats read windows of the image before the cast, and divide by one number.
    if (counted.empty()) {
        const Tensor slides = widened(padded_windows(scope, x.tensor(), plan, 0));
        return narrowed(sum(slides, last_axes(plan.overhang.size())) / whole, x);
    }
    const Tensor wide = widened(x);
    Tensor result = sum(padded_windows(scope, wide, plan, 0), last_axes(plan.overhang.size()));
    for (const std::size_t i : counted) result /= window_counts(wide, plan, i, options.count_padding);
    return narrowed(result / whole, x);
}

}  // namespace cairn::inline v0
