#include "cairn/dequantize.hpp"

#include "cairn/composites.hpp"
#include "cairn/graph.hpp"

#include <array>
#include <string>
#include <vector>

/// Matrices of codes packed in words of 32 bits: GPTQ and AWQ.
namespace cairn::inline v0 {
namespace {

std::string described(const Tensor& tensor) { return to_string(tensor.dtype(), tensor.shape()); }

/// The codes in words i32[R,C], lowest bits first: u8[R,C,32 / bits].
Tensor codes_in_words(const Tensor& words, int bits) {
    const Tensor bytes = bitcast(words, DType::u8);
    if (bits == 8) return bytes;
    std::vector<double> divisors;
    for (int shift = 0; shift < 8; shift += bits) divisors.push_back(1 << shift);
    const auto in_byte = static_cast<std::int64_t>(divisors.size());
    const Tensor powers = Graph(words.graph()).constant(DType::u8, {in_byte}, std::span<const double>(divisors));
    const Tensor split = reshape(bytes, {words.dim(0), words.dim(1), 4, 1}) / powers;
    return reshape(bitwise_and(split, (1 << bits) - 1), {words.dim(0), words.dim(1), 4 * in_byte});
}

/// Words of rows [R,C] whose codes are columns, as a matrix of f32 [R, C * 32 / bits].
Tensor columns_of(const Tensor& codes) {
    return cast(reshape(codes, {codes.dim(0), codes.dim(1) * codes.dim(2)}), DType::f32);
}

/// The checked operands of a matrix [K, N] in G groups of rows.
struct PackedMatrix {
    const Tensor &codes, &zeros, &scales;
    Dim rows, columns, groups;
};

PackedMatrix checked(const CompositeScope& scope, const Tensor& codes, const Tensor& zeros, const Tensor& scales,
                     const Dim& rows, std::int64_t in_word) {
    const std::string given =
        "codes " + described(codes) + ", zeros " + described(zeros) + ", scales " + described(scales);
    if (codes.dtype() != DType::i32 || zeros.dtype() != DType::i32 || !is_float(scales.dtype()))
        scope.fail("needs codes and zeros of i32 and scales of floats: " + given);
    if (codes.rank() != 2 || zeros.rank() != 2 || scales.rank() != 2) scope.fail("needs matrices: " + given);
    const PackedMatrix matrix{codes, zeros, scales, rows, scales.dim(1), scales.dim(0)};
    if (!(zeros.dim(0) == matrix.groups) || !(zeros.dim(1) * in_word == matrix.columns))
        scope.fail("needs zeros i32[G,N/" + std::to_string(in_word) + "] for scales [G,N]: " + given);
    return matrix;
}

/// Codes less zeros times scales, each [K, N]; the latter of groups of rows, [G, N].
Tensor scaled(const CompositeScope& scope, const PackedMatrix& matrix, const Tensor& codes, const Tensor& zeros,
              const Tensor* groups) {
    const Tensor scales = cast(matrix.scales, DType::f32);
    if (groups != nullptr) return (codes - gather(zeros, *groups, 0)) * gather(scales, *groups, 0);
    const bool is_constant = matrix.rows.is_constant() && matrix.groups.is_constant();
    if (!is_constant || matrix.groups.constant() == 0 || matrix.rows.constant() % matrix.groups.constant() != 0)
        scope.fail("needs rows in equal groups, or the group of each: " + to_string(matrix.rows) + " rows, scales " +
                   described(matrix.scales));
    const Dim in_group = matrix.rows.constant() / matrix.groups.constant();
    const auto by_group = [&](const Tensor& x, const Dim& rows) {
        return reshape(x, {matrix.groups, rows, matrix.columns});
    };
    const Tensor elements = (by_group(codes, in_group) - by_group(zeros, 1)) * by_group(scales, 1);
    return reshape(elements, {matrix.rows, matrix.columns});
}

Tensor dequantize_words(const CompositeScope& scope, const Tensor& codes, const Tensor& zeros, const Tensor& scales,
                        const Tensor* groups, const GptqFormat& format) {
    if (format.bits != 2 && format.bits != 4 && format.bits != 8)
        scope.fail("knows codes of 2, 4 and 8 bits: " + std::to_string(format.bits) + " bits");
    const std::int64_t in_word = 32 / format.bits;
    const Dim rows = codes.rank() == 2 ? codes.dim(0) * in_word : Dim(0);
    const PackedMatrix matrix = checked(scope, codes, zeros, scales, rows, in_word);
    if (!(codes.dim(1) == matrix.columns))
        scope.fail("needs codes i32[K/" + std::to_string(in_word) + ",N] for scales [G,N]: codes " + described(codes) +
                   ", scales " + described(scales));
    if (groups != nullptr && (groups->dtype() != DType::i32 || groups->rank() != 1 || !(groups->dim(0) == rows)))
        scope.fail("needs the group of each of " + to_string(rows) + " rows as i32: groups " + described(*groups));
    // The codes of a word are rows.
    const Tensor in_rows = transpose(codes_in_words(codes, format.bits), {0, 2, 1});
    const Tensor elements = cast(reshape(in_rows, {rows, matrix.columns}), DType::f32);
    const Tensor stored_zeros = columns_of(codes_in_words(zeros, format.bits));
    return scaled(scope, matrix, elements, format.zeros_are_less_by_one ? stored_zeros + 1 : stored_zeros, groups);
}

/// The codes of words in the order of AWQ, as columns in their own order: u8[R,C,8].
Tensor in_order_of_columns(const Tensor& codes) {
    constexpr std::array<double, 8> position_of_column{0, 4, 1, 5, 2, 6, 3, 7};
    const Tensor order = Graph(codes.graph()).constant(DType::i32, {8}, std::span<const double>(position_of_column));
    return gather(codes, order, -1);
}

}  // namespace

Tensor dequantize_gptq(const Operand& codes, const Operand& zeros, const Operand& scales, const GptqFormat& format) {
    const CompositeScope scope("dequantize_gptq", codes);
    return dequantize_words(scope, codes.tensor(), zeros.tensor(), scales.tensor(), nullptr, format);
}

Tensor dequantize_gptq(const Operand& codes, const Operand& zeros, const Operand& scales, const Operand& groups,
                       const GptqFormat& format) {
    const CompositeScope scope("dequantize_gptq", codes);
    return dequantize_words(scope, codes.tensor(), zeros.tensor(), scales.tensor(), &groups.tensor(), format);
}

Tensor dequantize_awq(const Operand& codes, const Operand& zeros, const Operand& scales) {
    const CompositeScope scope("dequantize_awq", codes);
    constexpr std::int64_t in_word = 8;
    const Dim rows = codes.tensor().rank() == 2 ? codes.tensor().dim(0) : Dim(0);
    const PackedMatrix matrix = checked(scope, codes.tensor(), zeros.tensor(), scales.tensor(), rows, in_word);
    if (!(matrix.codes.dim(1) * in_word == matrix.columns))
        scope.fail("needs codes i32[K,N/8] for scales [G,N]: codes " + described(matrix.codes) + ", scales " +
                   described(matrix.scales));
    const auto columns = [&](const Tensor& words) { return columns_of(in_order_of_columns(codes_in_words(words, 4))); };
    return scaled(scope, matrix, columns(matrix.codes), columns(matrix.zeros), nullptr);
}

}  // namespace cairn::inline v0
