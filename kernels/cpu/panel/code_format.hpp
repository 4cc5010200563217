#pragma once

#include "cairn/types.hpp"
#include "graph/types/half.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

/// Panels of codes: packed forms of a quantized f32 matrix W [K, N]. As in panel32 a panel holds 32 columns; along K it
/// consists of groups, in which each column has a scale and, in some formats, an offset:
///
///     W[k, n] = scale * code + offset
///
/// A group begins with the 32 scales, in f16, bf16 or f32, and the 32 offsets in f32. Rows of 32 words of 32 bits
/// follow, one for each column. The word of a column holds the codes of consecutive steps of k, two of 16 bits, four of
/// 8 or eight of 4: those of even steps in its low half, those of odd steps in its high half, so that instructions
/// which multiply pairs of 16-bit numbers read adjacent elements of x. K is a multiple of 32. Dequantization of a
/// file's blocks writes panels of codes without loss. Matrices of floats are quantized to those with scales in bf16,
/// which have the range of floats.
namespace cairn::kernels::cpu {

struct CodeFormat {
    int bits;   ///< of a code
    int group;  ///< steps of k
    bool is_signed;
    bool has_offsets;
    DType scales;  ///< f32, f16 or bf16

    /// Steps of k in a word.
    constexpr int in_word() const { return 32 / bits; }
    /// The first bit of the code of a step within its word.
    constexpr int first_bit(int step) const { return step % 2 * 16 + step / 2 * bits; }
    constexpr std::int64_t scale_bytes() const { return 32 * (scales == DType::f32 ? 4 : 2); }
    /// From the beginning of a group to its codes.
    constexpr std::int64_t head_bytes() const { return scale_bytes() + (has_offsets ? 32 * 4 : 0); }
    constexpr std::int64_t group_bytes() const { return head_bytes() + 32 * group * bits / 8; }
    /// Bytes of a panel for each step of k.
    constexpr std::int64_t row_bytes() const { return group_bytes() / group; }
    /// The number of bf16 parts, of 8 significant bits each, that hold every element: a product of a code and a scale.
    constexpr int bf16_parts() const {
        const int of_scale = scales == DType::f32 ? 24 : scales == DType::f16 ? 11 : 8;
        return has_offsets ? 3 : std::min((bits - (is_signed ? 1 : 0) + of_scale + 7) / 8, 3);
    }
};

/// A format, with the name of its layout and of that of the transposed matrix.
struct CodeLayout {
    std::string_view name, transposed;
    CodeFormat format;
};

/// One column of a group, whose first byte is at `group`.
class CodeColumn {
public:
    CodeColumn(const CodeFormat& format, const std::byte* group, std::int64_t column) noexcept
        : format_(format), words_(group + format.head_bytes()), column_(column) {
        switch (format.scales) {
            case DType::f16: scale_ = types::f16_to_f32(number_at<std::uint16_t>(group, column)); break;
            case DType::bf16: scale_ = types::bf16_to_f32(number_at<std::uint16_t>(group, column)); break;
            default: scale_ = number_at<float>(group, column);
        }
        if (format.has_offsets) offset_ = number_at<float>(group + format.scale_bytes(), column);
    }
    /// The element at step k of the group.
    float element(std::int64_t k) const noexcept {
        const auto in_word = format_.in_word();
        const auto word = number_at<std::uint32_t>(words_ + k / in_word * 32 * 4, column_);
        // The code in the highest bits, then in the lowest, with its sign.
        const std::uint32_t high = word << (32 - format_.bits - format_.first_bit(static_cast<int>(k % in_word)));
        const int code = format_.is_signed ? static_cast<std::int32_t>(high) >> (32 - format_.bits)
                                           : static_cast<int>(high >> (32 - format_.bits));
        const float product = scale_ * static_cast<float>(code);
        return format_.has_offsets ? product + offset_ : product;
    }

private:
    template <typename T>
    static T number_at(const std::byte* numbers, std::int64_t column) noexcept {
        T value;
        std::memcpy(&value, numbers + column * static_cast<std::int64_t>(sizeof value), sizeof value);
        return value;
    }

    const CodeFormat& format_;
    const std::byte* words_;
    std::int64_t column_;
    float scale_, offset_ = 0;
};

/// 8.5, 4.5, 10, 6, 10, 8, 8.5 and 16.5 bits for each element. `k2`, `k4` and `k8` are the steps of k in a word; the
/// names end in `a` for formats with offsets (affine), in `s` for those with groups of 16 (small), with or without
/// offsets, and in `b` for those with scales in bf16.
inline constexpr std::array<CodeLayout, 8> code_layouts{
    {{"panel32k4_q8", "panel32k4_q8.t", {8, 32, true, false, DType::f16}},
     {"panel32k8_q4", "panel32k8_q4.t", {4, 32, true, false, DType::f16}},
     {"panel32k4_q8a", "panel32k4_q8a.t", {8, 32, true, true, DType::f32}},
     {"panel32k8_q4a", "panel32k8_q4a.t", {4, 32, false, true, DType::f32}},
     {"panel32k4_q8s", "panel32k4_q8s.t", {8, 16, true, false, DType::f32}},
     {"panel32k8_q4s", "panel32k8_q4s.t", {4, 16, false, true, DType::f32}},
     {"panel32k4_q8b", "panel32k4_q8b.t", {8, 32, true, false, DType::bf16}},
     {"panel32k2_q16b", "panel32k2_q16b.t", {16, 32, true, false, DType::bf16}}}};

/// Codes of more bits are not multiplied as integers: their products with integers of x overflow.
inline constexpr int most_bits_of_integers = 8;

/// The index of the layout with that name, plain or transposed; -1 if it is none of codes.
constexpr int code_layout_index(std::string_view name, bool is_transposed) noexcept {
    for (std::size_t i = 0; i < code_layouts.size(); ++i)
        if (name == (is_transposed ? code_layouts[i].transposed : code_layouts[i].name)) return static_cast<int>(i);
    return -1;
}

}  // namespace cairn::kernels::cpu
