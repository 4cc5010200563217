#pragma once

#include "device/memory.hpp"

#include <cstddef>

namespace cairn::device {

/// Memory that the host addresses.
class HostMemory : public Memory {
protected:
    HostMemory(std::byte* base, std::size_t capacity) noexcept : Memory(base, capacity, true) {}

private:
    void read_rows(const MemoryRows& rows, std::byte* host) const final;
    void write_rows(const MemoryRows& rows, const std::byte* host) final;
    void clear_rows(const MemoryRows& rows) final;
};

}  // namespace cairn::device
