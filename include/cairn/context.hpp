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

/// Severity of a log line. There are few `info` lines; nothing is logged in a steady-state run.
enum class LogLevel { info, warning };
/// Receives all log lines of the library, on the thread that logs, one line at a time for each Context.
using LogSink = std::function<void(LogLevel, std::string_view)>;

/// The number of CPUs that this process may use: its affinity mask within the control group's quota, at least 1.
CAIRN_API int usable_cpus();
/// The tightest CPU quota of this process's control group and its ancestors, of version 1 and 2, in CPUs (1.5, for
/// example); empty if there is none. A process that uses more is stopped until the next period.
CAIRN_API std::optional<double> cpu_quota();

/// The value of ContextOptions::devices for an option of a program: `cpu`, `cuda`, `cuda:1`; or `auto`, the first GPU
/// if a CUDA driver that can be used has one, else the CPU alone. Throws Error(argument) for any other text. Opens the
/// driver for `auto` only.
CAIRN_API std::vector<Device> devices_from_text(std::string_view text, const std::filesystem::path& cuda_driver = {});

/// Path of the timing database of the command `cairn`: `cairn/timings.db` in $XDG_CACHE_HOME, otherwise in ~/.cache;
/// empty if neither variable is set. Reads these variables and creates nothing.
CAIRN_API std::filesystem::path default_timing_db();
/// Path of the kernel cache of the command `cairn`: the folder `kernels` beside default_timing_db(); empty if neither
/// variable is set. Creates nothing.
CAIRN_API std::filesystem::path default_kernel_cache();

/// Functions of the program by which Cairn allocates the memory of GPUs, from a pool that other libraries use too, for
/// example. They are called by any thread that calls Cairn, several at a time, and never by a run; a CUDA device's
/// primary context is current in that thread. What is loaded by the driver (machine code, captured graphs) is not
/// allocated by them.
///
///     options.device_allocator = {[&](Device, std::size_t bytes) { return pool.allocate(bytes); },
///                                 [&](Device, void* memory, std::size_t) { pool.release(memory); }};
struct DeviceAllocator {
    /// Memory of the device of at least one byte, aligned to 256 bytes. Null means that there is none: Cairn throws
    /// Error(memory) naming the bytes. What it throws reaches the caller unchanged.
    std::function<void*(Device device, std::size_t bytes)> allocate = {};
    /// Takes memory back that nothing on the device uses any more, also after a failure of the device. Must not throw.
    std::function<void(Device device, void* memory, std::size_t bytes)> release = {};
};

/// Options of a Context. The defaults touch nothing outside the process: one thread, no file, no output.
struct ContextOptions {
    /// The options of the command `cairn`, so that a program finds the measurements of `cairn tune`: all usable_cpus()
    /// as threads, default_timing_db() as timing database, whose folder is created if absent, and
    /// default_kernel_cache() as kernel cache, created if absent. No other function of the library reads an environment
    /// variable.
    ///
    ///     const Context context(ContextOptions::command_line_defaults());
    CAIRN_API static ContextOptions command_line_defaults();

