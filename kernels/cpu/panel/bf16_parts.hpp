#pragma once

#include "kernels/cpu/panel/code_tile.hpp"
#include "kernels/cpu/panel/product.hpp"
#include "kernels/cpu/simd/vector/half.hpp"
#include "kernels/cpu/simd/vector/horizontal_reduction.hpp"
#include "kernels/cpu/simd/vector/tile_registers.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <limits>

/// Floats as sums of bf16 parts: x = x0 + x1 + x2, where each part is what remains, rounded to 8 bits. Three parts hold
/// all 24 bits of a float, two those of an f16, one those of a bf16. A product of floats is a sum of products of parts,
/// which tile registers multiply exactly; products of i and j with i + j > 2 are below the rounding of a float.
namespace CAIRN_LEVEL {

/// Parts that hold every element of a panel.
template <typename Stored>
inline constexpr int bf16_parts_of = std::is_same_v<Stored, BF16>  ? 1
                                     : std::is_same_v<Stored, F16> ? 2
                                                                   : 3;
template <int layout>
inline constexpr int bf16_parts_of<Code<layout>> = Code<layout>::format.bf16_parts();

/// Weight type of products in bf16 parts: panels of `Stored` elements or codes, and x in `x_parts` parts, of which the
/// products of parts i + j < x_parts are summed.
template <typename Stored, int x_parts>
struct Bf16Parts {
    static constexpr int parts_of_x = x_parts;
    static constexpr int parts_of_element = bf16_parts_of<Stored>;
    static constexpr int parts_of_weight = std::min(parts_of_element, x_parts);
    Stored element;
};

/// A row of a panel of codes has a number of bytes.
template <typename Stored, int x_parts>
inline constexpr std::int64_t panel_row<Bf16Parts<Stored, x_parts>> = panel_row<Stored>;

template <typename Weight>
struct Bf16Operands;
template <typename Stored, int x_parts>
struct ConvertedRows<Bf16Parts<Stored, x_parts>> {
    using type = Bf16Operands<Bf16Parts<Stored, x_parts>>;
};

/// Rows of a tile register, the steps of k that one tile product covers, and the bytes of a tile of bf16.
inline constexpr std::int64_t tile_rows = 16, tile_steps = 32, tile_bytes = 1024;
constexpr std::int64_t tiles_of(std::int64_t depth) { return (depth + tile_steps - 1) / tile_steps; }

/// Rows of x are scaled by a power of two, so that their largest element is about 2^90. Then products of elements of x
/// from 2^-20 on and weights from 2^-80 on are above 2^-100, and those of their parts above the smallest normal float;
/// sums with smaller elements are computed in floats.
inline constexpr int exponent_of_rows = 90;
inline constexpr float smallest_of_x = 0x1p-20F;
inline constexpr std::uint32_t smallest_weight = std::bit_cast<std::uint32_t>(0x1p-80F);

/// Bits of a vector rounded to bf16, ties away from zero: the part is in the upper halves, and what remains is exact.
CAIRN_INLINE U32 rounded_part(F32 x) { return std::bit_cast<U32>(x) + 0x8000u; }
CAIRN_INLINE F32 without_part(F32 x, U32 part) { return x - std::bit_cast<F32>(part & 0xffff0000u); }
CAIRN_INLINE U32 smaller(U32 a, U32 b) { return a < b ? a : b; }

/// A tile of rows of x in parts: each part has a row of 64 bytes for each row of x.
struct Bf16RowTile {
    std::byte* data;
    std::int64_t part_bytes;
};

/// Rows of x in parts: tiles [16 rows][32 steps], the parts of one place one after another, then those of the next
/// steps of k, then of the next rows. The last tiles have the rows that are left; a tile register also reads what is
/// behind them, for sums that are not used.
struct Bf16Rows {
    std::byte* tiles;
    float* scales;  ///< by which sums of a row are multiplied; NaN: they are computed in floats
    std::int64_t count, tiles_in_depth;

