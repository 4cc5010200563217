#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Machine code of NVIDIA GPUs from compute capability 7.0 on, whose instructions have 16 bytes, read from the ELF file
/// that NVRTC makes.
namespace cairn::device::cuda {

/// An operation, as the low 9 bits of its instructions, whatever the form of their operands.
enum class MachineOpcode : std::uint64_t {
    multiply_add = 0x023,            ///< FFMA
    matrix_product = 0x03c,          ///< HMMA: of 16-bit and tf32 operands
    integer_matrix_product = 0x037,  ///< IMMA
    load_global = 0x181,             ///< LDG
    branch = 0x147,                  ///< BRA
};

struct MachineInstruction {
    std::uint64_t low = 0, high = 0;
    int capability = 0;  ///< of the device that it is for: 90 for sm_90a
    MachineOpcode opcode() const noexcept { return static_cast<MachineOpcode>(low & 0x1ff); }
};

/// The instructions of a kernel; none if there is no such kernel.
std::vector<MachineInstruction> instructions_of(std::span<const std::byte> cubin, const std::string& entry);

/// How many instructions of this operation lie between the target of a branch that goes back and the branch.
int count_in_loops(std::span<const MachineInstruction> instructions, MachineOpcode opcode);

}  // namespace cairn::device::cuda
