#pragma once

#include <atomic>
#include <csignal>
#include <stop_token>
#include <thread>

namespace cairn::console {

/// While it lives, converts the first SIGINT or SIGTERM to a stop request: work in the library then ends with Cancelled
/// and keeps its measurements. The second signal ends the process. Construct it before any other thread; a signal that
/// the process ignores stays ignored.
class Interrupt {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    std::stop_token token() const { return source_.get_token(); }

private:
    void wait();

    sigset_t signals_;
    std::stop_source source_;
    std::atomic<bool> over_ = false;
    std::thread waiter_;
};

/// Exit code that a shell reports for a program ended by Ctrl-C.
inline constexpr int interrupted = 130;

}  // namespace cairn::console
