#pragma once

#include "device/backend.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace cairn::kernel_check {

/// Makes memory of the host accessible to a device for one run: as it is if the device can access it, otherwise as a
/// copy in the device's own memory.
class OperandPlacement {
public:
    /// The backend must outlive it.
    explicit OperandPlacement(device::Backend& backend);

    /// The addresses of these blocks for the device, aligned like the blocks, at most to Memory::alignment. The blocks
    /// must stay where they are until fetch(). Throws Error(memory).
    std::vector<std::byte*> place(std::span<const std::span<std::byte>> blocks);
    /// Stores in the blocks what the device has made of them.
    void fetch() const;

private:
    device::Backend& backend_;
    bool is_host_memory_;
    std::unique_ptr<device::Memory> memory_;                            // of the device, for all copies
    std::vector<std::pair<std::span<std::byte>, std::size_t>> copies_;  // blocks, with the offsets of their copies
};

}  // namespace cairn::kernel_check
