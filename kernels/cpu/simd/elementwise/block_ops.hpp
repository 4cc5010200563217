#pragma once

#include "kernels/cpu/level.hpp"
#include "kernels/cpu/simd/elementwise/block_program.hpp"

/// The operations of block_program.hpp on whole blocks.
namespace CAIRN_LEVEL {

/// r[i] = f(a[i], b[i], c[i]) for n elements; r may alias a, b or c. Unused operands are ignored.
using BlockFunction = void (*)(void* r, const void* a, const void* b, const void* c, std::int64_t n);

/// The functions of one opcode by BlockType of the operands; null if not available for a type.
struct BlockFunctionsByType {
    BlockFunction of[block_type_count];
};
extern const BlockFunctionsByType block_functions[static_cast<int>(BlockOpcode::count)];

}  // namespace CAIRN_LEVEL
