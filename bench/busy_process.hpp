#pragma once

#include <sys/types.h>

namespace bench {

/// A process that does nothing but use up one CPU, the last that this process may run on. It is stopped until woken,
/// and ends with its maker however that ends: by a signal, too. Make it before threads and large memory: it is a fork.
class BusyProcess {
public:
    /// Throws cairn::Error where this process may run on one CPU only, or the system makes no further process.
    BusyProcess();
    ~BusyProcess();
    BusyProcess(const BusyProcess&) = delete;
    BusyProcess& operator=(const BusyProcess&) = delete;

    void wake();
    /// It uses no CPU any more when this returns.
    void rest();

    int cpu() const noexcept { return cpu_; }
    pid_t pid() const noexcept { return pid_; }

private:
    int cpu_ = -1;
    pid_t pid_ = -1;
};

}  // namespace bench
