#include "kernels/cpu/panel/file_blocks.hpp"

#include "graph/types/half.hpp"

#include <cmath>
#include <cstring>

namespace cairn::kernels::cpu {
namespace {

float half_at(const std::uint8_t* at) noexcept {
    std::uint16_t bits;
    std::memcpy(&bits, at, sizeof bits);
    return types::f16_to_f32(bits);
}

int low(int byte) noexcept { return byte & 15; }
int high(int byte) noexcept { return byte >> 4; }
/// Bits [first, first + count) of a byte.
int bits_of(int byte, int first, int count) noexcept { return byte >> first & ((1 << count) - 1); }

// One scale, and an offset, for all 32 elements.
void set_scale(BlockNumbers& numbers, float scale, float offset = 0) noexcept {
    numbers.elements_of_scale = 32;
    numbers.scales[0] = scale;
    numbers.offsets[0] = offset;
}

// `code(j)`: of element j.
template <int elements = 32, typename F>
void set_codes(BlockNumbers& numbers, F code) noexcept {
    for (int j = 0; j < elements; ++j) numbers.codes[j] = static_cast<std::int8_t>(code(j));
}

// Code j of 16 bytes: their low halves, then their high ones.
int nibble(const std::uint8_t* bytes, int j) noexcept { return j < 16 ? low(bytes[j]) : high(bytes[j - 16]); }
// Bit j of 4 bytes, as a fifth bit.
int fifth_bit(const std::uint8_t* bytes, int j) noexcept { return bits_of(bytes[j / 8], j % 8, 1) * 16; }

// Scales and minima of q4_k and q5_k, of 32 elements each.
void set_affine_groups(BlockNumbers& numbers, const std::uint8_t* block) noexcept {
    const float scale = half_at(block), minimum = half_at(block + 2);
    const std::uint8_t* const sixes = block + 4;
    numbers.elements_of_scale = 32;
    for (int g = 0; g < 8; ++g) {
        const bool is_first = g < 4;
        const int of_scale = is_first ? bits_of(sixes[g], 0, 6) : low(sixes[g + 4]) + bits_of(sixes[g - 4], 6, 2) * 16;
        const int of_minimum =
            is_first ? bits_of(sixes[g + 4], 0, 6) : high(sixes[g + 4]) + bits_of(sixes[g], 6, 2) * 16;
        numbers.scales[g] = scale * static_cast<float>(of_scale);
        numbers.offsets[g] = -(minimum * static_cast<float>(of_minimum));
    }
}

// Code i of q4_k and q5_k: 32 bytes hold 32 codes in their low halves and the next 32 in their high ones.
int code_of_4_bits(const std::uint8_t* bytes, int i) noexcept {
    const int byte = bytes[i / 64 * 32 + i % 32];
    return i % 64 < 32 ? low(byte) : high(byte);
}
// Code i of q2_k and q3_k: 32 bytes hold four times 32 codes.
int code_of_2_bits(const std::uint8_t* bytes, int i) noexcept {
    return bits_of(bytes[i / 128 * 32 + i % 32], i / 32 % 4 * 2, 2);
}

}  // namespace

void read_q8_0(const std::uint8_t* block, BlockNumbers& numbers) noexcept {
    set_scale(numbers, half_at(block));
    std::memcpy(numbers.codes, block + 2, 32);
}

void read_q4_0(const std::uint8_t* block, BlockNumbers& numbers) noexcept {
    set_scale(numbers, half_at(block));
    set_codes(numbers, [&](int j) { return nibble(block + 2, j) - 8; });
}

void read_q4_1(const std::uint8_t* block, BlockNumbers& numbers) noexcept {
    set_scale(numbers, half_at(block), half_at(block + 2));
    set_codes(numbers, [&](int j) { return nibble(block + 4, j); });
}

void read_q5_0(const std::uint8_t* block, BlockNumbers& numbers) noexcept {
    set_scale(numbers, half_at(block));
    set_codes(numbers, [&](int j) { return nibble(block + 6, j) + fifth_bit(block + 2, j) - 16; });
}

void read_q5_1(const std::uint8_t* block, BlockNumbers& numbers) noexcept {
    set_scale(numbers, half_at(block), half_at(block + 2));
    set_codes(numbers, [&](int j) { return nibble(block + 8, j) + fifth_bit(block + 4, j); });
}

void read_q2_k(const std::uint8_t* block, BlockNumbers& numbers) noexcept {
    const float scale = half_at(block + 80), minimum = half_at(block + 82);
    numbers.elements_of_scale = 16;
    for (int g = 0; g < 16; ++g) {
        numbers.scales[g] = scale * static_cast<float>(low(block[g]));
        numbers.offsets[g] = -(minimum * static_cast<float>(high(block[g])));
    }
    set_codes<256>(numbers, [&](int i) { return code_of_2_bits(block + 16, i); });
}

void read_q3_k(const std::uint8_t* block, BlockNumbers& numbers) noexcept {
    const float scale = half_at(block + 108);
    numbers.elements_of_scale = 16;
    for (int g = 0; g < 16; ++g) {
        const int lower = g < 8 ? low(block[96 + g]) : high(block[88 + g]);
        const int upper = bits_of(block[104 + g % 4], g / 4 * 2, 2);
        numbers.scales[g] = scale * static_cast<float>(lower + upper * 16 - 32);
    }
    set_codes<256>(numbers,
                   [&](int i) { return code_of_2_bits(block + 32, i) + bits_of(block[i % 32], i / 32, 1) * 4 - 4; });
}

void read_q4_k(const std::uint8_t* block, BlockNumbers& numbers) noexcept {
    set_affine_groups(numbers, block);
    set_codes<256>(numbers, [&](int i) { return code_of_4_bits(block + 16, i); });
}

void read_q5_k(const std::uint8_t* block, BlockNumbers& numbers) noexcept {
    set_affine_groups(numbers, block);
    set_codes<256>(numbers,
                   [&](int i) { return code_of_4_bits(block + 48, i) + bits_of(block[16 + i % 32], i / 32, 1) * 16; });
}

void read_q6_k(const std::uint8_t* block, BlockNumbers& numbers) noexcept {
    const float scale = half_at(block + 208);
    numbers.elements_of_scale = 16;
    for (int g = 0; g < 16; ++g) {
        numbers.scales[g] = scale * static_cast<float>(static_cast<std::int8_t>(block[192 + g]));
    }
    // Half a block: 64 bytes with the low bits of 64 codes and of the 64 after them, 32 with the upper ones of all.
    set_codes<256>(numbers, [&](int i) {
        const int byte = block[i / 128 * 64 + i % 64], lower = i % 128 < 64 ? low(byte) : high(byte);
        const int upper = bits_of(block[128 + i / 128 * 32 + i % 32], i / 32 % 4 * 2, 2);
        return lower + upper * 16 - 32;
    });
}

void read_iq4_nl(const std::uint8_t* block, BlockNumbers& numbers) noexcept {
    static constexpr int table[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
    set_scale(numbers, half_at(block));
    set_codes(numbers, [&](int j) { return table[nibble(block + 2, j)]; });
}

void read_mxfp4(const std::uint8_t* block, BlockNumbers& numbers) noexcept {
    // Entries are twice the numbers that the codes mean, so the scale is half of theirs.
    static constexpr int table[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
    set_scale(numbers, std::ldexp(1.0f, block[0] - 128));
    set_codes(numbers, [&](int j) { return table[nibble(block + 1, j)]; });
}

}  // namespace cairn::kernels::cpu
