#include "io/onnx_operators/convolutions.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::onnx {
namespace {

/// Number of windows of an image along an axis.
Dim blocks_along(const Dim& size, const WindowAxis& axis) {
    return floordiv(size + axis.before + axis.after - axis.extent(), axis.stride) + 1;
}

}  // namespace

Tensor overlap_add(const Tensor& x, int axis, std::int64_t stride, std::int64_t dilation) {
    const std::int64_t blocks = x.dim(axis).constant();
    const Dim count = x.dim(axis + 1), spread = count * stride, size = spread + (blocks - 1) * dilation;
    const auto first = static_cast<std::size_t>(axis);
    const auto with_sizes = [&](const Tensor& y, std::initializer_list<Dim> sizes, std::ptrdiff_t replaced) {
        Shape shape = y.shape();
        const auto at = shape.erase(shape.begin() + axis, shape.begin() + axis + replaced);
        shape.insert(at, sizes);
        return reshape(y, shape);
    };
    Tensor rows = x;
    if (stride > 1) rows = with_sizes(pad(unsqueeze(rows, axis + 2), axis + 2, 0, stride - 1), {blocks, spread}, 3);
    if (blocks > 1) {
        // Rows of `size` + `dilation` elements, read as rows of `size`: row k begins k * dilation elements later, and
        // what precedes it there are zeros of the row before.
        rows = with_sizes(pad(rows, axis + 1, 0, blocks * dilation), {blocks * (size + dilation)}, 2);
        rows = with_sizes(slice(rows, axis, 0, blocks * size), {blocks, size}, 1);
    }
    const Tensor sum_of_rows = blocks > 1 ? sum(rows, axis) : with_sizes(rows, {size}, 2);
    return slice(sum_of_rows, static_cast<int>(first), 0, size - (stride - 1));
}

Tensor image_of_blocks(const Tensor& x, const WindowAxes& axes) {
    const int count = static_cast<int>(axes.size());
    std::vector<int> order{0, 1};
    for (int i = 0; i < count; ++i) order.insert(order.end(), {2 + i, 2 + count + i});
    Tensor image = transpose(x, order);
    for (int i = 0; i < count; ++i)
        image = overlap_add(image, 2 + i, axes[static_cast<std::size_t>(i)].stride,
                            axes[static_cast<std::size_t>(i)].dilation);
    return image;
}

void make_col2im(Node& node) {
    const Tensor x = node.tensor(0);
    const DType dtype = x.dtype();
    if (dtype == DType::boolean) node.refuse("sums of booleans are not defined");
    if (x.rank() != 3) node.refuse("its input must have three axes");
    const Shape image = node.sizes(1, "image_shape");
    const std::vector<std::int64_t> block = node.integers(2, "block_shape");
    const std::size_t count = block.size();
    if (image.size() != count) node.refuse("image_shape and block_shape differ in length");
    const std::vector<std::int64_t> strides = spatial_integers(node, "strides", count, 1, 1),
                                    dilations = spatial_integers(node, "dilations", count, 1, 1),
                                    pads = spatial_pads(node, count);
    WindowAxes axes;
    Dim taps = 1;
    Shape shape{x.dim(0), 0};
    for (std::size_t i = 0; i < count; ++i) {
        if (block[i] < 1) node.refuse(fmt::format("block_shape has the size {}", block[i]));
        axes.push_back({block[i], strides[i], dilations[i], pads[i], pads[count + i]});
        taps *= block[i];
        shape.emplace_back(block[i]);
    }
    for (std::size_t i = 0; i < count; ++i) shape.push_back(blocks_along(image[i], axes[i]));
    shape[1] = x.dim(1) / taps;
    Tensor y = image_of_blocks(reshape(wide_of(x), shape), axes);
    for (std::size_t i = 0; i < count; ++i) {
        // The image may end after the last block.
        const int axis = static_cast<int>(i) + 2;
        y = pad(y, axis, 0, image[i] + axes[i].before + axes[i].after - y.dim(axis));
        y = slice(y, axis, axes[i].before, axes[i].before + image[i]);
    }
    node.set(0, as_dtype(y, dtype));
}

}  // namespace cairn::inline v0::onnx
