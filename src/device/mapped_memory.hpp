#pragma once

#include "device/memory.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::device {

/// How the host uses mapped memory.
enum class MapAccess : std::uint8_t {
    read,
    modify,     ///< reads and writes
    overwrite,  ///< writes all of it before it reads any
};

/// Rows of a device's memory mapped to the host: in place where the host can access them, otherwise a copy, which
/// write_back() stores.
class MappedMemory {
public:
    /// The rows must be touched. `memory` must outlive it.
    MappedMemory(Memory& memory, const MemoryRows& rows, MapAccess access);
    MappedMemory(const MappedMemory&) = delete;
    MappedMemory& operator=(const MappedMemory&) = delete;

    std::byte* row(std::size_t i) const noexcept { return base_ + i * pitch_; }
    /// Bytes from a row to the next, as mapped.
    std::size_t pitch() const noexcept { return pitch_; }
    const MemoryRows& rows() const noexcept { return rows_; }
    /// Stores the changes. Required after access other than `read`.
    void write_back();

private:
    Memory* memory_;
    MemoryRows rows_;
    std::byte* base_;
    std::size_t pitch_;
    std::vector<std::byte> copy_;
};

}  // namespace cairn::device
