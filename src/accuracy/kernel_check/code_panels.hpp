#pragma once

#include "cairn/types.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

/// The layouts of codes of a matrix [K, N], implemented independently of the kernels (kernels/cpu/panel/code_format.hpp
/// describes them).
namespace cairn::kernel_check {

/// What layouts of codes differ in.
struct CodePanelFormat {
    std::string_view layout;
    int bits, group, lowest;  // the lowest code: negative if codes have a sign, in two's complement
    bool has_offsets;
    DType scales;
    std::size_t scale_bytes() const { return scales == DType::f32 ? 128 : 64; }
    std::size_t head_bytes() const { return scale_bytes() + (has_offsets ? 128 : 0); }
    std::size_t group_bytes() const { return head_bytes() + static_cast<std::size_t>(32 * group * bits / 8); }
};

/// The format of a layout, plain or transposed; null if it is none of codes.
const CodePanelFormat* code_panel_format(std::string_view layout);

class CodePanels {
public:
    /// With the name of the transposed layout, elements are those of the transposed matrix. Throws Error(argument) for
    /// a K that is no multiple of 32, and for a layout that is none of codes.
    CodePanels(std::string_view layout, std::int64_t depth, std::int64_t columns);

    std::size_t bytes() const;
    /// Writes nearly the nearest elements that codes, scales and offsets can express; those that read() returns are
    /// kept. A group of a column with NaN becomes NaN, one with an infinity infinite.
    void write(const std::vector<double>& elements, std::byte* to) const;
    /// The elements: `scale * code + offset`, in f32.
    std::vector<double> read(const std::byte* from) const;
    /// Replaces the elements that the layout cannot represent by the expected ones: a group of a column with an
    /// infinity or NaN has no finite elements.
    std::vector<double> replace_unrepresentable(std::vector<double> elements,
                                                const std::vector<double>& expected) const;

private:
    struct GroupNumbers {
        double scale, offset;
        int lowest, highest;  // codes
    };
    GroupNumbers numbers_of(const std::vector<double>& elements, std::int64_t first, std::int64_t column) const;
    std::size_t index(std::int64_t k, std::int64_t n) const;
    std::size_t group_at(std::int64_t k, std::int64_t n) const;
    struct CodePlace {
        std::size_t word;  // its first byte, from the beginning of the group
        int bit;
    };
    CodePlace code_at(std::int64_t k, std::int64_t n) const;

    const CodePanelFormat* format_;
    std::int64_t depth_, columns_;
    bool is_transposed_;
};

}  // namespace cairn::kernel_check
