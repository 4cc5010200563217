#pragma once

#include "cairn/devices.hpp"
#include "cairn/features.hpp"
#include "device/command_buffer.hpp"
#include "device/device_calibration.hpp"
#include "device/device_code.hpp"
#include "device/kernel_binary.hpp"
#include "device/memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

/// The interface of the devices that programs run on. Rooms outside src/device use a device through it alone.
namespace cairn::device {

/// The arguments of successive calls of a kernel, made by the thread that asks.
class CallArguments {
public:
    virtual ~CallArguments();
    virtual const Args& next() noexcept = 0;
};

/// Calls of one kernel that are timed together.
struct TimedCalls {
    void (*run)(const Args& args, Team& team);
    std::int64_t count = 1;
    /// Called once by each thread, before the clock starts.
    std::function<std::unique_ptr<CallArguments>()> arguments;
    int inputs = 0, outputs = 0;  ///< number of operands in the arguments

    /// As in KernelLaunch.
    const void* code = nullptr;
    std::array<unsigned, 3> grid{1, 1, 1};
    const Kernel* enqueued = nullptr;
    std::size_t copy_bytes = 0;
    std::span<const std::int64_t> symbols = {};  ///< as in Backend::record
};

/// Sizes of a device's caches in bytes; 0: unknown or absent.
struct CacheSizes {
    std::int64_t private_bytes = 0;  ///< of one core
    std::int64_t shared_bytes = 0;   ///< the last level
};

class HostThreads;

/// How texts of kernels are compiled.
struct CompileRequest {
    /// What these hold is loaded instead, whatever version of the compiler made it; those that do not fit are ignored.
    KernelBinaries saved = {};
    /// Threads that the compiler may use; null: the caller's alone. Not those inside which it is called.
    HostThreads* threads = nullptr;
    std::stop_token stop = {};  ///< after a stop no further compilation begins
};

/// A device: its memory, and the means to run and time kernels on it. Thread-safe.
class Backend {
public:
    Backend() = default;
    virtual ~Backend();
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;

    /// Reserves address space for `bytes`. Throws Error(memory) naming the bytes.
    virtual std::unique_ptr<Memory> reserve(std::size_t bytes, MemoryUse use) = 0;
    /// Bytes of a page: memory is committed in whole pages.
    virtual std::size_t page_bytes() const noexcept = 0;
    /// The device in whose memory an address is, if it is one of this kind and the host cannot access the memory,
    /// allocated by Cairn or by other code; empty for memory of the host, and if that is unknown.
    virtual std::optional<Device> device_of_memory(const void* address) const noexcept;
    /// Copies bytes from one address to another, each in the memory of the host or of this device, no matter who has
    /// allocated it. Returns when that is done.
    virtual void copy(std::byte* target, const std::byte* source, std::size_t bytes);
    /// Bytes that this process may still allocate on the device; empty if unknown.
    virtual std::optional<std::int64_t> free_memory() const = 0;

    /// Compiles texts of kernels for the device: the result has the code of each text, for KernelLaunch::code. Texts
    /// that are equal are compiled once. Throws Error(unsupported) naming a text that does not compile, Cancelled after
    /// a stop, InternalError on a device whose kernels have no text.
    virtual std::vector<std::shared_ptr<const void>> compile(std::span<const DeviceCode* const> texts,
                                                             const CompileRequest& request = {}) = 0;
    /// The binary that code of compile() was loaded from; null on a device whose kernels have no text.
    virtual std::shared_ptr<const KernelBinary> binary(const void* code) const;
    /// True if its kernels are texts or submit to its streams (Kernel::code, Kernel::enqueue), false if they are
    /// functions that compute (Kernel::run).
    virtual bool compiles_kernels() const noexcept { return false; }
    /// Prepares launches to be run as one unit. `symbols` are the values of the program's symbols; kernels with code
    /// read them. Both lists must stay where they are as long as the command buffer lives.
    virtual std::unique_ptr<CommandBuffer> record(std::span<const KernelLaunch> launches,
                                                  std::span<const std::int64_t> symbols) = 0;
    /// Wall-clock seconds of the calls, one after another as a program makes them: from the first thread's start to the
    /// last thread's end. Rethrows what the kernel throws; `failure` receives what it reports.
    virtual double time(const TimedCalls& calls, std::optional<Failure>& failure) = 0;
    /// The step of the clock that time() reads, in seconds, or a few of its steps.
    virtual double clock_step() const noexcept { return 2e-7; }
    /// True once the device can no longer be used in this process, as after a kernel that accessed memory it does not
    /// have. What needs the device then throws Error(unsupported) with the reason.
    virtual bool is_lost() const noexcept { return false; }

    /// Number of threads that its kernels run on; those of the CPU are prepared for this number (Kernel::prepare,
    /// Kernel::workspace).
    virtual int threads() const noexcept = 0;
    /// The features that the device has.
    virtual FeatureSet features() const = 0;
    /// Asks the operating system for features that a process may use on request only: the tile registers of AMX. Must
    /// precede their first use; a permission lasts until the process ends. Returns why it refuses; empty if nothing is
    /// refused.
    virtual std::string permit(FeatureSet needs);
    virtual CacheSizes caches() const = 0;
    /// Everything about the device that changes times by more than noise, where `enabled` features are in use: a part
    /// of the key of measured times.
    virtual std::string fingerprint(const FeatureSet& enabled) const = 0;

    /// Measures the rates of the device in about `seconds`, not counting the compilation of its probes; nothing if it
    /// has no probes, as the CPU, or is too slow for them. Nothing stays allocated. Throws Cancelled within one block
    /// after a stop, and Error if the device cannot be used or lacks memory.
    virtual std::optional<DeviceCalibration> calibrate(double seconds, const std::stop_token& stop);
    /// Facts for diagnoses; empty for the CPU.
    virtual DeviceInfo info() const;
};

/// The host's threads, for work that is not a kernel.
class HostThreads {
public:
    using Body = void (*)(void* context, int rank, int size);

    virtual ~HostThreads();
    virtual int size() const noexcept = 0;
    /// Calls `body(context, rank, size())` on all threads, the caller as rank 0, and returns when all have left.
    /// Rethrows the first exception. Calls from several host threads take turns; a call from inside another throws
    /// InternalError.
    virtual void run(Body body, void* context) = 0;
};

/// The CPU as a device.
class CpuBackend : public Backend {
public:
    /// The threads that its kernels run on.
    virtual HostThreads& host_threads() noexcept = 0;
    /// True if there are more threads than CPUs.
    virtual bool oversubscribed() const noexcept = 0;
};

}  // namespace cairn::device
