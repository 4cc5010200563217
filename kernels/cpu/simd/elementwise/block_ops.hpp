#pragma once

#include "kernels/cpu/level.hpp"
#include "kernels/cpu/simd/elementwise/block_program.hpp"

/// The operations of body.hpp on whole blocks.
namespace CAIRN_LEVEL {

/// r[i] = f(a[i], b[i], c[i]) for n elements; r may be any of a, b, c. Operands a function does not have are ignored.
using BlockFunction = void (*)(void* r, const void* a, const void* b, const void* c, std::int64_t n);

/// One operation on the slots of its operands; null where it is not offered for a slot.
struct BlockFunctionsByType {
    BlockFunction of[block_type_count];
};
extern const BlockFunctionsByType block_functions[static_cast<int>(BlockOpcode::count)];

}  // namespace CAIRN_LEVEL