    /// The tile that begins at `row`, at a step of k that begins one.
    template <int parts>
    Bf16RowTile at(std::int64_t row, std::int64_t first_step) const noexcept {
        const std::int64_t part_bytes = std::min(tile_rows, count - row) * 64;
        return {tiles + row * tiles_in_depth * parts * 64 + first_step / tile_steps * parts * part_bytes, part_bytes};
    }
};

/// The power of two by which a row is multiplied, as a float: brings its largest magnitude to [2^90, 2^91).
inline float scale_of_row(std::uint32_t largest) noexcept {
    const int exponent = static_cast<int>(largest >> 23), wanted = exponent_of_rows + 127 - exponent;
    return largest == 0 ? 1.0F : std::bit_cast<float>(static_cast<std::uint32_t>(std::min(wanted, 100) + 127) << 23);
}

/// Splits a row of x into `parts`.
template <int parts>
void split_row(const float* x, std::int64_t depth, std::int64_t row, const Bf16Rows& to) noexcept {
    U32 largest{}, least = U32{} - 1;  // bits of magnitudes; the least is less one, so that zeros are the largest
    const auto elements = [&](std::int64_t k) __attribute__((always_inline)) {
        return k + lanes <= depth ? load(x + k) : k < depth ? load_part(x + k, depth - k) : F32{};
    };
    for (std::int64_t k = 0; k < depth; k += lanes) {
        const U32 magnitudes = std::bit_cast<U32>(elements(k)) & 0x7fffffffu;
        largest = magnitudes > largest ? magnitudes : largest;
        least = smaller(least, magnitudes - 1);
    }
    const std::uint32_t most = reduce_lanes(largest, [](auto a, auto b) { return a > b ? a : b; });
    const std::uint32_t least_less_one = reduce_lanes(least, [](auto a, auto b) { return a < b ? a : b; });
    const float scale = scale_of_row(most), smallest = std::bit_cast<float>(least_less_one + 1);
    const bool is_finite = most < 0x7f800000u;
    const bool is_ordinary = is_finite && (most == 0 || smallest * scale >= smallest_of_x);
    to.scales[row] = is_ordinary ? 1 / scale : std::numeric_limits<float>::quiet_NaN();
    const float factor = is_ordinary ? scale : 0;
    Bf16RowTile tile = to.at<parts>(row / tile_rows * tile_rows, 0);
    tile.data += row % tile_rows * 64;
    for (std::int64_t k = 0; k < to.tiles_in_depth * tile_steps; k += tile_steps, tile.data += parts * tile.part_bytes)
        for (int v = 0; v < tile_steps / lanes; ++v) {
            F32 rest = is_ordinary ? elements(k + v * lanes) * factor : F32{};
            for (int part = 0; part < parts; ++part) {
                const U32 rounded = rounded_part(rest);
                const Halves halves = upper_halves(rounded);
                std::memcpy(tile.data + part * tile.part_bytes + v * sizeof halves, &halves, sizeof halves);
                rest = without_part(rest, rounded);
            }
        }
}

/// Two rows of a panel: half of the columns of an even and of an odd step of k.
struct StepPair {
    F32 even, odd;
};

/// The smallest magnitude of elements, but for zeros.
class LeastMagnitude {
public:
    CAIRN_INLINE void add(F32 elements) { least_ = smaller(least_, (std::bit_cast<U32>(elements) << 1) - 1); }
    /// True if an element loses bits in parts.
    bool is_tiny() const { return is_any_true(least_ < (smallest_weight << 1) - 1); }

private:
    U32 least_ = U32{} - 1;  // twice the magnitude, less one: zeros are the largest
};

/// The rows of one part of a panel, read two at a time.
template <typename Weight>
class PairReader {
public:
    PairReader() = default;
    PairReader(const Weight* panel, std::int64_t depth) noexcept : row_(panel), steps_(depth) {}

