#pragma once

#include <cstdint>

namespace cairn::test {

/// The functions of kernels/cpu/simd/vector/instructions.hpp and tile_registers.hpp from one compilation of
/// instruction_table.cpp, on vectors in memory; null if the compilation has no such function.
struct InstructionTable {
    using OnVectors = void (*)(void* result, const void* a, const void* b);
    using OnPart = void (*)(float* to, const float* from, std::int64_t count);
    /// c += a b, for `rows` of a and c, `columns` of c, and `depth` lanes of four bytes.
    using OnTiles = void (*)(void* c, const void* a, const void* b, int rows, int columns, int depth);

    int lanes = 0;
    OnVectors multiply_add{}, multiply_add_f64{}, multiply_add_u16{}, multiply_add_u32{}, sqrt{}, scaled{}, from_f16{},
        to_f16{}, pairs_i16{}, pairs_u8_i8{}, dot_i16{}, dot_i16_saturated{}, dot_u8_i8{}, dot_u8_i8_saturated{},
        dot_bf16{}, to_bf16{};
    OnPart load_part{}, store_part{};
    OnTiles tile_i8{}, tile_u8_i8{}, tile_bf16{};
};

}  // namespace cairn::test

extern const cairn::test::InstructionTable cairn_instructions_twin8, cairn_instructions_twin16;
#if defined(__x86_64__)
extern const cairn::test::InstructionTable cairn_instructions_avx_vnni, cairn_instructions_avx512_vnni_bf16,
    cairn_instructions_amx;
#endif
