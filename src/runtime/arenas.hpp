#pragma once

#include "device/context_impl.hpp"
#include "graph/types/per_device.hpp"
#include "runtime/byte_range.hpp"

#include <cstdint>
#include <memory>

namespace cairn::runtime {

/// The arenas that programs run in: one on each device that they use, reserved for the largest sizes and touched as far
/// as the sizes of a run need.
class Arenas {
public:
    Arenas() = default;
    /// Reserves `bytes` on each device. Throws Error(memory).
    Arenas(const Context::Impl& context, const types::PerDevice<std::int64_t>& bytes, device::MemoryUse use);

    /// Touches the first `bytes` of each device's arena. Throws Error(memory).
    void touch(const types::PerDevice<std::int64_t>& bytes);
    /// The first byte of each device's arena.
    const types::PerDevice<std::byte*>& bases() const noexcept { return bases_; }
    /// Fills the touched parts with 0xff, which reads as NaN in every float dtype.
    void poison();
    /// The touched part of a device's arena; empty if there is none.
    ByteRange touched(Device device) const noexcept;

private:
    struct Arena {
        std::unique_ptr<device::Memory> memory;
        std::size_t touched = 0;
    };
    types::PerDevice<Arena> arenas_;
    types::PerDevice<std::byte*> bases_;
};

/// Sets each device's bytes in `most` to the larger of those in `most` and `bytes`.
void update_maximum(types::PerDevice<std::int64_t>& most, const types::PerDevice<std::int64_t>& bytes);

}  // namespace cairn::runtime
