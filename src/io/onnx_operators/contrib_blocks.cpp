#include "io/onnx_operators/contrib.hpp"
#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/quantized.hpp"
#include "io/onnx_operators/small_floats.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

/// Weights of few bits in blocks along an axis, each with a scale and a zero point.
namespace cairn::inline v0::onnx {
namespace {

/// The attribute `bits`: 2, 4 or 8.
std::int64_t bits_of_codes(const Node& node) {
    const std::int64_t bits = node.integer("bits", 4);
    if (bits != 2 && bits != 4 && bits != 8) node.refuse(fmt::format("its codes have {} bits", bits));
    return bits;
}

/// Codes packed in bytes along the last axis, lowest bits first, as `count` codes, which may be less than there are:
/// u8.
Tensor unpacked_codes(const Node& node, const Tensor& bytes, std::int64_t bits, const Dim& count) {
    if (bytes.dtype() != DType::u8) node.refuse(fmt::format("its codes are of {}", to_string(bytes.dtype())));
    Tensor codes = bytes;
    if (bits != 8) {
        std::vector<double> divisors;
        for (std::int64_t shift = 0; shift < 8; shift += bits) divisors.push_back(static_cast<double>(1 << shift));
        const auto in_byte = static_cast<std::int64_t>(divisors.size());
        const Tensor powers = Graph(bytes.graph()).constant(DType::u8, {in_byte}, divisors);
        Shape shape = bytes.shape();
        shape.back() = shape.back() * in_byte;
        codes = reshape(bitwise_and(unsqueeze(bytes, bytes.rank()) / powers, (1 << bits) - 1), shape);
    }
    if (codes.dim(-1) == count) return codes;
    if (!provably_le(count, codes.dim(-1)))
        node.refuse(fmt::format("it has {} codes in a row instead of {}", to_string(codes.dim(-1)), to_string(count)));
    return cairn::slice(codes, -1, 0, count);
}

/// A tensor as a matrix; refuses one of another number of elements.
Tensor as_matrix(const Node& node, const Tensor& x, const Dim& rows, const Dim& columns, std::string_view what) {
    if (!(element_count(x.shape()) == rows * columns))
        node.refuse(fmt::format("its {} are {} instead of [{}, {}]", what, to_string(x.shape()), to_string(rows),
                                to_string(columns)));
    return reshape(x, {rows, columns});
}

/// y = a W^T + bias, where row n of W [N, K] is (code - zero point) * scale.
void make_matmul_n_bits(Node& node) {
    const std::int64_t k = node.integer("K"), n = node.integer("N"), block = node.integer("block_size"),
                       bits = bits_of_codes(node);
    if (node.integer("weight_prepacked", 0) != 0) node.refuse("its weights are packed for one device");
    constexpr std::int64_t most = std::int64_t{1} << 40;
    if (std::min({k, n, block}) < 1 || std::max({k, n, block}) > most)
        node.refuse(fmt::format("its sizes K = {}, N = {} and block_size = {} are no sizes", k, n, block));
    const std::int64_t blocks = (k + block - 1) / block, packed = (blocks * bits + 7) / 8;
    const Tensor bytes = as_matrix(node, node.tensor(1), n, blocks * (block * bits / 8), "codes");
    const Tensor codes = cast(unpacked_codes(node, bytes, bits, k), DType::f32);
    const Tensor scales = as_matrix(node, as_dtype(node.tensor(2), DType::f32), n, blocks, "scales");
    const auto of_elements_of_row = [&](const Tensor& parameter) {
        return node.has(4) ? gather(parameter, reshape(node.tensor(4), {k}), 1)  // the block of each element
                           : of_block_elements(parameter, 1, block, k);
    };
    Tensor centred;
    if (!node.has(3))
        centred = codes - static_cast<double>(std::int64_t{1} << (bits - 1));
    else if (node.type(3) == ElementType::u8)
        centred =
            codes - of_elements_of_row(cast(
                        unpacked_codes(node, as_matrix(node, node.tensor(3), n, packed, "zero points"), bits, blocks),
                        DType::f32));
    else
        centred =
            codes - of_elements_of_row(as_matrix(node, as_dtype(node.tensor(3), DType::f32), n, blocks, "zero points"));
    const Tensor weights = as_dtype(centred * of_elements_of_row(scales), node.dtype(0));
    const Tensor a = node.tensor(0), transposed = transpose(weights, {1, 0});
    if (a.rank() < 2) node.refuse(fmt::format("its input has rank {}", a.rank()));
    node.set(0, node.has(5) ? linear(a, transposed, node.tensor(5)) : linear(a, transposed));
}

/// The 16 values of 4-bit floats of bitsandbytes in the order of their codes (arXiv 2305.14314): quant_type 0 is FP4,
/// of multiples of 1/12 and a subnormal 1/192; 1 is NF4, of quantiles of the normal distribution.
std::vector<double> bnb4_values(const Node& node) {
    const std::int64_t type = node.integer("quant_type");
    if (type == 0)
        return {0,   1.0 / 192,  2.0 / 3,  1,  1.0 / 3,  0.5,  1.0 / 6,  0.25,
                -0., -1.0 / 192, -2.0 / 3, -1, -1.0 / 3, -0.5, -1.0 / 6, -0.25};
    if (type == 1)
        return {-1.0,
                -0.6961928009986877,
                -0.5250730514526367,
                -0.39491748809814453,
                -0.28444138169288635,
                -0.18477343022823334,
                -0.09105003625154495,
                0.0,
                0.07958029955625534,
                0.16093020141124725,
                0.24611230194568634,
                0.33791524171829224,
                0.44070982933044434,
                0.5626170039176941,
                0.7229568362236023,
                1.0};
    node.refuse(fmt::format("its quant_type is {}", type));
}

/// y = a W^T of W [N, K] that is quantized as one row; the first code of a byte is in its upper bits.
void make_matmul_bnb4(Node& node) {
    const std::int64_t k = node.integer("K"), n = node.integer("N"), block = node.integer("block_size");
    if (node.integer("transB", 1) == 0) node.refuse("its weights are not transposed, which only training needs");
    constexpr std::int64_t most = std::int64_t{1} << 30;
    if (std::min({k, n, block}) < 1 || std::max({k, n, block}) > most)
        node.refuse(fmt::format("its sizes K = {}, N = {} and block_size = {} are no sizes", k, n, block));
    const std::int64_t count = n * k, blocks = (count + block - 1) / block;
    const Tensor bytes = node.tensor(1);
    if (bytes.dtype() != DType::u8 || !(element_count(bytes.shape()) == Dim((count + 1) / 2)))
        node.refuse(fmt::format("its codes are {}", to_string(bytes.dtype(), bytes.shape())));
    const Tensor column = reshape(bytes, {(count + 1) / 2, 1});
    const Tensor codes = reshape(concat({column / 16, bitwise_and(column, 15)}, 1), {(count + 1) / 2 * 2});
    const Tensor values =
        gather(node.graph().constant(DType::f32, {16}, bnb4_values(node)), cast(codes, DType::i32), 0);
    const Tensor scales = as_matrix(node, as_dtype(node.tensor(2), DType::f32), 1, blocks, "scales");
    const Tensor elements =
        cairn::slice(values, 0, 0, count) * of_block_elements(reshape(scales, {blocks}), 0, block, count);
    const Tensor weights = reshape(as_dtype(elements, node.dtype(0)), {n, k}), a = node.tensor(0);
    if (a.rank() < 2) node.refuse(fmt::format("its input has rank {}", a.rank()));
    node.set(0, linear(a, transpose(weights, {1, 0})));
}

/// Rows of a quantized table, dequantized.
void make_gather_block_quantized(Node& node) {
    const ElementType type = node.type(0);
    const bool is_float = is_small_float(type), is_packed = type == ElementType::u8;
    const int rank = node.rank(0), gathered = node.axis(node.integer("gather_axis", 0), rank);
    const int quantized = node.axis(node.integer("quantize_axis", 1), rank);
    const std::int64_t bits = is_packed ? bits_of_codes(node) : 8, block = node.integer("block_size", 128);
    if (gathered == quantized) node.refuse("it gathers along the axis of its blocks");
    if (is_packed && gathered == rank - 1) node.refuse("it gathers along the axis of packed codes");
    Shape shape = node.shape(0);
    if (is_packed) shape.back() = shape.back() * (8 / bits);
    const Dim& size = shape[static_cast<std::size_t>(quantized)];
    const Tensor scales = as_dtype(node.tensor(2), DType::f32);
    Shape expected = shape;
    if (block < 0 || (block == 0 && !is_float)) node.refuse(fmt::format("its block_size is {}", block));
    expected[static_cast<std::size_t>(quantized)] = block == 0 ? Dim(1) : ceildiv(size, block);
    if (!(scales.shape() == expected))
        node.refuse(fmt::format("its scales are {} instead of {}", to_string(scales.shape()), to_string(expected)));

    const Tensor counted =
        where(node.tensor(1) < 0, node.tensor(1) + shape[static_cast<std::size_t>(gathered)], node.tensor(1));
    const auto taken = [&](const Tensor& x) { return gather(x, counted, gathered); };
    // Axes after the gathered one move by those of the indices.
    const int moved = quantized + (quantized > gathered ? counted.rank() - 1 : 0);
    const auto of_elements_of_rows = [&](const Tensor& parameter) {
        return block == 0 ? parameter : of_block_elements(parameter, moved, block, size);
    };
    Tensor x;
    if (is_float)
        x = small_float_values(taken(node.held(0)), type);
    else if (is_packed)
        x = cast(unpacked_codes(node, taken(node.tensor(0)), bits, shape.back()), DType::f32);
    else if (type == ElementType::i4 || type == ElementType::u4)
        x = cast(taken(node.held(0)), DType::f32);
    else
        node.refuse(fmt::format("its data are of {}", to_string(type)));
    if (node.has(3)) {
        const Tensor zeros =
            is_packed ? unpacked_codes(node, taken(node.tensor(3)), bits, expected.back()) : taken(node.held(3));
        x = x - of_elements_of_rows(cast(zeros, DType::f32));
    } else if (is_packed) {
        x = x - static_cast<double>(std::int64_t{1} << (bits - 1));
    }
    node.set(0, as_dtype(x * of_elements_of_rows(taken(scales)), node.dtype(2)));
}

constexpr std::array<Operator, 3> contrib_block_rows{
    {{"MatMulNBits", 1, make_matmul_n_bits, nullptr, microsoft_domain},
     {"MatMulBnb4", 1, make_matmul_bnb4, nullptr, microsoft_domain},
     {"GatherBlockQuantized", 1, make_gather_block_quantized, nullptr, microsoft_domain}}};

}  // namespace

std::span<const Operator> contrib_block_operators() { return contrib_block_rows; }

}  // namespace cairn::inline v0::onnx
