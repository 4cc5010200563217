#pragma once

#include "kernels/cpu/panel/layout.hpp"
#include "kernels/cpu/simd/elementwise/block_program.hpp"

#include <cstdint>

/// The plan that registration passes to the code of each level for a product with a packed weight.
namespace cairn::kernels::cpu {

/// The operand that the gate of a gated product multiplies: none, the product is not gated; x @ v of another packed
/// weight; or the other half of the columns, where the gate is the first or the last half.
enum class Gate : std::uint8_t { none, weight, first_half, last_half };

/// 32 consecutive elements of a row of x as integers: x[k] is scale times the integer, up to half of the scale. The
/// bytes are integers of 16 bits, or in the order of codes in their words: integers of 8 bits; or the high digits of
/// integers high * 256 + low, which have a sign, then the low ones. `sums` of the elements and of the integers are
/// those of the first and of the second 16.
struct QuantizedGroup {
    std::int8_t bytes[64];
    float scale, sums[2];
    std::int32_t integer_sums[2];
};

/// Inputs: x, the packed weight or both, then those of the epilogue. The first epilogue inputs are the sums of x @ w,
/// and those that the gate multiplies. A bias of a gate by halves has the columns of both, and serves as two inputs of
/// the epilogue. An adapter's a and b stand before the bias. An argmax has no epilogue; its inputs are x, the weight
/// and optionally a bias.
struct PanelPlan {
    /// Row stride of a copy of rows of `depth` elements that are a multiple of 4 KiB apart: padded by a cache line.
    static constexpr std::int64_t padded_stride(std::int64_t depth) { return (depth + 15) / 16 * 16 + 16; }

    /// Rows of x up to which the codes of a panel are read as they are.
    static constexpr std::int64_t few_rows_of_codes = 10;
    /// Rows of x up to which b of a low rank is read as it is.
    static constexpr std::int64_t few_rows_of_low_rank = 16;
    /// Rows of x in one block.
    static constexpr std::int64_t rows_per_block = 192;
    static constexpr std::int64_t bytes_of_pending_sums = rows_per_block * panel_width * 4;

    Gate gate;
    DType stored;     ///< dtype of the panels
    int code_layout;  ///< of panels of codes, the index in code_layouts; -1: of floats
    bool is_argmax;   ///< the output is the column index of the maximum of each row
    bool is_biased;   ///< a bias is added before the argmax
    BlockProgram body;
    std::int64_t depth;          ///< maximal rows of a panel in one part of the depth
    std::int64_t ahead;          ///< prefetch distance for few rows of x, in rows of a panel
    std::int64_t pending_sums;   ///< panels whose partial sums each member keeps
    std::int64_t widened_bytes;  ///< of each member, for a part of a panel of codes
    std::int64_t split_bytes;    ///< of each member, for two parts of a panel in bf16 parts
    bool pads_rows;              ///< rows of x are read from a copy in the workspace with stride `padded_stride`
    bool by_columns;             ///< outputs hold the columns from first_column on; otherwise all columns
    std::int64_t first_column[max_body_outputs];
    std::int64_t low_rank;  ///< of an adapter, x @ w + scale (x @ a) @ b; 0: there is none
    float low_rank_scale;
};

}  // namespace cairn::kernels::cpu