    /// Threads that run programs, the caller's included: exactly this many. More than usable_cpus() is legal and slow.
    int threads = 1;
    /// The devices to use. The CPU always is; it need not be named. A GPU that cannot be used is an Error(unsupported)
    /// with the reason. Without a GPU here no library of CUDA is opened.
    std::vector<Device> devices = {Device::cpu};
    /// Path of the CUDA driver; empty: `libcuda.so.1`, as the loader finds it.
    std::filesystem::path cuda_driver = {};
    /// Folder of CUDA's other libraries (NVRTC, cuBLASLt); empty: as the loader finds them, else in the toolkit that
    /// was found when Cairn was built.
    std::filesystem::path cuda_libraries = {};
    /// Runs the kernels of a program on a CUDA device as captured CUDA graphs. False launches them one by one, which
    /// computes the same bits and takes longer: for debuggers, and tools that look at single launches. Runs with a
    /// profile or with progress do so in either case.
    bool cuda_graphs = true;
    /// Within a CUDA graph, kernels begin before those before them have ended, and load their weights meanwhile
    /// (programmatic dependent launch, on devices of compute capability 9.0 or higher). False: each kernel begins after
    /// the one before it, which computes the same bits.
    bool cuda_dependent_launches = true;
    /// Allocates the memory of GPUs; empty: the driver does (`cuMemAlloc`).
    DeviceAllocator device_allocator = {};
    /// An existing folder that keeps the machine code of GPU kernels for other processes; empty: it is kept in memory
    /// only, and with saved programs (CompiledGraph::save). A kernel whose text, device architecture and compiler are
    /// those of a file in the folder is loaded from it and not compiled again; if all are, NVRTC is not opened for
    /// them.
    ///
    /// Each kernel is a file of about 8 to 40 KB, named by a digest of what its code depends on and checked by a
    /// digest of its contents. Several processes may use the folder at once. Damaged files are replaced; that files
    /// cannot be written is logged once and otherwise ignored. Nothing is ever removed: delete files, or all of them,
    /// at any time, those that killed processes left (`*.partial-*`) too. The files hold code that runs on the GPU:
    /// only those who may run programs as the user should be able to write them.
    std::filesystem::path kernel_cache = {};
    /// The timing database, created if absent, in an existing folder; empty: timings are kept in memory only. A
    /// database that cannot be used is logged once and otherwise ignored.
    std::filesystem::path timing_db = {};
    /// Further databases that are read and never written, such as one shipped with the program or shared by a team. Of
    /// all files the best measurement of a kernel counts.
    std::vector<std::filesystem::path> shipped_timings = {};
    /// Name of the program, recorded in the database with its measurements.
    std::string program = {};
    LogSink log = {};
    /// Enabled features: kernels that need others are not used. Empty: all that the CPU has. For tests and comparisons.
    std::optional<FeatureSet> features = {};
    /// Kernels may use the tile registers of AMX. Linux grants them to a process on request; it is asked once a compile
    /// finds such a kernel for a part of its graph, or a program is loaded that has one. From then on, until the
    /// process ends, `sigaltstack` refuses alternate signal stacks of less than about 12 KB. False: they are not in
    /// Context::features(), and the process does not ask.
    bool tile_registers = true;
    /// The program's own definitions, layouts and kernels; they take precedence over the built-in ones.
    KernelSet extra = {};
    /// Offers the reference kernels only (tests, bisecting).
    bool reference_only = false;
};

/// Owns everything that outlives a graph: threads, kernels, log sink, timing database. There are no globals; two
/// Contexts share nothing. Handles are cheap to copy and keep the Context alive. Thread-safe. A moved-from handle
/// throws Error(argument) on any use.
///
/// The threads do not survive fork(): create the Context after it. A child of a process that has used a GPU cannot use
/// GPUs at all; it may use a new Context of the CPU.
class CAIRN_API Context {
public:
    /// Throws Error(argument) for threads < 1, for ill-formed extra kernels (two with one id, an unknown definition),
    /// for features that the CPU lacks or that imply one that is missing from the set, for a device that is named
    /// twice, and for a DeviceAllocator with one of its functions only; Error(unsupported) for a device that cannot be
    /// used.
    explicit Context(ContextOptions options = {});

    /// Threads that run programs, the caller's included.
    int threads() const;
    /// The enabled features: ContextOptions::features, or those of the CPU.
    FeatureSet features() const;
    /// All definitions, layouts and kernels, including kernels that need other features (selection gives the reason). A
    /// kernel with knobs is followed by one kernel for each of its other settings.
    const KernelSet& kernels() const;

    struct Impl;
    /// For use by the library.
    explicit Context(std::shared_ptr<Impl> impl) noexcept;
    const std::shared_ptr<Impl>& impl() const;

private:
    std::shared_ptr<Impl> impl_;
};

/// Version of the running library: `0.1.0`.
CAIRN_API std::string_view version() noexcept;

}  // namespace cairn::inline v0
