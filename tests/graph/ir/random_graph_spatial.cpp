#include "tests/graph/ir/random_graph_builder.hpp"

#include <algorithm>
#include <cmath>

/// Steps on images [B, C, L] and [B, C, H, W]: convolutions, pools, resizing, channel norms; sorts; and sizes that are
/// polynomials of symbols.
namespace cairn::test {

/// Symbols of wider ranges, and what models compute from them: N - 1, N + 1, 2 N - 1, N M, floordiv(N, 2), 9 - N.
void RandomGraphBuilder::derived_sizes() {
    const char* const names[] = {"H", "W"};
    std::vector<Dim> made;
    for (int i = 0; i < 1 + random_.below(2); ++i) {
        const std::int64_t low = random_.between(0, 5), high = low + random_.between(0, random_.one_in(4) ? 40 : 9);
        const Dim n = graph_.symbol(names[i], low, high);
        made.push_back(n);
        for (int more = random_.below(3); more > 0; --more) {
            switch (random_.below(7)) {
                case 0: made.push_back(low >= 1 ? n - 1 : n + 2); break;
                case 1: made.push_back(n + 1); break;
                case 2: made.push_back(low >= 1 ? 2 * n - 1 : 2 * n); break;
                case 3: made.push_back(floordiv(n, 2)); break;
                case 4: made.push_back(ceildiv(n, 3)); break;
                case 5: made.push_back(high + 2 - n); break;
                default: made.push_back(random_.pick(made) * n);
            }
        }
    }
    for (const Dim& size : made)
        if (size.upper_bound() <= 256) sizes_.push_back(size);
}

/// A value with `axes` spatial axes and a constant number of channels: an existing one, with leading axes of size 1
/// added, or a leaf.
BoundedValue RandomGraphBuilder::image(int axes) {
    for (int tries = 0; tries < 3; ++tries) {
        const BoundedValue& x = any_float();
        if (x.tensor.rank() == 0 || x.tensor.rank() > axes + 2) continue;
        Shape shape = x.tensor.shape();
        while (shape.size() < static_cast<std::size_t>(axes) + 2) shape.insert(shape.begin(), Dim(1));
        const bool fits =
            shape[1].is_constant() && shape[1].constant() >= 1 && shape[1].constant() <= 4 &&
            std::all_of(shape.begin() + 2, shape.end(), [](const Dim& d) { return d.lower_bound() >= 1; });
        if (!fits) continue;
        BoundedValue result = x;
        if (shape.size() > static_cast<std::size_t>(x.tensor.rank())) result.tensor = reshape(x.tensor, shape);
        return result;
    }
    Shape shape = {random_.one_in(2) ? Dim(1) : any_size(), random_.between(1, 4)};
    for (int i = 0; i < axes; ++i) {
        const Dim size = any_size();
        shape.push_back(size.lower_bound() >= 1 ? size : size + 1);
    }
    while (element_count(shape).upper_bound() > max_elements) {
        const auto largest = std::max_element(
            shape.begin(), shape.end(), [](const Dim& a, const Dim& b) { return a.upper_bound() < b.upper_bound(); });
        *largest = random_.between(1, 5);
    }
    return leaf(shape);
}

/// Numbers for each spatial axis, or one for all.
IntList RandomGraphBuilder::each_axis(int axes, int low, int high) {
    if (random_.one_in(2)) return static_cast<int>(random_.between(low, high));
    std::vector<int> numbers;
    for (int i = 0; i < axes; ++i) numbers.push_back(static_cast<int>(random_.between(low, high)));
    return numbers;
}

/// Keeps a value, scaled down if its bound is too large.
bool RandomGraphBuilder::keep_scaled(const Tensor& tensor, double limit, double error, int quantum) {
    if (limit <= 64) return keep(tensor, limit, error, quantum);
    const double scale = std::exp2(-std::ceil(std::log2(limit / 32)));
    return keep(tensor * scale, limit * scale, (error + limit) * scale);
}

bool RandomGraphBuilder::convolve() {
    const int axes = random_.one_in(3) ? 1 : 2;
    const bool is_transposed = random_.one_in(3);
    const BoundedValue x = image(axes);
    const std::int64_t channels = x.tensor.dim(1).constant();
    ConvOptions options;
    options.groups = static_cast<int>(random_.one_in(2) ? 1 : random_.one_in(2) ? channels : channels % 2 == 0 ? 2 : 1);
    options.stride = random_.one_in(2) ? IntList(1) : each_axis(axes, 1, 3);
    options.dilation = random_.one_in(2) ? IntList(1) : each_axis(axes, 1, 2);
    if (!random_.one_in(3)) options.padding = each_axis(axes, 0, 2);
    if (random_.one_in(4)) options.padding = each_axis(2 * axes, 0, 2);
    if (is_transposed && random_.one_in(3)) options.output_padding = each_axis(axes, 0, 1);
    const std::int64_t filters = options.groups * random_.between(1, 3);
    Shape shape = is_transposed ? Shape{channels, filters / options.groups} : Shape{filters, channels / options.groups};
    double taps = static_cast<double>(is_transposed ? channels : channels / options.groups);
    for (int i = 0; i < axes; ++i) {
        const std::int64_t size = random_.between(1, 3);
        shape.push_back(size);
        taps *= static_cast<double>(size);
    }
    const BoundedValue w = leaf(shape);
    const bool has_bias = random_.one_in(2);
    const BoundedValue b = has_bias ? leaf({filters}) : BoundedValue{};
    Tensor y;
    const Tensor &in = x.tensor, &weights = w.tensor, &bias = b.tensor;
    if (axes == 1 && is_transposed)
        y = has_bias ? conv_transpose1d(in, weights, bias, options) : conv_transpose1d(in, weights, options);
    else if (axes == 1)
        y = has_bias ? conv1d(in, weights, bias, options) : conv1d(in, weights, options);
    else if (is_transposed)
        y = has_bias ? conv_transpose2d(in, weights, bias, options) : conv_transpose2d(in, weights, options);
    else
        y = has_bias ? conv2d(in, weights, bias, options) : conv2d(in, weights, options);
    const double limit = taps * x.limit * w.limit + 2;
    return keep_scaled(y, limit, taps * w.limit * x.error + taps * limit,
                       x.exact() && w.exact() ? x.quantum + w.quantum : -1);
}

bool RandomGraphBuilder::pool() {
    const int axes = static_cast<int>(random_.between(1, 2));
    const BoundedValue x = image(axes);
    PoolOptions options;
    const IntList kernel = each_axis(axes, 1, 3);
    if (random_.one_in(2)) options.stride = each_axis(axes, 1, 3);
    const int least = *std::min_element(kernel.values().begin(), kernel.values().end());
    if (least > 1 && random_.one_in(2))
        options.padding = each_axis(axes, 0, 1);
    else if (random_.one_in(2))
        options.dilation = each_axis(axes, 1, 2);
    options.ceil_mode = random_.one_in(4);
    options.count_padding = random_.one_in(2);
    if (random_.one_in(2)) return keep(max_pool(x.tensor, kernel, options), x.limit, x.error, x.quantum);
    return keep(avg_pool(x.tensor, kernel, options), x.limit, x.error + 16 * x.limit);
}

bool RandomGraphBuilder::rescale() {
    const int axes = static_cast<int>(random_.between(1, 2));
    const BoundedValue x = image(axes);
    const double loose = 2 * x.error + 64 * x.limit;
    Shape size;
    for (int i = 0; i < axes; ++i) size.push_back(any_size());
    constexpr CoordinateTransformation transformations[] = {CoordinateTransformation::half_pixel,
                                                            CoordinateTransformation::align_corners,
                                                            CoordinateTransformation::asymmetric};
    const CoordinateTransformation transformation = transformations[random_.below(3)];
    switch (random_.below(4)) {
        case 0: return keep_moved(upsample_nearest(x.tensor, each_axis(axes, 1, 3)), x);
        case 1: return keep(upsample_linear(x.tensor, each_axis(axes, 1, 3)), x.limit, loose);
        case 2: return keep_moved(resize_nearest(x.tensor, size, transformation), x);
        default: return keep(resize_linear(x.tensor, size, transformation), x.limit, loose);
    }
}

bool RandomGraphBuilder::channel_norm() {
    const BoundedValue x = image(static_cast<int>(random_.between(1, 2)));
    const Dim channels = x.tensor.dim(1);
    const auto vector = [&] { return leaf({channels}).tensor; };
    const Tensor gamma = vector(), beta = vector();
    const double l = x.limit, e = x.error;
    double n = 1;
    for (int i = 1; i < x.tensor.rank(); ++i) n *= static_cast<double>(x.tensor.dim(i).upper_bound());
    const double limit = 2 * std::sqrt(n) + 2, error = (16 + 8 * l) * (e + 2 * n * l);
    switch (random_.below(3)) {
        case 0: {
            const Tensor mean = vector(), var = abs(vector()) + 0.5;
            return keep_scaled(batch_norm(x.tensor, gamma, beta, mean, var, 0.25), 3 * l + 8, 4 * e + 32 * l + 64);
        }
        case 1: return keep_scaled(instance_norm(x.tensor, gamma, beta, 0.25), limit, error);
        default:
            return keep_scaled(group_norm(x.tensor, channels.constant() % 2 == 0 ? 2 : 1, gamma, beta, 0.25), limit,
                               error);
    }
}

bool RandomGraphBuilder::rank_elements() {
    const auto x = exact_float();
    if (!x || x->tensor.rank() == 0) return false;
    const int axis = axis_of(x->tensor);
    const Dim size = x->tensor.dim(axis);
    const bool is_cut = random_.one_in(2), falls = random_.one_in(2);
    const std::int64_t most = random_.between(0, std::max<std::int64_t>(size.lower_bound(), 0));
    const Sorted sorted = is_cut ? topk(x->tensor, most, axis, falls) : sort(x->tensor, axis, falls);
    if (random_.one_in(2)) keep_integer(sorted.indices, static_cast<double>(size.upper_bound()));
    return keep_moved(sorted.values, *x);
}

bool RandomGraphBuilder::spatial() {
    switch (random_.below(8)) {
        case 0:
        case 1:
        case 2: return convolve();
        case 3:
        case 4: return pool();
        case 5: return rescale();
        case 6: return channel_norm();
        default: return rank_elements();
    }
}

}  // namespace cairn::test
