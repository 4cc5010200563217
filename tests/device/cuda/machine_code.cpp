#include "tests/device/cuda/machine_code.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace cairn::device::cuda {
namespace {

constexpr std::size_t instruction_bytes = 16;
constexpr std::int64_t words_of_instruction = instruction_bytes / 4;

template <class T>
T read_at(std::span<const std::byte> bytes, std::size_t offset) {
    T value{};
    if (offset <= bytes.size() && sizeof value <= bytes.size() - offset)
        std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

/// Instructions from the end of a branch to its target: negative if it goes back.
std::int64_t distance_of(const MachineInstruction& branch) {
    // A signed number of words of 4 bytes in bits 34 to 81. From capability 9.0 on its lowest 8 bits are bits 16 to 23.
    const std::uint64_t bits = branch.low >> 34 | (branch.high & 0x3ffff) << 30;
    auto words = static_cast<std::int64_t>(bits << 16) >> 16;
    if (branch.capability >= 90) words = words * 256 + static_cast<std::int64_t>(branch.low >> 16 & 0xff);
    return words / words_of_instruction;
}

}  // namespace

std::vector<MachineInstruction> instructions_of(std::span<const std::byte> cubin, const std::string& entry) {
    const auto header = read_at<Elf64_Ehdr>(cubin, 0);
    const auto section = [&](std::size_t i) {
        return read_at<Elf64_Shdr>(cubin, header.e_shoff + i * header.e_shentsize);
    };
    const std::size_t names = section(header.e_shstrndx).sh_offset;
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
        const Elf64_Shdr found = section(i);
        if (".text." + entry != reinterpret_cast<const char*>(cubin.data()) + names + found.sh_name) continue;
        std::vector<MachineInstruction> instructions;
        for (std::size_t at = 0; at < found.sh_size; at += instruction_bytes)
            instructions.push_back({read_at<std::uint64_t>(cubin, found.sh_offset + at),
                                    read_at<std::uint64_t>(cubin, found.sh_offset + at + 8),
                                    static_cast<int>(header.e_flags >> 8 & 0xff)});
        return instructions;
    }
    return {};
}

int count_in_loops(std::span<const MachineInstruction> instructions, MachineOpcode opcode) {
    std::vector<bool> is_in_loop(instructions.size());
    for (std::size_t at = 0; at < instructions.size(); ++at) {
        if (instructions[at].opcode() != MachineOpcode::branch) continue;
        const std::int64_t target = static_cast<std::int64_t>(at) + 1 + distance_of(instructions[at]);
        // An endless loop that branches to itself pads the end of the code.
        for (std::int64_t i = std::max<std::int64_t>(target, 0); i < static_cast<std::int64_t>(at); ++i)
            is_in_loop[static_cast<std::size_t>(i)] = true;
    }
    int count = 0;
    for (std::size_t at = 0; at < instructions.size(); ++at)
        count += is_in_loop[at] && instructions[at].opcode() == opcode ? 1 : 0;
    return count;
}

}  // namespace cairn::device::cuda
