#pragma once

#include "kernels/cpu/simd/body.hpp"
#include "kernels/cpu/table.hpp"

/// The operations of body.hpp on whole blocks.
namespace CAIRN_LEVEL {

/// r[i] = f(a[i], b[i], c[i]) for n elements; r may be any of a, b, c. Operands a function does not have are ignored.
using BlockFunction = void (*)(void* r, const void* a, const void* b, const void* c, std::int64_t n);

/// Null where an operation is not offered for a slot.
extern const BlockFunction block_functions[static_cast<int>(BlockCode::count)][slot_count];

}  // namespace CAIRN_LEVEL
