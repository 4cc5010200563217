#include "device/cpu/team.hpp"

namespace cairn::inline v0 {
namespace {

device::TeamState& state(void* shared) noexcept { return *static_cast<device::TeamState*>(shared); }

}  // namespace

void Team::barrier() {
    if (size_ == 1) return;  // a team of one waits for nobody, even if the region has more members
    if (!state(shared_).barrier.wait()) throw device::RegionAborted{};
}

std::int64_t Team::next_chunk() noexcept {
    std::atomic<std::int64_t>& next = state(shared_).next_chunk;
    if (size_ > 1) return next.fetch_add(1, std::memory_order_relaxed);
    const std::int64_t chunk = next.load(std::memory_order_relaxed);
    next.store(chunk + 1, std::memory_order_relaxed);
    return chunk;
}

void Team::fail(const char* reason) noexcept { state(shared_).fail({reason}); }

void Team::fail(const char* reason, int input, std::int64_t position, std::int64_t value) noexcept {
    state(shared_).fail({reason, input, position, value});
}

}  // namespace cairn::inline v0
