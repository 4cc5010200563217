#include "apps/console/interrupt.hpp"

#include <pthread.h>
#include <unistd.h>

namespace cairn::console {
namespace {

/// Wakes the waiting thread.
constexpr int wake = SIGUSR1;

bool is_ignored(int signal) {
    struct sigaction action {};
    return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Interrupt::Interrupt() {
    sigemptyset(&signals_);
    sigaddset(&signals_, wake);
    for (const int signal : {SIGINT, SIGTERM})
        if (!is_ignored(signal)) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);  // also in all threads created later
    waiter_ = std::thread([this] { wait(); });
}

Interrupt::~Interrupt() {
    over_ = true;
    pthread_kill(waiter_.native_handle(), wake);
    waiter_.join();
}

void Interrupt::wait() {
    for (int signal = 0; sigwait(&signals_, &signal) == 0 && !over_;) {
        if (signal == wake) continue;
        if (source_.stop_requested()) _exit(interrupted);
        source_.request_stop();
    }
}

}  // namespace cairn::console
