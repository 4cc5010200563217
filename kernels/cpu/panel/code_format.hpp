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
///     W[k, n] = scale * (code - zero) + offset
///
/// A group begins with the 32 scales, in f16 or f32, and the 32 offsets in f32; the codes follow, k by k. Codes of 4
/// bits stand in the low halves of bytes for the first half of the group's steps of k, and in the high halves for the
/// second. K is a multiple of 32. Dequantization of a file's blocks writes them, without loss; nothing packs them.
namespace cairn::kernels::cpu {

struct CodeFormat {
    int bits;   ///< of a code; codes of 8 bits have a sign
    int group;  ///< steps of k
    int zero;   ///< subtracted from codes
    bool has_offsets;
    bool has_half_scales;  ///< scales in f16, not f32

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
        : format_(format), codes_(group + format.head_bytes() + column) {
        if (format.has_half_scales)
            scale_ = types::f16_to_f32(number_at<std::uint16_t>(group, column));
        else
            scale_ = number_at<float>(group, column);
        if (format.has_offsets) offset_ = number_at<float>(group + format.scale_bytes(), column);
    }
    /// The element at step k of the group.
    float element(std::int64_t k) const noexcept {
        const std::int64_t bytes = format_.group * format_.bits / 8;
        const auto byte = static_cast<std::uint8_t>(codes_[k % bytes * 32]);
        const int code = format_.bits == 8 ? static_cast<std::int8_t>(byte) : k < bytes ? byte & 15 : byte >> 4;
        const float product = scale_ * static_cast<float>(code - format_.zero);
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
    const std::byte* codes_;
    float scale_, offset_ = 0;
};

/// 8.5, 4.5, 10, 6, 10 and 8 bits for each element. The names end in `a` for formats with offsets (affine), in `s` for
/// those with groups of 16 (small), with or without offsets.
inline constexpr std::array<CodeLayout, 6> code_layouts{{{"panel32_q8", "panel32_q8.t", {8, 32, 0, false, true}},
                                                         {"panel32_q4", "panel32_q4.t", {4, 32, 8, false, true}},
                                                         {"panel32_q8a", "panel32_q8a.t", {8, 32, 0, true, false}},
                                                         {"panel32_q4a", "panel32_q4a.t", {4, 32, 0, true, false}},
                                                         {"panel32_q8s", "panel32_q8s.t", {8, 16, 0, false, false}},
                                                         {"panel32_q4s", "panel32_q4s.t", {4, 16, 0, true, false}}}};

/// The index of the layout with that name, plain or transposed; -1 if it is none of codes.
constexpr int code_layout_index(std::string_view name, bool is_transposed) noexcept {
    for (std::size_t i = 0; i < code_layouts.size(); ++i)
        if (name == (is_transposed ? code_layouts[i].transposed : code_layouts[i].name)) return static_cast<int>(i);
    return -1;
}

}  // namespace cairn::kernels::cpu
