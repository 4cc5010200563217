#pragma once

#include "kernels/cuda/rows/rows.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

/// What the kernels for one row of half a transformer layer share: two matrices, weights in shared memory, and a result
/// to which each cluster of blocks contributes one part of partial sums (kernels/cuda/text/norm_row.cuh).
namespace cairn::kernels::cuda {

constexpr int row_block_cluster = 8;  ///< blocks in a cluster
constexpr std::int64_t row_block_shared_bytes =
    227 * 1024;  ///< the most that a block can have, of compute capability 9.0

/// The inputs that are matrices.
using RowBlockMatrices = std::array<std::size_t, 2>;

/// The minimum of resident blocks per multiprocessor for `__launch_bounds__` of a kernel whose blocks use this much
/// shared memory: 2 if a block of the next kernel, which prefetches its weights, fits beside one, else 1.
int resident_blocks(std::int64_t shared_bytes);

/// How a block multiplies a row of `width` elements with `columns` columns of a matrix whose elements have `element`
/// bytes (kernels/cuda/text/row_product.cuh).
struct RowProduct {
    std::int64_t warps;           ///< for the columns that 16 bytes hold
    std::int64_t threads, bytes;  ///< of the block, and of the columns in its shared memory
};
RowProduct row_product(std::int64_t width, std::int64_t columns, std::int64_t element);

/// Why the inputs cannot be those of such a kernel; empty if they can. Input 0 is the row, of f32; weights are bound
/// and dense, matrices of one dtype, f32, f16 or bf16, and others of f32. `states` are neither; their dtypes are not
/// checked.
Refusal row_block_input_refusal(const Problem& problem, const RowBlockMatrices& matrices,
                                std::initializer_list<std::size_t> states);

/// The cost of such a kernel in `blocks` blocks with `operations` operations.
Cost row_block_cost(const Problem& problem, double operations, std::int64_t blocks);

/// The problem with output 0 in plain memory.
Problem with_plain_result(Problem problem);

/// cuda_row() for f32 and compute capability 9.0. It reads input 0 in partial sums and widens the matrices;
/// `output_layout` is Kernel::output_layout.
Kernel row_block_kernel(std::string_view family, std::string_view definition, Accepts accepts, Code code, WorkCost cost,
                        std::vector<std::string> samples, std::string (*output_layout)(const Problem&, int),
                        const RowBlockMatrices& matrices);

}  // namespace cairn::kernels::cuda
