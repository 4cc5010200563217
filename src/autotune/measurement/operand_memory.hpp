#pragma once

#include "device/backend.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>

/// Memory that measured kernels read and write; filled once for all of them.
namespace cairn::autotune {

/// Fills memory with data that is valid in every floating dtype: seeded normal numbers as bf16, with a deviation of
/// 1/8. Read as f32 they are normally distributed too, as f16 or f64 they are finite, none of them subnormal. The same
/// on each call.
void fill_with_pattern(std::byte* data, std::size_t bytes);

/// Limits on filling memory.
struct FillOptions {
    std::stop_token stop = {};  ///< a stop throws Cancelled within a millisecond or two
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
};

/// Three regions of operand memory. `streamed` is larger than the caches and is read as a ring, each call from where
/// the last one stopped: its data was last touched that many bytes ago, however little a call reads. `kept` is read at
/// the same place by every call; `written` is for results. The first two hold the pattern.
class OperandMemory {
public:
    /// `rotation`: bytes of the ring, more than the caches hold; `private_cache`: bytes of a core's private caches;
    /// `use`: of the ring, which determines its pages. The backend must outlive it.
    OperandMemory(device::Backend& backend, std::size_t rotation, std::size_t private_cache,
                  device::MemoryUse use = device::MemoryUse::arena)
        : rotation(rotation), private_cache(private_cache), backend_(backend), use_(use) {}

    /// Makes the regions at least this long. A streamed one gets the length of the rotation, of which as much is filled
    /// as time allows; the next call continues. A region that grows changes its address. Throws Error(memory),
    /// Cancelled.
    void reserve(std::size_t streamed, std::size_t kept, std::size_t written, const FillOptions& filling = {});

    std::span<std::byte> streamed() const noexcept { return {streamed_.data(), streamed_.capacity()}; }
    /// Bytes of the streamed region that are filled: the length of the ring.
    std::size_t filled_bytes() const noexcept { return filled_; }
    /// True if the ring is shorter than intended, so that caches may hold it.
    bool is_partly_filled() const noexcept { return filled_ < streamed_.capacity(); }
    std::span<std::byte> kept() const noexcept { return {kept_.data(), kept_.capacity()}; }
    std::span<std::byte> written() const noexcept { return {written_.data(), written_.capacity()}; }

    device::Backend& backend() const noexcept { return backend_; }

    std::size_t rotation, private_cache;
    std::size_t cursor = 0;  ///< offset in the streamed region that the next call reads from

private:
    void fill_streamed(std::size_t least, const FillOptions& filling);

    /// Memory of the backend, or none.
    struct Region {
        std::byte* data() const noexcept { return memory == nullptr ? nullptr : memory->data(); }
        std::size_t capacity() const noexcept { return memory == nullptr ? 0 : memory->capacity(); }
        std::unique_ptr<device::Memory> memory;
    };

    device::Backend& backend_;
    device::MemoryUse use_;
    Region streamed_, kept_, written_;
    std::size_t filled_ = 0;  // of the streamed region
};

}  // namespace cairn::autotune
