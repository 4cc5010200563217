#pragma once

#include "graph/types/half.hpp"

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
/// A group begins with the 32 scales, in f16 or f32, and the 32 offsets in f32. Rows of 32 words of 32 bits follow, one
/// for each column. The word of a column holds the codes of consecutive steps of k, four of 8 bits or eight of 4: those
/// of even steps in its low half, those of odd steps in its high half, so that instructions which multiply pairs of
/// 16-bit numbers read adjacent elements of x. K is a multiple of 32. Dequantization of a file's blocks writes panels
/// of codes, without loss; nothing packs them.
namespace cairn::kernels::cpu {

struct CodeFormat {
    int bits;   ///< of a code
    int group;  ///< steps of k
    bool is_signed;
    bool has_offsets;
    bool has_half_scales;  ///< scales in f16, not f32

    /// Steps of k in a word.
    constexpr int in_word() const { return 32 / bits; }
    /// The first bit of the code of a step within its word.
    constexpr int first_bit(int step) const { return step % 2 * 16 + step / 2 * bits; }
    constexpr std::int64_t scale_bytes() const { return 32 * (has_half_scales ? 2 : 4); }
    /// From the beginning of a group to its codes.
    constexpr std::int64_t head_bytes() const { return scale_bytes() + (has_offsets ? 32 * 4 : 0); }
    constexpr std::int64_t group_bytes() const { return head_bytes() + 32 * group * bits / 8; }
    /// Bytes of a panel for each step of k.
    constexpr std::int64_t row_bytes() const { return group_bytes() / group; }
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
        if (format.has_half_scales)
            scale_ = types::f16_to_f32(number_at<std::uint16_t>(group, column));
        else
            scale_ = number_at<float>(group, column);
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

/// 8.5, 4.5, 10, 6, 10 and 8 bits for each element. `k4` and `k8` are the steps of k in a word; the names end in `a`
/// for formats with offsets (affine), in `s` for those with groups of 16 (small), with or without offsets.
inline constexpr std::array<CodeLayout, 6> code_layouts{
    {{"panel32k4_q8", "panel32k4_q8.t", {8, 32, true, false, true}},
     {"panel32k8_q4", "panel32k8_q4.t", {4, 32, true, false, true}},
     {"panel32k4_q8a", "panel32k4_q8a.t", {8, 32, true, true, false}},
     {"panel32k8_q4a", "panel32k8_q4a.t", {4, 32, false, true, false}},
     {"panel32k4_q8s", "panel32k4_q8s.t", {8, 16, true, false, false}},
     {"panel32k8_q4s", "panel32k8_q4s.t", {4, 16, false, true, false}}}};

/// The index of the layout with that name, plain or transposed; -1 if it is none of codes.
constexpr int code_layout_index(std::string_view name, bool is_transposed) noexcept {
    for (std::size_t i = 0; i < code_layouts.size(); ++i)
        if (name == (is_transposed ? code_layouts[i].transposed : code_layouts[i].name)) return static_cast<int>(i);
    return -1;
}

}  // namespace cairn::kernels::cpu
