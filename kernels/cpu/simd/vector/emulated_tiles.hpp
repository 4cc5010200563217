#pragma once

#include "kernels/cpu/simd/vector/emulated_lane.hpp"

/// The twin of AMX's tile registers: emulates the instructions of tile_registers.hpp. Traps where the processor would
/// raise a fault (tiles that are not configured, shapes that do not fit).
namespace cairn::kernels::cpu::lane {

class EmulatedTiles {
public:
    /// 64 bytes: palette, first row, 14 reserved, 16 widths of 16 bits, 16 heights.
    void configure(const void* shapes) noexcept {
        const auto* bytes = static_cast<const std::uint8_t*>(shapes);
        if (bytes[0] == 0) return release();
        check(bytes[0] == 1);
        for (int i = 0; i < 16; ++i) {
            std::uint16_t width;
            std::memcpy(&width, bytes + 16 + 2 * i, 2);
            const int height = bytes[48 + i];
            check(i < 8 ? width <= 64 && height <= 16 && (width == 0) == (height == 0) : width == 0 && height == 0);
            if (i < 8) widths_[i] = width, heights_[i] = height;
        }
        std::memset(bytes_, 0, sizeof bytes_);
        is_configured_ = true;
    }
    void release() noexcept { *this = EmulatedTiles(); }
    void zero(int tile) noexcept {
        check_live(tile);
        std::memset(bytes_[tile], 0, sizeof bytes_[tile]);
    }
    void load(int tile, const void* from, std::int64_t stride) noexcept {
        zero(tile);
        for (int row = 0; row < heights_[tile]; ++row)
            std::memcpy(bytes_[tile][row], static_cast<const char*>(from) + row * stride,
                        static_cast<std::size_t>(widths_[tile]));
    }
    void store(int tile, void* to, std::int64_t stride) const noexcept {
        check_live(tile);
        for (int row = 0; row < heights_[tile]; ++row)
            std::memcpy(static_cast<char*>(to) + row * stride, bytes_[tile][row],
                        static_cast<std::size_t>(widths_[tile]));
    }
    /// c += a b on bytes, four to a lane.
    template <typename A, typename B>
    void dot(int c, int a, int b) noexcept {
        check_product(c, a, b);
        for (int row = 0; row < heights_[c]; ++row)
            for (int column = 0; column < widths_[c] / 4; ++column) {
                auto sum = word<std::int32_t>(c, row, column);
                for (int k = 0; k < heights_[b]; ++k)
                    sum =
                        wrapped(sum + lane::dot<A, B>(word<std::int32_t>(a, row, k), word<std::int32_t>(b, k, column)));
                std::memcpy(bytes_[c][row] + 4 * column, &sum, 4);
            }
    }
    void dot_bf16(int c, int a, int b) noexcept {
        check_product(c, a, b);
        float right[16][2][16] = {};
        for (int k = 0; k < heights_[b]; ++k)
            for (int column = 0; column < widths_[c] / 4; ++column)
                for (int i = 0; i < 2; ++i) right[k][i][column] = element(b, k, column, i);
        for (int row = 0; row < heights_[c]; ++row) {
            float sums[2][16] = {};
            for (int k = 0; k < heights_[b]; ++k)
                for (int i = 0; i < 2; ++i) add_products(element(a, row, k, i), right[k][i], sums[i]);
            for (int column = 0; column < widths_[c] / 4; ++column) {
                const float chains = fused_flushed(1.0f, sums[0][column], sums[1][column]);
                const float sum = fused_flushed(1.0f, chains, word<float>(c, row, column));
                std::memcpy(bytes_[c][row] + 4 * column, &sum, 4);
            }
        }
    }

private:
    static void check(bool holds) noexcept {
        if (!holds) __builtin_trap();
    }
    /// bf16 number `i` of a group of four bytes; subnormal numbers are zero.
    float element(int tile, int row, int group, int i) const noexcept {
        return flushed(types::bf16_to_f32(part<std::uint16_t>(word<std::int32_t>(tile, row, group), i)));
    }
    /// sums[n] = fused_flushed(a, b[n], sums[n]). A float holds the product of two bf16 exactly, so where products and
    /// sums are normal or zero a multiplication and an addition are enough, of four columns at once.
    static void add_products(float a, const float (&b)[16], float (&sums)[16]) noexcept {
        using Vector = float __attribute__((vector_size(16)));
        using Mask = std::int32_t __attribute__((vector_size(16)));
        for (int n = 0; n < 16; n += 4) {
            Vector right, before;
            std::memcpy(&right, b + n, sizeof right);
            std::memcpy(&before, sums + n, sizeof before);
            const Vector product = right * a, sum = before + product;
            const Mask of_product = std::bit_cast<Mask>(product) & 0x7fffffff,
                       of_sum = std::bit_cast<Mask>(sum) & 0x7fffffff;
            // At least 2^-100, and finite; or zero.
            constexpr std::int32_t least = 27 << 23, infinite = 255 << 23;
            const Mask holds = ((of_product >= least) | (of_product == 0)) & (of_product < infinite) &
                               ((of_sum >= least) | (of_sum == 0)) & (of_sum < infinite);
            std::int64_t halves[2];
            std::memcpy(halves, &holds, sizeof halves);
            if ((halves[0] & halves[1]) == -1)
                std::memcpy(sums + n, &sum, sizeof sum);
            else
                for (int i = n; i < n + 4; ++i) sums[i] = fused_flushed(a, b[i], sums[i]);
        }
    }
    void check_live(int tile) const noexcept { check(is_configured_ && heights_[tile] > 0); }
    void check_product(int c, int a, int b) const noexcept {
        for (const int tile : {c, a, b}) check_live(tile);
        check(c != a && c != b && a != b);
        check(heights_[a] == heights_[c] && widths_[b] == widths_[c] && widths_[a] == 4 * heights_[b]);
        check(widths_[c] % 4 == 0);
    }
    template <typename T>
    T word(int tile, int row, int index) const noexcept {
        T value;
        std::memcpy(&value, bytes_[tile][row] + 4 * index, 4);
        return value;
    }

    std::uint8_t bytes_[8][16][64] = {};
    int widths_[8] = {}, heights_[8] = {};
    bool is_configured_ = false;
};

/// The tiles of this thread. Defined in emulated builds only.
inline EmulatedTiles& tiles() noexcept {
    thread_local EmulatedTiles file;
    return file;
}

}  // namespace cairn::kernels::cpu::lane
