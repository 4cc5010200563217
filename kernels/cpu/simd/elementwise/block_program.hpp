#pragma once

#include "cairn/types.hpp"
#include "kernels/cpu/element_ops.hpp"

#include <cstdint>
#include <initializer_list>

/// What an elementwise body becomes before it runs: a flat list of operations on blocks of 512 elements. Made by the
/// rows, run by each level over tensors (elementwise.cpp) or on the parts of a product (tile_body.cpp).
///
///     {2=add(0,1):f16 3=gelu(2)} f16 f16 -> f16     inputs 0 and 1 are loaded as f32 blocks b0, b1
///                                                   add f32  b0 b1 -> b2;  gelu f32  b2 -> b2 (last use: reused);  b2
///                                                   is stored as f16
namespace cairn::kernels::cpu {

/// How a value stands in a block: f16 and bf16 as f32, i8 and u8 as i32, boolean as a byte that is 0 or 1. Where values
/// stand in blocks as they lie in memory (BlockProgram::in_memory_format), f16 and bf16 do so, too, and i8 and u8 are
/// bytes; casts tell those with a sign from others, as i8.
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
/// Definitions of their own that are quicker and more accurate than their bodies.
#define CAIRN_ACTIVATIONS(ROW) ROW(relu) ROW(sigmoid) ROW(silu) ROW(gelu) ROW(gelu_tanh)
/// The `to_` rows convert from the operand's slot; `round_` rows bring a value in a wider slot back to its dtype; the
/// `byte_to_` rows convert bytes that are not of that dtype already, the `cast_` rows elements as they lie in memory.
#define CAIRN_CONVERSIONS(ROW) \
    ROW(to_f32) ROW(to_f32_odd) ROW(to_f64) ROW(to_i64) ROW(to_i32) ROW(to_i8) ROW(to_u8) ROW(to_bool) \
    ROW(round_f16) ROW(round_bf16) ROW(round_i8) ROW(round_u8) ROW(byte_to_i8) ROW(byte_to_u8) ROW(byte_to_bool) ROW(copy) \
    ROW(cast_f16) ROW(cast_bf16) ROW(cast_i8) ROW(cast_u8) ROW(cast_bool)
/// Every operation on blocks.
#define CAIRN_BLOCK_OPS(ROW) CAIRN_ELEMENT_OPS(ROW) CAIRN_ACTIVATIONS(ROW) ROW(where) CAIRN_CONVERSIONS(ROW)
// clang-format on

enum class BlockOpcode : std::uint8_t {
#define CAIRN_CODE(name, ...) name,
    CAIRN_BLOCK_OPS(CAIRN_CODE)
#undef CAIRN_CODE
        count
};

/// What f16 and bf16 are offered for as they lie in memory: whatever takes less time than to bring a block to floats.
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

/// One operation: places are numbers of blocks.
struct BlockOp {
    BlockOpcode code;
    BlockType slot;  ///< of the operands; of the second operand in `where`
    std::int16_t operand[3];
    std::int16_t result;
    std::int16_t output = -1;  ///< the output this result may be written to at once; -1: to its block
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

/// Places 0 .. input_count - 1 belong to the inputs.
struct BlockProgram {
    int input_count, output_count, op_count, constant_count, place_count;
    std::int64_t block_bytes;  ///< of one block
    bool in_memory_format;     ///< blocks hold all values as memory does; else in their slots
    DType inputs[max_body_inputs];
    BlockOutput outputs[max_body_outputs];
    BlockConstant constants[max_body_values];
    BlockOp ops[max_body_ops];

    std::int64_t bytes_per_member() const { return block_bytes * place_count; }
};

}  // namespace cairn::kernels::cpu
