#pragma once

#include "tests/emulated_cuda/emulated_module.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cairn::emulated_cuda {

// Kernels of the tests of the emulator, without the prelude.

/// z = x + y; one thread an element.
extern const char* const add_kernel;
/// y[row] = sum of a row of x; one block a row.
extern const char* const sum_kernel;
/// y = softmax of the rows of x; one block a row.
extern const char* const softmax_kernel;
/// y = transposed x, by tiles of 32 x 32 and blocks of 32 x 8.
extern const char* const transpose_kernel;
/// One warp writes to shared memory what another reads, ordered by named barriers.
extern const char* const handover_kernel;
/// y[0] = sum of x, by blocks of which the last to finish adds up the others' results.
extern const char* const last_block_kernel;
/// c = a b in f32, by tiles of 16 x 16 x 16 that are copied two steps ahead; strides are multiples of 4.
extern const char* const product_kernel;
/// y = 2 x, by bulk copies of 64 floats; a block a copy.
extern const char* const bulk_kernel;
/// y[rank] = sum of x in a cluster of 4 blocks, each of which sums a part and sends it to all.
extern const char* const cluster_kernel;
/// c = a b of 16-bit operands by mma; one warp a tile of 16 x 8.
extern const char* const mma_kernel;
/// y = w x, where w may be read before the dependency wait.
extern const char* const dependent_kernel;

/// Kernels with the prelude, compiled together.
EmulatedModule compiled(const std::vector<std::string>& kernels);

/// A text with one part replaced, which must occur once.
std::string replaced(const std::string& text, const std::string& from, const std::string& to);

/// Tiles that cover a size.
inline unsigned tiles(int size, int tile) { return static_cast<unsigned>((size + tile - 1) / tile); }

/// Numbers in [-1, 1), the same for a seed.
std::vector<float> random_floats(std::size_t count, std::uint32_t seed);

}  // namespace cairn::emulated_cuda
