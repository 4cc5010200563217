#pragma once

#include "device/memory.hpp"

#include <cstddef>

namespace cairn::device {

/// Memory that the host addresses.
class HostMemory : public Memory {
public:
    void read(const MemoryRows& rows, std::byte* host) const final;
    void write(const MemoryRows& rows, const std::byte* host) final;
    void clear(const MemoryRows& rows) final;

protected:
    HostMemory(std::byte* base, std::size_t capacity) noexcept : Memory(base, capacity, true) {}
};

}  // namespace cairn::device