    /// Half of the columns of the next two rows; zeros behind the last one.
    CAIRN_INLINE StepPair read(int half) noexcept {
        StepPair pair{};
        if (steps_ > 0) pair.even = load(&row_[half * lanes].element);
        if (steps_ > 1) pair.odd = load(&row_[panel_width + half * lanes].element);
        least_.add(pair.even), least_.add(pair.odd);
        return pair;
    }
    CAIRN_INLINE void advance() noexcept { row_ += 2 * panel_width, steps_ -= 2; }
    /// True if an element read so far loses bits in parts.
    bool has_tiny_elements() const noexcept { return least_.is_tiny(); }

private:
    const Weight* row_ = nullptr;
    std::int64_t steps_ = 0;
    LeastMagnitude least_;
};

/// The same for a panel of codes, of whole groups.
template <int layout, int x_parts>
class PairReader<Bf16Parts<Code<layout>, x_parts>> {
public:
    PairReader() = default;
    PairReader(const Bf16Parts<Code<layout>, x_parts>* panel, std::int64_t) noexcept
        : group_{reinterpret_cast<const Code<layout>*>(panel)} {}

    CAIRN_INLINE StepPair read(int half) noexcept {
        if (pair_ == 0) begin_group(half);
        const I32 words = group_.words_at(pair_ / in_word, half);
        StepPair pair{};
        with_place<0>(
            pair_ % in_word, [&]<int place>(std::integral_constant<int, place>) __attribute__((always_inline)) {
                pair.even = element(Group::numbers_of(words, 2 * place), half);
                pair.odd = element(Group::numbers_of(words, 2 * place + 1), half);
            });
        if constexpr (format.has_offsets) least_.add(pair.even), least_.add(pair.odd);
        return pair;
    }
    CAIRN_INLINE void advance() noexcept {
        if (++pair_ < Group::depth / 2) return;
        pair_ = 0;
        group_.data += Group::bytes;
    }
    bool has_tiny_elements() const noexcept { return least_.is_tiny(); }

private:
    using Group = CodeGroup<Code<layout>>;
    static constexpr CodeFormat format = Group::format;
    static constexpr std::int64_t in_word = Group::in_word / 2;  // pairs

    CAIRN_INLINE void begin_group(int half) noexcept {
        const F32 scale = group_.scale(half);
        // An element that is not zero has at least the magnitude of its scale.
        if constexpr (!format.has_offsets) least_.add(scale);
        scales_[half] = format.has_offsets ? scale : scale * (1 / Group::factor);
        if constexpr (format.has_offsets) offsets_[half] = group_.offset(half);
    }
    CAIRN_INLINE F32 element(F32 number, int half) const noexcept {
        // A scale may be so much smaller than an offset that the other order underflows.
        if constexpr (format.has_offsets) return number * (1 / Group::factor) * scales_[half] + offsets_[half];
        return number * scales_[half];
    }
    /// Calls f with the place of a pair in its word as a constant.
    template <int place, typename F>
    CAIRN_INLINE static void with_place(std::int64_t at, F f) {
        if constexpr (place + 1 < in_word)
            if (at != place) return with_place<place + 1>(at, f);
        f(std::integral_constant<int, place>());
    }

    Group group_{nullptr};
    std::int64_t pair_ = 0;  // in the group
    F32 scales_[2] = {}, offsets_[2] = {};
    LeastMagnitude least_;
};

/// The pairs of rows of one part of a panel that are still to be split. Tiles [16 pairs of steps][16 columns]: those of
/// both halves of the columns, then those of the next bf16 part, then of the next steps of k.
template <typename Weight>
struct SplitCursor {
    static constexpr int parts = Weight::parts_of_weight;
    static constexpr std::int64_t bytes_of_steps = parts * 2 * tile_bytes;

    PairReader<Weight> rows;
    std::byte* tile = nullptr;
    std::int64_t left = 0;             ///< pairs; a multiple of 16 at the first of a tile
    const std::byte* ahead = nullptr;  ///< the beginning of what is prefetched, or null
    std::int64_t lines_of_pair = 0, line = 0;
    std::int64_t lines_in_pages = 0;  ///< of what is prefetched, in whole groups of pages

