#pragma once

#include "cairn/units.hpp"
#include "device/device_code.hpp"

#include <vector>

/// Probes: kernels from whose times the rates of a device follow. Their texts use the wrappers of instructions in
/// kernels/cuda/text, which the prelude of a CUDA device contains.
namespace cairn::device::cuda {

/// Threads of a block, and blocks per multiprocessor, of all probes but empty_probe(): half of what a multiprocessor
/// holds at most.
inline constexpr int probe_threads = 256, probe_blocks = 4;

/// Reads 16-byte words, past the L1 cache. Operands: the words, and a result for each thread of the grid, the sum
/// modulo 2^32 of the 32-bit integers that it read. Symbols: the number of words, and how often all of them are read.
DeviceCode read_probe();

/// Does nothing.
DeviceCode empty_probe();

/// Multiply-adds in registers, in independent chains.
struct ArithmeticProbe {
    Arithmetic arithmetic;
    /// Operand: a float for each thread of the grid, which depends on all its results. Symbol: the number of rounds.
    DeviceCode code;
    double operations;  ///< of a thread in a round; a multiply-add counts as two
};
/// f32, and with tensor cores f16, bf16, i8 and tf32 by mma.sync.
std::vector<ArithmeticProbe> arithmetic_probes(bool has_tensor_cores);

/// Chains of a thread in the arithmetic probes, and multiply-adds of a chain of f32 in a round. Of mma.sync it is one.
inline constexpr int probe_chains = 8, probe_steps = 8;

}  // namespace cairn::device::cuda
