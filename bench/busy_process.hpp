#pragma once

#include <sys/types.h>

namespace bench {

/// A child process that keeps one CPU busy: the last one that this process may run on. It is stopped until wake(). The
/// system kills it when its parent ends, even by a signal. Construct it before starting threads or allocating large
/// memory, since it is forked.
class BusyProcess {
public:
    /// Throws cairn::Error(argument) if this process may run on one CPU only, or the system cannot create a process.
    BusyProcess();
    ~BusyProcess();
    BusyProcess(const BusyProcess&) = delete;
    BusyProcess& operator=(const BusyProcess&) = delete;

    void wake();
    /// Stops the process. It uses no CPU time after this returns.
    void rest();

    int cpu() const noexcept { return cpu_; }
    pid_t pid() const noexcept { return pid_; }

private:
    int cpu_ = -1;
    pid_t pid_ = -1;
};

}  // namespace bench
