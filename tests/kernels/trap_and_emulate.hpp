#pragma once

namespace cairn::test {

/// Lets this process run dot products of AVX-VNNI, AVX-512 VNNI and BF16, and all of AMX, where the CPU lacks them:
/// each raises SIGILL, is decoded, computed as its twin (kernels/cpu/simd/vector/emulated_lane.hpp, tile_file.hpp) on
/// the registers that the system saved, and stepped over. Registers that the CPU does not have stay missing. An
/// instruction behind `ud2` is computed so on any CPU. For tests alone.
void trap_missing_instructions();

/// How many instructions were computed so far.
long trapped_instructions() noexcept;

}  // namespace cairn::test
