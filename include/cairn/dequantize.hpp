#pragma once

#include "cairn/ops.hpp"

#include <string_view>

/// Composites that widen quantized elements to f32, first the blocks of GGUF files: [.., B, bytes of a block] of u8 to
/// [.., B * elements of a block], the elements that ggml's `dequantize_row` gives (ggml-org/ggml, src/ggml-quants.c).
/// All products of a scale and a code are exact in f32. Errors name the composite, the shape and the bytes of a block.
///
///     q4_0: bytes 0..1 an f16 scale d, bytes 2..17 codes of 4 bits; element i is d * (code[i] - 8)
///     graph.weight("w", DType::u8, {64, 2, 18});    // 64 rows of 2 blocks
///     dequantize_q4_0(w);                           // f32[64,64]
namespace cairn::inline v0 {

/// 32 elements in 34 bytes: a scale and codes of 8 bits with sign.
CAIRN_API Tensor dequantize_q8_0(const Operand& blocks);
/// 32 elements in 18 bytes: a scale and codes of 4 bits, less 8.
CAIRN_API Tensor dequantize_q4_0(const Operand& blocks);
/// 32 elements in 20 bytes: a scale, a minimum and codes of 4 bits.
CAIRN_API Tensor dequantize_q4_1(const Operand& blocks);
/// 32 elements in 22 bytes: a scale and codes of 5 bits, less 16.
CAIRN_API Tensor dequantize_q5_0(const Operand& blocks);
/// 32 elements in 24 bytes: a scale, a minimum and codes of 5 bits.
CAIRN_API Tensor dequantize_q5_1(const Operand& blocks);
/// 256 elements in 84 bytes: two scales, and for each 16 elements a scale and a minimum of 4 bits; codes of 2 bits.
CAIRN_API Tensor dequantize_q2_k(const Operand& blocks);
/// 256 elements in 110 bytes: a scale, and for each 16 elements one of 6 bits, less 32; codes of 3 bits, less 4.
CAIRN_API Tensor dequantize_q3_k(const Operand& blocks);
/// 256 elements in 144 bytes: two scales, and for each 32 elements a scale and a minimum of 6 bits; codes of 4 bits.
CAIRN_API Tensor dequantize_q4_k(const Operand& blocks);
/// 256 elements in 176 bytes: as q4_k, with codes of 5 bits.
CAIRN_API Tensor dequantize_q5_k(const Operand& blocks);
/// 256 elements in 210 bytes: a scale, and for each 16 elements one of 8 bits with sign; codes of 6 bits, less 32.
CAIRN_API Tensor dequantize_q6_k(const Operand& blocks);
/// 32 elements in 18 bytes: a scale and codes of 4 bits that number the entries of a table.
CAIRN_API Tensor dequantize_iq4_nl(const Operand& blocks);
/// 32 elements in 17 bytes: an exponent of 8 bits and floats of 4 bits (OCP Microscaling, MXFP4).
CAIRN_API Tensor dequantize_mxfp4(const Operand& blocks);

/// Floats of 8 bits, of any shape, to f32: 4 bits of exponent with bias 7 and 3 of mantissa; no infinities, 0x7f and
/// 0xff are NaN, the largest is 448 (E4M3 of OCP OFP8, F8_E4M3 of safetensors).
CAIRN_API Tensor dequantize_f8_e4m3(const Operand& bytes);
/// The same with 5 bits of exponent and 2 of mantissa: the upper bytes of f16 (E5M2 of OCP OFP8, F8_E5M2).
CAIRN_API Tensor dequantize_f8_e5m2(const Operand& bytes);

/// How a GPTQ tensor is packed (`quantization_config` of its model).
struct GptqFormat {
    int bits = 4;  ///< of a code: 2, 4 or 8
    /// Stored zeros are less by 1, as in all files but those with `"checkpoint_format": "gptq_v2"`.
    bool zeros_are_less_by_one = true;
};

/// The weight [K, N] of a layer quantized by GPTQ, as f32: `scales[g, n] * (code[k, n] - zero[g, n])`, where g is the
/// group of row k. With c = 32 / bits codes in a word, the lowest bits first:
///
///     codes     i32[K/c,N]    row k is in word k / c
///     zeros     i32[G,N/c]    column n is in word n / c
///     scales    f16[G,N], or another float
///     groups    i32[K]        `g_idx`, the group of each row; without it K is split into G equal groups
CAIRN_API Tensor dequantize_gptq(const Operand& codes, const Operand& zeros, const Operand& scales,
                                 const GptqFormat& format = {});
CAIRN_API Tensor dequantize_gptq(const Operand& codes, const Operand& zeros, const Operand& scales,
                                 const Operand& groups, const GptqFormat& format = {});
/// The same of a layer quantized by AWQ: codes i32[K,N/8] of 4 bits, zeros i32[G,N/8], scales [G,N]. A word holds the
/// columns 0, 2, 4, 6, 1, 3, 5 and 7 of its eight, the lowest bits first.
CAIRN_API Tensor dequantize_awq(const Operand& codes, const Operand& zeros, const Operand& scales);

/// The composite of a type by ggml's name: `dequantize(w, "Q4_K")`. Throws Error(unsupported) for a type without one.
CAIRN_API Tensor dequantize(const Operand& blocks, std::string_view type);

}  // namespace cairn::inline v0
