#include "runtime/executor.hpp"

#include <chrono>

namespace cairn::inline v0::runtime {
namespace {

double now() noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void run_member(Region& region, int rank, int size) {
    device::TeamState& shared = *region.team;
    Team team(rank, size, &shared);
    double begun = region.seconds != nullptr && rank == 0 ? now() : 0;
    for (std::int64_t i = 0; i < region.count; ++i) {
        region.steps[i].run(region.steps[i].args, team);
        if (rank == 0 && region.should_stop != nullptr) region.stop_wanted = region.should_stop(region.caller);
        // Whether to go on is settled while nobody is past the barrier, so that all members leave after the same step.
        const bool met = shared.barrier.wait([&]() noexcept {
            shared.next_chunk.store(0, std::memory_order_relaxed);
            region.halted = region.stop_wanted || shared.failure() != nullptr;
        });
        if (!met) throw device::RegionAborted{};
        if (rank == 0) {
            if (region.seconds != nullptr) {
                const double ended = now();
                region.seconds[i] = ended - begun;
                begun = ended;
            }
            if (region.progress != nullptr) region.progress(region.caller, i + 1);
        }
        if (region.halted) return;
    }
}

}  // namespace cairn::inline v0::runtime
