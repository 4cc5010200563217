#pragma once

#include "kernels/cpu/simd/elementwise/block_program.hpp"

#include <cstdint>

/// What the code per level knows about an Eigen product beside its Args.
namespace cairn::kernels::cpu {

struct EigenPlan {
    bool is_f64, is_fused;
    int threads;
    BlockProgram body;  ///< of what is fused: its first input is the product, which stands where the result will
};

/// The blocks that Eigen packs, in elements: `depth` x `columns` of b and `depth` x `rows` of a. Fixed, so that results
/// do not depend on the machine's caches, and small enough for 256 KB of second-level cache in f32.
struct EigenBlocks {
    static constexpr std::int64_t depth = 256, columns = 192, rows = 256;
    /// Scratch of one member in elements, each of the two blocks beginning at a multiple of 64 bytes. The blocks of the
    /// body lie behind those of all members.
    static constexpr std::int64_t elements = depth * (columns + rows);
};

}  // namespace cairn::kernels::cpu
