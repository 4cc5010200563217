#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::compare {

/// A program that answers lines on its standard input by lines on its standard output. It has a process group of its
/// own, so that Ctrl-C in a terminal does not reach it, and ends with this object. SIGPIPE must be ignored.
class ChildProcess {
public:
    /// Starts `command`, its program found as a shell finds it, in `folder`. Throws Error(file) if it cannot be
    /// started.
    ChildProcess(const std::vector<std::string>& command, const std::filesystem::path& folder);
    /// Closes its input and waits a second for it to end; then kills its group. It is always reaped.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /// Writes a line and returns the next line that it prints, both without newline. Throws Error(file) if the program
    /// ends or closes a stream before, prints more than 256 MiB without newline, or takes longer than `seconds`; the
    /// message has the last line of its standard error. Throws Cancelled on a stop. After a throw it is of no use.
    std::string exchange(std::string_view line, double seconds, const std::stop_token& stop);

    /// The most memory of the processes of its group.
    std::optional<double> peak_bytes() const;

private:
    void read_output();
    void read_errors();
    /// Writes as much of `line` as the pipe takes.
    void write_some(std::string_view& line);
    /// Reaps the program if it ends within `seconds`; true if it has.
    bool ends_within(double seconds);
    [[noreturn]] void fail(const std::string& what);
    [[noreturn]] void fail_closed(std::string_view stream);

    pid_t id_ = -1;
    std::optional<int> status_{};  ///< of waitpid(), once it is reaped
    int input_ = -1, output_ = -1, errors_ = -1;
    std::string printed_, complaints_;
};

}  // namespace cairn::compare
