#include "bench/busy_process.hpp"

#include "cairn/error.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>

namespace bench {
namespace {

[[noreturn]] void refuse_busy_process(const std::string& why) {
    throw cairn::Error(cairn::ErrorKind::argument, "model_bench", "--beside: " + why);
}

int last_usable_cpu() {
    cpu_set_t usable;
    CPU_ZERO(&usable);
    if (::sched_getaffinity(0, sizeof usable, &usable) != 0)
        refuse_busy_process(std::generic_category().message(errno));
    if (CPU_COUNT(&usable) < 2) refuse_busy_process("this process may run on one CPU only");
    int last = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &usable)) last = cpu;
    return last;
}

/// Main loop of the child. It makes system calls only, because the memory forked from the parent may be in any state.
[[noreturn]] void spin(int cpu, pid_t maker) {
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(cpu, &own);
    // The parent may have ended before PR_SET_PDEATHSIG was set.
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != maker ||
        ::sched_setaffinity(0, sizeof own, &own) != 0)
        ::_exit(1);
    ::raise(SIGSTOP);
    for (volatile unsigned long turns = 0;;) turns = turns + 1;
}

/// Waits until the process has stopped.
void wait_for_stop(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, WUNTRACED) < 0)
        if (errno != EINTR) refuse_busy_process(std::generic_category().message(errno));
    if (!WIFSTOPPED(status)) refuse_busy_process("the busy process has ended");
}

}  // namespace

BusyProcess::BusyProcess() : cpu_(last_usable_cpu()) {
    const pid_t maker = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) refuse_busy_process(std::generic_category().message(errno));
    if (pid_ == 0) spin(cpu_, maker);
    wait_for_stop(pid_);
}

BusyProcess::~BusyProcess() {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
}

void BusyProcess::wake() { ::kill(pid_, SIGCONT); }

void BusyProcess::rest() {
    ::kill(pid_, SIGSTOP);
    wait_for_stop(pid_);
}

}  // namespace bench
