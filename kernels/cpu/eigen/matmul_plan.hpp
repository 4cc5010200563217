#pragma once

#include "kernels/cpu/simd/elementwise/block_program.hpp"

#include <cstdint>

/// The plan that registration passes to the code of each level for an Eigen product.
namespace cairn::kernels::cpu {

struct EigenPlan {
    bool is_f64, is_fused;
    int threads;
    BlockProgram body;  ///< the epilogue; its first input is the product, stored in the memory of the output
};

/// Cache blocking of the packed operands, in elements: `depth` x `columns` of b and `depth` x `rows` of a. Fixed, so
/// that results do not depend on the machine's caches, and small enough for 256 KB of L2 cache in f32.
struct EigenBlocks {
    static constexpr std::int64_t depth = 256, columns = 192, rows = 256;
    /// Scratch of one team member in elements; both blocks begin at a multiple of 64 bytes. The blocks of the epilogue
    /// follow those of all members.
    static constexpr std::int64_t elements = depth * (columns + rows);
};

}  // namespace cairn::kernels::cpu
