#include "device/cpu/host_memory.hpp"

#include <cstring>

namespace cairn::device {

void HostMemory::read_rows(const MemoryRows& rows, std::byte* host) const {
    for (std::size_t row = 0; row < rows.count; ++row)
        std::memcpy(host + row * rows.bytes, data() + rows.offset + row * rows.pitch, rows.bytes);
}

void HostMemory::write_rows(const MemoryRows& rows, const std::byte* host) {
    for (std::size_t row = 0; row < rows.count; ++row)
        std::memcpy(data() + rows.offset + row * rows.pitch, host + row * rows.bytes, rows.bytes);
}

void HostMemory::clear_rows(const MemoryRows& rows) {
    for (std::size_t row = 0; row < rows.count; ++row)
        std::memset(data() + rows.offset + row * rows.pitch, 0, rows.bytes);
}

}  // namespace cairn::device
