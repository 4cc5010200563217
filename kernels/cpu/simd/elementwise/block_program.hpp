#pragma once

#include "cairn/types.hpp"
#include "kernels/cpu/element_ops.hpp"

#include <cstdint>
#include <initializer_list>

/// The compiled form of an elementwise body: a flat list of operations on blocks of 512 elements. Compiled at
/// registration; each level runs it over tensors (elementwise.cpp) or as the epilogue of product tiles
/// (tile_epilogue.cpp).
///
///     {2=add(0,1):f16 3=gelu(2)} f16 f16 -> f16     inputs 0 and 1 are loaded as f32 blocks b0, b1
///                                                   add f32  b0 b1 -> b2;  gelu f32  b2 -> b2 (last use: reused);  b2
///                                                   is stored as f16
namespace cairn::kernels::cpu {

/// The type of a value in a block: f16 and bf16 as f32, i8 and u8 as i32, boolean as a byte that is 0 or 1. With
/// BlockProgram::in_memory_format f16 and bf16 keep their memory format, and i8 and u8 are bytes; casts distinguish
/// signed bytes as i8.
enum class BlockType : std::uint8_t { f32, f64, i32, i64, byte, f16, bf16, i8 };
inline constexpr int block_type_count = 8;
inline BlockType block_type_of(DType dtype) {
    switch (dtype) {
        case DType::f64: return BlockType::f64;
        case DType::i64: return BlockType::i64;
        case DType::f32:
        case DType::f16:
        case DType::bf16: return BlockType::f32;
        case DType::boolean: return BlockType::byte;
        default: return BlockType::i32;
    }
}

// clang-format off
/// Definitions with block ops of their own, which are faster and more accurate than their bodies.
#define CAIRN_ACTIVATIONS(ROW) ROW(relu) ROW(sigmoid) ROW(silu) ROW(gelu) ROW(gelu_tanh)
/// The `to_` rows convert from the operand's BlockType; `round_` rows round a value in a wider type back to its dtype;
/// `byte_to_` rows convert bytes of another dtype; `cast_` rows convert elements in memory format.
#define CAIRN_CONVERSIONS(ROW) \
    ROW(to_f32) ROW(to_f32_odd) ROW(to_f64) ROW(to_i64) ROW(to_i32) ROW(to_i8) ROW(to_u8) ROW(to_bool) \
    ROW(round_f16) ROW(round_bf16) ROW(round_i8) ROW(round_u8) ROW(byte_to_i8) ROW(byte_to_u8) ROW(byte_to_bool) ROW(copy) \
    ROW(cast_f16) ROW(cast_bf16) ROW(cast_i8) ROW(cast_u8) ROW(cast_bool)
/// All block operations.
#define CAIRN_BLOCK_OPS(ROW) CAIRN_ELEMENT_OPS(ROW) CAIRN_ACTIVATIONS(ROW) ROW(where) CAIRN_CONVERSIONS(ROW)
// clang-format on

enum class BlockOpcode : std::uint8_t {
#define CAIRN_CODE(name, ...) name,
    CAIRN_BLOCK_OPS(CAIRN_CODE)
#undef CAIRN_CODE
        count
};

/// Operations on f16 and bf16 in memory format: those that take less time than converting a block to floats.
constexpr bool is_cheap_in_memory_format(BlockOpcode code) {
    using enum BlockOpcode;
    for (const BlockOpcode light :
         {neg, abs, sqrt, floor, add, sub, mul, div, min, max, eq, ne, lt, le, gt, ge, relu, where})
        if (code == light) return true;
    return false;
}

inline constexpr int block_size = 512;
inline constexpr std::int64_t chunk_size = 4096;
inline constexpr int max_body_inputs = 16, max_body_outputs = 8, max_body_values = 128, max_body_ops = 256,
                     max_body_rank = 8;

/// One operation. Operands and result are block indices.
struct BlockOp {
    BlockOpcode code;
    BlockType slot;  ///< type of the operands; of the second operand in `where`
    std::int16_t operand[3];
    std::int16_t result;
    std::int16_t output = -1;  ///< the output to which the result is written directly; -1: it is written to its block
};

/// A number that fills a block for the whole run.
struct BlockConstant {
    std::int16_t place;
    BlockType slot;
    double number;
};

struct BlockOutput {
    DType dtype;
    std::int16_t place;  ///< the block of its value
};

/// An elementwise body as operations on blocks. Blocks 0 .. input_count - 1 hold the inputs.
struct BlockProgram {
    int input_count, output_count, op_count, constant_count, block_count;
    std::int64_t block_bytes;  ///< bytes of one block
    bool in_memory_format;     ///< blocks hold all values in memory format; otherwise in their BlockType
    DType inputs[max_body_inputs];
    BlockOutput outputs[max_body_outputs];
    BlockConstant constants[max_body_values];
    BlockOp ops[max_body_ops];

    std::int64_t bytes_per_member() const { return block_bytes * block_count; }
};

}  // namespace cairn::kernels::cpu