    /// Splits the next two rows of the panel.
    CAIRN_INLINE void split_pair() noexcept {
        static_assert(lanes == panel_width / 2, "a vector has the columns of a tile");
        prefetch();
        for (int half = 0; half < 2; ++half) {
            auto [even, odd] = rows.read(half);
            for (int part = 0; part < parts; ++part) {
                const U32 low = rounded_part(even), high = rounded_part(odd);
                const U32 pair = (high & 0xffff0000u) | (low >> 16);
                std::memcpy(tile + (part * 2 + half) * tile_bytes, &pair, sizeof pair);
                even = without_part(even, low), odd = without_part(odd, high);
            }
        }
        rows.advance();
        tile += 64, --left;
        if (left % tile_rows == 0) tile += bytes_of_steps - tile_bytes;
    }

    /// Prefetches these bytes from now on, for each pair an equal share.
    void start_prefetch(const std::byte* from, std::int64_t bytes) noexcept {
        if (left == 0) return;
        ahead = from;
        lines_of_pair = (bytes + left * 64 - 1) / (left * 64);
        lines_in_pages = bytes / 64 / (pages * lines_in_page) * (pages * lines_in_page);
    }

private:
    static constexpr std::int64_t pages = 8, lines_in_page = 64;

    // Lines in the order in which several pages are streams of their own: one line of each page, then the next.
    CAIRN_INLINE void prefetch() noexcept {
        for (std::int64_t i = 0; i < lines_of_pair; ++i, ++line) {
            const auto number = static_cast<std::uint64_t>(line);
            const std::uint64_t in_pages = number % (pages * lines_in_page);
            const std::uint64_t moved = number - in_pages + in_pages % pages * lines_in_page + in_pages / pages;
            __builtin_prefetch(ahead + (line < lines_in_pages ? moved : number) * 64, 0, 2);
        }
    }
};

/// Splits one part of the depth of a panel, between the tile products of the part before it. A part is known by its
/// address in the weight.
template <typename Weight>
class PanelSplitter {
public:
    static constexpr std::int64_t bytes_of_steps = SplitCursor<Weight>::bytes_of_steps;

    /// `memory`: for two parts of depths up to `depth`.
    PanelSplitter(std::byte* memory, std::int64_t depth) noexcept
        : buffers_{memory, memory + tiles_of(depth) * bytes_of_steps} {}

    /// Finishes this part, begins with the one that follows, if any, and returns the tiles of this one. `ahead`: as
    /// many bytes as a part has, which are prefetched while the one that follows is split.
    const std::byte* take(const Weight* part, std::int64_t depth, const Weight* next, std::int64_t next_depth,
                          const std::byte* ahead, std::int64_t bytes) noexcept {
        if (part != part_ || depth != depth_) begin(part, depth);
        while (cursor.left > 0) cursor.split_pair();
        has_tiny_elements_ = cursor.rows.has_tiny_elements();
        const std::byte* const taken = buffers_[current_];
        current_ = 1 - current_;
        begin(next, next == part ? 0 : next_depth);
        cursor.start_prefetch(ahead, bytes);
        return taken;
    }
    /// True if the part taken last has elements that lose bits.
    bool has_tiny_elements() const noexcept { return has_tiny_elements_; }

    SplitCursor<Weight> cursor = {};  ///< in the part that follows

private:
    void begin(const Weight* part, std::int64_t depth) noexcept {
        part_ = part, depth_ = depth;
        cursor = {{part, depth}, buffers_[current_], tiles_of(depth) * tile_rows};
    }

    std::byte* buffers_[2];
    int current_ = 0;  ///< the buffer being filled
    const Weight* part_ = nullptr;
    std::int64_t depth_ = 0;
    bool has_tiny_elements_ = false;
};

}  // namespace CAIRN_LEVEL
