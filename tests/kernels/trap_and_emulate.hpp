#pragma once

namespace cairn::test {

/// Lets this process run dot products of AVX-VNNI, AVX-512 VNNI and BF16, and all of AMX, on CPUs that lack them: each
/// instruction raises SIGILL, is decoded, computed by its twin (kernels/cpu/simd/vector/emulated_lane.hpp,
/// emulated_tiles.hpp) on the registers that the system saved, and skipped. Registers that the CPU lacks stay missing.
/// An instruction after `ud2` is emulated on any CPU. For tests only.
void trap_missing_instructions();

/// The number of instructions emulated so far.
long trapped_instructions() noexcept;

}  // namespace cairn::test
