#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>

/// Watchdog for work that cannot be stopped and may never end.
namespace cairn::autotune {

/// Reports work that takes too long, from a thread of its own that lives as long as the Watchdog. It does not end the
/// work: a kernel that hangs inside the process keeps hanging, but is reported and recorded.
class Watchdog {
public:
    explicit Watchdog(double seconds);
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// Starts watching until end(). If the limit, multiplied by `parts` of the work, passes, `late` is called, once, on
    /// the watchdog thread. It must not throw.
    void begin(std::function<void()> late, std::size_t parts = 1);
    /// Stops watching. On return `late` is not running.
    void end();

private:
    using Clock = std::chrono::steady_clock;
    void watch(const std::stop_token& stop);

    const Clock::duration limit_;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::function<void()> late_;  // null: nothing is watched
    Clock::time_point deadline_;
    std::jthread thread_;  // last: it uses the members above
};

}  // namespace cairn::autotune
