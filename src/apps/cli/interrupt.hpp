#pragma once

#include <atomic>
#include <csignal>
#include <stop_token>
#include <thread>

namespace cairn::cli {

/// Makes of Ctrl-C, or a request to end, a request to stop, while it lives: work in the library then ends with
/// Cancelled, and keeps what it measured. The second one ends the process. Make it before any other thread; a signal
/// that the process was told to ignore stays ignored.
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

/// What a shell reports of a program that Ctrl-C ended.
inline constexpr int interrupted = 130;

}  // namespace cairn::cli
