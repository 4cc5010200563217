#pragma once

#include "kernels/cpu/panel/layout.hpp"
#include "kernels/cpu/simd/elementwise/block_program.hpp"

#include <cstdint>

/// What the code per level knows about a product with a packed weight beside its Args.
namespace cairn::kernels::cpu {

/// What passes through a gate beside x @ w: nothing, there is none; x @ v of another packed weight; or the other half
/// of the columns, be the first or the last half the gate.
enum class Gate : std::uint8_t { none, weight, first_half, last_half };

/// Inputs: x, the packed weight or both, then those of the body. Its first inputs are the sums of x @ w, and of what
/// passes through the gate. Of halves a bias has the columns of both, and stands for two inputs of the body. Where the
/// largest column of each row is asked for there is no body, and behind the weight perhaps a bias.
struct PanelPlan {
    /// Rows of `depth` elements, a multiple of 4 KiB apart, are copied to lie this far apart, a cache line further.
    static constexpr std::int64_t spread_stride(std::int64_t depth) { return (depth + 15) / 16 * 16 + 16; }

    /// Rows of x that are worked on together.
    static constexpr std::int64_t rows_per_block = 192;
    static constexpr std::int64_t bytes_of_waiting_sums = rows_per_block * panel_width * 4;

    Gate gate;
    DType stored;    ///< of what is in the panels
    bool is_argmax;  ///< the output is which column is the largest
    bool is_biased;  ///< of these
    BlockProgram body;
    std::int64_t depth;         ///< rows of a panel that are summed over before others
    std::int64_t ahead;         ///< rows of a panel by which few rows of x fetch it ahead
    std::int64_t pending_sums;  ///< panels over which sums of a block wait for others, of each member
    bool spreads;               ///< rows of x are read from a copy in the workspace, `spread_stride` apart
    bool by_columns;            ///< outputs hold the columns from these on; else all
    std::int64_t first_column[max_body_outputs];
};

}  // namespace cairn::kernels::cpu
