#pragma once

#include "cairn/kernel.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0 {

/// How much a log line matters. `info` lines are few; nothing is logged in a steady-state run.
enum class LogLevel { info, warning };
/// Receives every line the library has to say; called from whichever thread says it, one line at a time a Context.
using LogSink = std::function<void(LogLevel, std::string_view)>;

/// The CPUs this process may use: its affinity mask within the control group's quota, at least 1.
CAIRN_API int usable_cpus();
/// The tightest CPU quota of this process's control group and those above it, of version 1 and 2, in CPUs (1.5, say);
/// nothing where there is none. Who uses more is stopped until the next period.
CAIRN_API std::optional<double> cpu_quota();

/// The timing database of the command `cairn`: `cairn/timings.db` in $XDG_CACHE_HOME, else in ~/.cache; empty where
/// neither variable is set. Reads these variables and makes nothing.
CAIRN_API std::filesystem::path default_timing_db();

/// What a Context is made with. The defaults touch nothing outside the process: one thread, no file, no output.
struct ContextOptions {
    /// As the command `cairn` makes its Context, so that a program finds what `cairn tune` has measured: all
    /// usable_cpus() as threads, and default_timing_db() as timing database, whose folder is made where it is not
    /// there. No other function of the library reads an environment variable.
    ///
    ///     const Context context(ContextOptions::command_line_defaults());
    CAIRN_API static ContextOptions command_line_defaults();

    /// Threads that run programs, the caller's included: exactly this many. More than usable_cpus() is legal and slow.
    int threads = 1;
    /// The timing database, made if absent, in a folder that exists; empty: timings are kept in memory only. A database
    /// that cannot be used is logged once and otherwise ignored.
    std::filesystem::path timing_db = {};
    /// Databases that are read besides, and never written: shipped with the program, or a team's. Of all files the best
    /// measurement of a kernel counts.
    std::vector<std::filesystem::path> shipped_timings = {};
    /// The program's name, as the database notes who measured.
    std::string program = {};
    LogSink log = {};
    /// Kernels that need others are not used. Nothing: all that the CPU has. For tests and comparisons.
    std::optional<FeatureSet> features = {};
    /// The program's own definitions, layouts and kernels; they come before the built-in ones.
    KernelSet extra = {};
    /// Offers the reference kernels only (tests, bisecting).
    bool reference_only = false;
};

/// Owns everything that outlives a graph: threads, kernels, log sink, timing database. There are no globals; two
/// Contexts share nothing. Handles are cheap to copy and keep the Context alive; all functions may be called from any
/// thread. A moved-from handle throws Error(argument) wherever it is used.
///
/// The threads do not survive fork(): make a Context after it.
class CAIRN_API Context {
public:
    /// Throws Error(argument) for threads < 1 or ill-formed extra kernels (two of one id, an unknown definition),
    /// and for features that the CPU lacks or that stand on one that is not among them.
    explicit Context(ContextOptions options = {});

    /// Threads that run programs, the caller's included.
    int threads() const;
    /// Those in use: ContextOptions::features, or what the CPU has.
    FeatureSet features() const;
    /// Everything it can compute with, those that need other features included (selection says why not). Behind a
    /// kernel with knobs stands one for each of its other settings.
    const KernelSet& kernels() const;

    struct Impl;
    /// The library's own view of it.
    const std::shared_ptr<Impl>& impl() const;

private:
    std::shared_ptr<Impl> impl_;
};

/// `0.1.0`: the version of the library that is running.
CAIRN_API std::string_view version() noexcept;

}  // namespace cairn::inline v0
