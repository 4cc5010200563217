#include "io/onnx_operators/signal.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

// Fourier transforms are products with matrices of cosines and sines. The real and imaginary parts, the last axis, are
// rows and columns of their own.
namespace cairn::inline v0::onnx {
namespace {

constexpr std::int64_t most_fourier_elements = std::int64_t{1} << 25;

/// A transform of `rows` numbers of `row_parts` parts into `columns` numbers of `column_parts` parts. Real numbers have
/// one part, complex ones two.
struct FourierSize {
    std::int64_t rows, row_parts, columns, column_parts;
    std::int64_t length;  ///< numbers in a period
    bool is_inverse = false;
};

/// The factor of e^(-2 pi i n k / N), or with the other sign, from a part of the number n to a part of the number k.
double fourier_factor(const FourierSize& size, std::int64_t n, std::int64_t row_part, std::int64_t k,
                      std::int64_t column_part) {
    const double turn = static_cast<double>(n * k % size.length) / static_cast<double>(size.length);
    const double angle = (size.is_inverse ? 2 : -2) * std::numbers::pi * turn;
    const double factor = row_part == column_part ? std::cos(angle) : std::sin(angle);
    return row_part == 1 && column_part == 0 ? -factor : factor;
}

/// `factor(n, part of n, k, part of k)` as [rows * row_parts, columns * column_parts].
template <typename Factor>
Tensor fourier_matrix(Node& node, DType dtype, const FourierSize& size, Factor factor) {
    const std::int64_t height = size.rows * size.row_parts, width = size.columns * size.column_parts;
    if (height != 0 && width > most_fourier_elements / height)
        node.refuse(fmt::format("a transform of length {} is too long to be a product with a matrix", size.length));
    std::vector<double> elements;
    elements.reserve(static_cast<std::size_t>(height * width));
    for (std::int64_t i = 0; i < height; ++i)
        for (std::int64_t j = 0; j < width; ++j)
            elements.push_back(
                factor(i / size.row_parts, i % size.row_parts, j / size.column_parts, j % size.column_parts));
    return node.graph().constant(dtype, {height, width}, elements);
}

/// Multiplies [.., rows, row_parts] by a matrix: [.., columns, column_parts].
Tensor fourier_product(const Tensor& x, const FourierSize& size, const Tensor& matrix) {
    Shape shape = x.shape();
    shape.pop_back();
    shape.back() = size.rows * size.row_parts;
    Tensor flat = reshape(x, shape);
    if (flat.rank() == 1) flat = unsqueeze(flat, 0);
    const Tensor y = matmul(flat, matrix);
    shape.back() = size.columns;
    shape.push_back(size.column_parts);
    return reshape(y, shape);
}

std::int64_t fourier_length(const Node& node, const Dim& size) {
    if (!size.is_constant())
        node.refuse(fmt::format("the length of its transform depends on the size {}", cairn::to_string(size)));
    return size.constant();
}

std::int64_t fourier_parts(const Node& node, const Dim& last) {
    if (!(last == Dim(1)) && !(last == Dim(2)))
        node.refuse(
            fmt::format("the last axis of its input has the size {} instead of 1 or 2", cairn::to_string(last)));
    return last.constant();
}

/// Real numbers from the first half of their spectrum.
Tensor real_inverse_matrix(Node& node, DType dtype, const FourierSize& size) {
    return fourier_matrix(node, dtype, size, [&](std::int64_t k, std::int64_t part, std::int64_t n, std::int64_t) {
        const bool is_own_mirror = k == 0 || 2 * k == size.length;
        const double weight = (is_own_mirror ? 1.0 : 2.0) / static_cast<double>(size.length);
        return is_own_mirror && part == 1 ? 0 : weight * fourier_factor(size, k, part, n, 0);
    });
}

Tensor spectrum_matrix(Node& node, DType dtype, const FourierSize& size) {
    const double weight = size.is_inverse ? 1 / static_cast<double>(size.length) : 1;
    return fourier_matrix(node, dtype, size,
                          [&](std::int64_t n, std::int64_t row_part, std::int64_t k, std::int64_t column_part) {
                              return weight * fourier_factor(size, n, row_part, k, column_part);
                          });
}

}  // namespace

void make_dft(Node& node) {
    const int rank = node.rank(0);
    if (rank < 2) node.refuse(fmt::format("its input has rank {}", rank));
    std::int64_t given_axis = node.opset() < 20 ? node.integer("axis", 1) : -2;
    if (node.opset() >= 20 && node.has(2)) given_axis = node.integer(2, "axis");
    const int axis = node.axis(given_axis, rank);
    if (axis == rank - 1) node.refuse("its axis is that of real and imaginary parts");
    const bool is_inverse = node.integer("inverse", 0) != 0, is_onesided = node.integer("onesided", 0) != 0;

    const DType dtype = float_dtype(node.dtype(0));
    const Tensor x = swap_axes(cast(node.tensor(0), dtype), axis, rank - 2);
    const std::int64_t given = fourier_length(node, x.dim(-2)), parts = fourier_parts(node, x.dim(-1));
    const bool to_real = is_inverse && is_onesided;
    const std::int64_t length = node.has(1) ? node.integer(1, "dft_length") : to_real ? 2 * (given - 1) : given;
    if (length < 1) node.refuse(fmt::format("the length of its transform is {}", length));
    const std::int64_t half = length / 2 + 1;
    const std::int64_t rows = std::min(given, to_real ? half : length);  // those that lack are zero
    const FourierSize size{rows, parts, is_onesided && !to_real ? half : length, to_real ? 1 : 2, length, is_inverse};
    const Tensor matrix = to_real ? real_inverse_matrix(node, dtype, size) : spectrum_matrix(node, dtype, size);
    const Tensor y = fourier_product(rows == given ? x : slice(x, -2, 0, rows), size, matrix);
    node.set(0, cast(swap_axes(y, axis, rank - 2), node.dtype(0)));
}

void make_stft(Node& node) {
    if (node.rank(0) != 3) node.refuse(fmt::format("its signal has rank {}", node.rank(0)));
    const DType dtype = float_dtype(node.dtype(0));
    const Tensor x = cast(node.tensor(0), dtype);
    const std::int64_t step = node.integer(1, "frame_step"), parts = fourier_parts(node, x.dim(2));
    const Dim given = node.has(2) ? node.shape(2).at(0) : x.dim(1);
    const std::int64_t length = node.has(3) ? node.integer(3, "frame_length") : fourier_length(node, given);
    if (node.has(2) && !(given == Dim(length)))
        node.refuse(fmt::format("its window has {} elements for a frame of {}", cairn::to_string(given), length));
    if (step < 1 || length < 1) node.refuse(fmt::format("its frames have the length {} and the step {}", length, step));

    Tensor frames = transpose(window(x, 1, length, step), {0, 1, 3, 2});  // [B,frames,length,parts]
    if (node.has(2)) frames = frames * reshape(cast(node.tensor(2), dtype), {length, 1});
    const std::int64_t columns = node.integer("onesided", 1) != 0 ? length / 2 + 1 : length;
    const FourierSize size{length, parts, columns, 2, length};
    node.set(0, cast(fourier_product(frames, size, spectrum_matrix(node, dtype, size)), node.dtype(0)));
}

}  // namespace cairn::inline v0::onnx
