#include "device/cpu/parallel_region.hpp"

#include <chrono>

namespace cairn::device {
namespace {

/// Execution of a region by one member.
class Member {
public:
    Member(ParallelRegion& region, int rank, int size) noexcept
        : region_(region),
          submission_(region.submission),
          shared_(region.team),
          count_(static_cast<std::int64_t>(region.launches.size())),
          rank_(rank),
          team_(rank, size, &shared_),
          solo_team_(0, 1, &shared_) {}

    void run() {
        if (rank_ == 0) submission_.reached = 0;
        for (std::int64_t i = 0; i < count_;) {
            const std::int64_t serial_count = serial_count_at(i), end = i + std::max<std::int64_t>(serial_count, 1);
            if (serial_count == 0) {
                run_shared(i);
            } else {
                if (rank_ == 0) run_alone(i, end);
                if (end == count_) return;  // no launches are left
                wait_at_barrier(end);
            }
            if (region_.stop_agreed) return;
            i = end;
        }
    }

private:
    std::int64_t serial_count_at(std::int64_t i) const noexcept {
        if (team_.size() == 1) return count_ - i;
        return region_.serial_launches != nullptr ? region_.serial_launches[i] : 0;
    }

    void run_shared(std::int64_t i) {
        call(i, team_);
        if (rank_ == 0 && stop_requested(i)) submission_.stopped = i + 1;
        wait_at_barrier(i + 1);
        if (rank_ == 0) report_progress(i);
    }

    void run_alone(std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end && submission_.stopped < 0; ++i) {
            submission_.reached = i;
            call(i, solo_team_);
            if (submission_.failed.load(std::memory_order_relaxed) >= 0) throw RegionAborted{};
            shared_.next_chunk.store(0, std::memory_order_relaxed);
            report_progress(i);
            if (stop_requested(i)) submission_.stopped = i + 1;
        }
    }

    // The decision to stop is made before any member passes the barrier, so all members leave after the same launch.
    void wait_at_barrier(std::int64_t done) {
        const bool arrived = shared_.barrier.wait([&]() noexcept {
            shared_.next_chunk.store(0, std::memory_order_relaxed);
            region_.stop_agreed = submission_.stopped >= 0;
            submission_.reached = done;
        });
        if (!arrived) throw RegionAborted{};
    }

    // Members that see a failure here are at the launch that failed: none has passed the barrier after it.
    void call(std::int64_t i, Team& team) {
        TimeSpan* const span = submission_.spans == nullptr ? nullptr : submission_.spans + i * team_.size() + rank_;
        if (span != nullptr) span->begin = now() - region_.began;
        try {
            const KernelLaunch& launch = region_.launches[static_cast<std::size_t>(i)];
            launch.run(launch.args, team);
        } catch (const RegionAborted&) { throw; } catch (...) {
            std::int64_t none = -1;
            if (submission_.failed.compare_exchange_strong(none, i, std::memory_order_relaxed))
                submission_.thrown = std::current_exception();
            shared_.barrier.abort();
            throw RegionAborted{};
        }
        if (span != nullptr) span->end = now() - region_.began;
        if (shared_.failure() != nullptr) submission_.failed.store(i, std::memory_order_relaxed);
    }

    bool stop_requested(std::int64_t i) const {
        return submission_.should_stop != nullptr && i + 1 < count_ && submission_.should_stop(submission_.caller);
    }

    void report_progress(std::int64_t i) {
        if (submission_.progress != nullptr) submission_.progress(submission_.caller, i + 1);
    }

    ParallelRegion& region_;
    Submission& submission_;
    TeamState& shared_;
    const std::int64_t count_;
    const int rank_;
    Team team_, solo_team_;
};

}  // namespace

double now() noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void run_team_member(ParallelRegion& region, int rank, int size) { Member(region, rank, size).run(); }

}  // namespace cairn::device
