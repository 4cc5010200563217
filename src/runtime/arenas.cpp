#include "runtime/arenas.hpp"

#include <algorithm>
#include <vector>

namespace cairn::runtime {

Arenas::Arenas(const Context::Impl& context, const types::PerDevice<std::int64_t>& bytes, device::MemoryUse use) {
    for (const auto& [device, size] : bytes) {
        Arena& arena = arenas_[device];
        arena.memory = context.backend(device).reserve(static_cast<std::size_t>(size), use);
        bases_[device] = arena.memory->data();
    }
}

void Arenas::touch(const types::PerDevice<std::int64_t>& bytes) {
    for (const auto& [device, size] : bytes) {
        Arena& arena = *arenas_.find(device);
        arena.memory->touch(0, static_cast<std::size_t>(size));
        arena.touched = std::max(arena.touched, static_cast<std::size_t>(size));
    }
}

void Arenas::poison() {
    for (auto& [device, arena] : arenas_) {
        const std::vector<std::byte> pattern(arena.touched, std::byte{0xff});
        if (!pattern.empty()) arena.memory->write({0, pattern.size()}, pattern.data());
    }
}

ByteRange Arenas::touched(Device device) const noexcept {
    const Arena* const arena = arenas_.find(device);
    return arena == nullptr ? ByteRange{} : ByteRange{arena->memory->data(), arena->touched};
}

void update_maximum(types::PerDevice<std::int64_t>& most, const types::PerDevice<std::int64_t>& bytes) {
    for (const auto& [device, size] : bytes) {
        std::int64_t& of_device = most[device];
        of_device = std::max(of_device, size);
    }
}

}  // namespace cairn::runtime
