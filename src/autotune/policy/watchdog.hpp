#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

/// Work that cannot be stopped, and may never end.
namespace cairn::autotune {

/// Says when a piece of work takes too long, from a thread of its own that lives as long as this does. It ends nothing:
/// a kernel that hangs inside the process hangs, but what is known of it is told and kept.
class Watchdog {
public:
    explicit Watchdog(double seconds);
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// From here on until end(): if that takes too long, `late` is called, once, on the other thread. It must not
    /// throw.
    void begin(std::function<void()> late);
    /// Returns when `late` is not being called.
    void end();

private:
    using Clock = std::chrono::steady_clock;
    void watch(const std::stop_token& stop);

    const Clock::duration limit_;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::function<void()> late_;  // none: nothing is watched
    Clock::time_point deadline_;
    std::jthread thread_;  // last: it uses what stands before
};

}  // namespace cairn::autotune
