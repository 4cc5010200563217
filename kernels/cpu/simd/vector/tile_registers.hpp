#pragma once

#include "kernels/cpu/simd/vector/instructions.hpp"

#if defined(CAIRN_EMULATED)
#include "kernels/cpu/simd/vector/emulated_tiles.hpp"
#endif

/// The tile registers of AMX: eight matrices of up to 16 rows of 64 bytes, and their products. The right operand is
/// stored in groups of four bytes, or two bf16, along k, which match those in a row of the left operand: element (k, n)
/// is in row k / 4 at byte 4 n + k % 4.
///
///     configure_tiles(shapes);
///     Tile<0>::zero();
///     for (...) { Tile<1>::load(a, a_stride), Tile<2>::load(b, b_stride), Tile<0>::dot_i8<1, 2>(); }
///     Tile<0>::store(c, c_stride);
///     release_tiles();
///
/// The operating system must have granted the thread the tiles; strides are in bytes.
namespace CAIRN_LEVEL {

/// Rows, and bytes per row, of each tile, in the format of the instruction.
struct alignas(64) TileShapes {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {};
    std::uint8_t rows[16] = {};
};

#if defined(CAIRN_EMULATED)

CAIRN_INLINE void configure_tiles(const TileShapes& shapes) { lane::tiles().configure(&shapes); }
CAIRN_INLINE void release_tiles() { lane::tiles().release(); }

template <int number>
struct Tile {
    static void zero() { lane::tiles().zero(number); }
    static void load(const void* from, std::int64_t stride) { lane::tiles().load(number, from, stride); }
    static void store(void* to, std::int64_t stride) { lane::tiles().store(number, to, stride); }
    template <int a, int b>
    static void dot_i8() {
        lane::tiles().dot<std::int8_t, std::int8_t>(number, a, b);
    }
    template <int a, int b>
    static void dot_u8_i8() {
        lane::tiles().dot<std::uint8_t, std::int8_t>(number, a, b);
    }
    template <int a, int b>
    static void dot_bf16() {
        lane::tiles().dot_bf16(number, a, b);
    }
};

#elif defined(__AMX_TILE__)

CAIRN_INLINE void configure_tiles(const TileShapes& shapes) { asm volatile("ldtilecfg %0" : : "m"(shapes)); }
CAIRN_INLINE void release_tiles() { asm volatile("tilerelease"); }

template <int number>
struct Tile {
    static_assert(number >= 0 && number < 8);
    CAIRN_INLINE static void zero() { asm volatile("tilezero %%tmm%c0" : : "i"(number)); }
    CAIRN_INLINE static void load(const void* from, std::int64_t stride) {
        asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(number) : "memory");
    }
    CAIRN_INLINE static void store(void* to, std::int64_t stride) {
        asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(number) : "memory");
    }
    /// 32-bit sums, which wrap: this += a b, of signed bytes, or of unsigned and signed bytes.
    template <int a, int b>
    CAIRN_INLINE static void dot_i8() {
        asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(number), "i"(a), "i"(b));
    }
    template <int a, int b>
    CAIRN_INLINE static void dot_u8_i8() {
        asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(number), "i"(a), "i"(b));
    }
    /// Products of bf16: the sums over even and over odd k are chains from 0, which are added to each other and then to
    /// this tile; subnormals are zero throughout.
    template <int a, int b>
    CAIRN_INLINE static void dot_bf16() {
        asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(number), "i"(a), "i"(b));
    }
};

#endif

}  // namespace CAIRN_LEVEL
