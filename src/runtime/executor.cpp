#include "runtime/executor.hpp"

#include <chrono>

namespace cairn::runtime {
namespace {

/// Execution of a region by one member.
class Member {
public:
    Member(ParallelRegion& region, int rank, int size) noexcept
        : region_(region),
          shared_(*region.team),
          rank_(rank),
          team_(rank, size, &shared_),
          solo_team_(0, 1, &shared_) {}

    void run() {
        if (rank_ == 0) region_.reached = 0;
        if (region_.seconds != nullptr && rank_ == 0) begun_ = now();
        for (std::int64_t i = 0; i < region_.count;) {
            const std::int64_t serial_count = serial_steps_at(i), end = i + std::max<std::int64_t>(serial_count, 1);
            if (serial_count == 0) {
                run_shared(i);
            } else {
                if (rank_ == 0) run_alone(i, end);
                if (end == region_.count) return;  // no steps are left
                wait_at_barrier(end);
            }
            if (region_.stop_agreed) return;
            i = end;
        }
    }

private:
    std::int64_t serial_steps_at(std::int64_t i) const noexcept {
        if (team_.size() == 1) return region_.count - i;
        return region_.serial_steps != nullptr ? region_.serial_steps[i] : 0;
    }

    void run_shared(std::int64_t i) {
        call(i, team_);
        if (rank_ == 0 && stop_requested(i)) region_.stopped = i + 1;
        wait_at_barrier(i + 1);
        if (rank_ == 0) report_progress(i);
    }

    void run_alone(std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end && region_.stopped < 0; ++i) {
            region_.reached = i;
            call(i, solo_team_);
            if (region_.failed.load(std::memory_order_relaxed) >= 0) throw device::RegionAborted{};
            shared_.next_chunk.store(0, std::memory_order_relaxed);
            report_progress(i);
            if (stop_requested(i)) region_.stopped = i + 1;
        }
    }

    // The decision to stop is made before any member passes the barrier, so all members leave after the same step.
    void wait_at_barrier(std::int64_t done) {
        const bool arrived = shared_.barrier.wait([&]() noexcept {
            shared_.next_chunk.store(0, std::memory_order_relaxed);
            region_.stop_agreed = region_.stopped >= 0;
            region_.reached = done;
        });
        if (!arrived) throw device::RegionAborted{};
    }

    // Members that see a failure here are at the step that failed: none has passed the barrier after it.
    void call(std::int64_t i, Team& team) {
        TimeSpan* const span = region_.spans == nullptr ? nullptr : region_.spans + i * team_.size() + rank_;
        if (span != nullptr) span->begin = now() - region_.began;
        try {
            region_.steps[i].run(region_.steps[i].args, team);
        } catch (const device::RegionAborted&) { throw; } catch (...) {
            std::int64_t none = -1;
            if (region_.failed.compare_exchange_strong(none, i, std::memory_order_relaxed))
                region_.thrown = std::current_exception();
            shared_.barrier.abort();
            throw device::RegionAborted{};
        }
        if (span != nullptr) span->end = now() - region_.began;
        if (shared_.failure() != nullptr) region_.failed.store(i, std::memory_order_relaxed);
    }

    bool stop_requested(std::int64_t i) const {
        return region_.should_stop != nullptr && i + 1 < region_.count && region_.should_stop(region_.caller);
    }

    void report_progress(std::int64_t i) {
        if (region_.seconds != nullptr) {
            const double ended = now();
            region_.seconds[i] = ended - begun_;
            begun_ = ended;
        }
        if (region_.progress != nullptr) region_.progress(region_.caller, i + 1);
    }

    ParallelRegion& region_;
    device::TeamState& shared_;
    const int rank_;
    Team team_, solo_team_;
    double begun_ = 0;
};

}  // namespace

double now() noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void run_team_member(ParallelRegion& region, int rank, int size) { Member(region, rank, size).run(); }

void run_region(void* region, int rank, int size) {
    run_team_member(*static_cast<ParallelRegion*>(region), rank, size);
}

}  // namespace cairn::runtime
