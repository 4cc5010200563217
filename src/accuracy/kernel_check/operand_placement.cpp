#include "accuracy/kernel_check/operand_placement.hpp"

#include <algorithm>

namespace cairn::kernel_check {

OperandPlacement::OperandPlacement(device::Backend& backend)
    : backend_(backend),
      is_host_memory_(backend.reserve(backend.page_bytes(), device::MemoryUse::scratch)->is_host_accessible()) {}

std::vector<std::byte*> OperandPlacement::place(std::span<const std::span<std::byte>> blocks) {
    std::vector<std::byte*> addresses;
    copies_.clear();
    if (is_host_memory_) {
        for (const std::span<std::byte> block : blocks) addresses.push_back(block.data());
        return addresses;
    }
    constexpr std::size_t alignment = device::Memory::alignment;
    std::size_t end = 0;
    for (const std::span<std::byte> block : blocks) {
        copies_.emplace_back(block, end);
        end += (block.size() + alignment - 1) / alignment * alignment;
    }
    if (memory_ == nullptr || memory_->capacity() < end) {
        const std::size_t bytes = std::max(end, memory_ == nullptr ? 0 : 2 * memory_->capacity());
        memory_.reset();
        memory_ = backend_.reserve(bytes, device::MemoryUse::scratch);
    }
    memory_->touch(0, end);
    for (const auto& [block, offset] : copies_) {
        memory_->write({offset, block.size()}, block.data());
        addresses.push_back(memory_->data() + offset);
    }
    return addresses;
}

void OperandPlacement::fetch() const {
    for (const auto& [block, offset] : copies_) memory_->read({offset, block.size()}, block.data());
}

}  // namespace cairn::kernel_check
