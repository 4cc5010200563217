#include "device/mapped_memory.hpp"

namespace cairn::device {

MappedMemory::MappedMemory(Memory& memory, const MemoryRows& rows, MapAccess access)
    : memory_(&memory), rows_(rows), base_(memory.data() + rows.offset), pitch_(rows.pitch) {
    if (memory.is_host_accessible()) return;
    copy_.resize(rows.bytes * rows.count);
    base_ = copy_.data();
    pitch_ = rows.bytes;
    if (access != MapAccess::overwrite && !copy_.empty()) memory.read(rows, base_);
}

void MappedMemory::write_back() {
    if (!copy_.empty()) memory_->write(rows_, copy_.data());
}

}  // namespace cairn::device
