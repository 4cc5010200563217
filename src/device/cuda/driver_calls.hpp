#pragma once

#include "device/cuda/driver_table.hpp"
#include "device/fork_guard.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace cairn::device::cuda {

/// What the result of a call means for the device and for the caller.
enum class Outcome {
    success,
    not_ready,    ///< the work of a stream or event is not complete; no failure
    memory,       ///< out of memory; the device stays usable
    unsupported,  ///< driver, device or system cannot do it; the device stays usable
    lost,         ///< this and every later call fails; the allocations of the context are gone
    internal,     ///< an invalid call, a bug in Cairn; the device stays usable
};
Outcome outcome_of(Result result) noexcept;

/// Name of a function of the driver, such as `cuMemFree_v2`, by its member in the table.
template <class Function>
const char* symbol_of(Function DriverTable::*function) noexcept {
#define CAIRN_CUDA_COMPARE(symbol, member, parameters)                       \
    if constexpr (std::is_same_v<Function, decltype(DriverTable::member)>) { \
        if (function == &DriverTable::member) return #symbol;                \
    }
    CAIRN_CUDA_DRIVER_OPENING_FUNCTIONS(CAIRN_CUDA_COMPARE)
    CAIRN_CUDA_DRIVER_FUNCTIONS(CAIRN_CUDA_COMPARE)
#undef CAIRN_CUDA_COMPARE
    return "";
}

/// Calls of the driver for one device, with results converted to errors. A result that leaves the device unusable is
/// latched: from then on every call throws what the first one threw, and nothing is called that concerns the device,
/// not even to free memory. The same holds in a child process after fork(), where the driver may not be used: there it
/// is not called at all. Thread-safe. The functions of the driver use the context that is current in the calling
/// thread.
///
///     calls.call(&DriverTable::stream_synchronize, stream);     // Error: [cuda] cuStreamSynchronize failed: ...
///     calls.release(&DriverTable::stream_destroy, stream);      // for destructors: neither throws nor frees if lost
class DriverCalls {
public:
    /// `device` is the name of the device in messages, such as `cuda:0`.
    DriverCalls(std::shared_ptr<const DriverTable> driver, std::string device);
    DriverCalls(const DriverCalls&) = delete;
    DriverCalls& operator=(const DriverCalls&) = delete;

    /// Calls a function. Throws Error: memory with the bytes that are free, unsupported if the device is lost or cannot
    /// do it, internal if the call is invalid.
    template <class Function, class... Arguments>
    void call(Function DriverTable::*function, Arguments... arguments) {
        throw_if_lost();
        check((*driver_.*function)(arguments...), symbol_of(function));
    }

    /// The same for a function that may return `refused` without having done anything: false then.
    template <class Function, class... Arguments>
    bool call_unless(Result refused, Function DriverTable::*function, Arguments... arguments) {
        throw_if_lost();
        const Result result = (*driver_.*function)(arguments...);
        if (result == refused) return false;
        check(result, symbol_of(function));
        return true;
    }

    /// Calls stream_query or event_query. False if the work is not complete; throws like call().
    template <class Handle>
    bool is_complete(Result (*DriverTable::*query)(Handle), Handle handle) {
        throw_if_lost();
        const Result result = (*driver_.*query)(handle);
        if (outcome_of(result) == Outcome::not_ready) return false;
        check(result, symbol_of(query));
        return true;
    }

    /// Allocates device memory. Throws Error(memory) with the bytes that are needed and free; the device stays usable.
    DeviceAddress allocate(std::size_t bytes);
    /// Allocates pinned host memory; the flags are host_alloc_*. Throws Error(memory) with the bytes that are needed.
    void* allocate_pinned(std::size_t bytes, unsigned flags);

    /// Calls a function that frees or destroys something, unless the device is lost. A failure is latched if it means
    /// that the device is lost, and otherwise ignored.
    template <class Function, class... Arguments>
    void release(Function DriverTable::*function, Arguments... arguments) noexcept {
        if (is_lost()) return;
        const Result result = (*driver_.*function)(arguments...);
        if (outcome_of(result) == Outcome::lost) lose(symbol_of(function), result);
    }

    /// The index of the device in whose memory an address is, if the host cannot access it, allocated by Cairn or by
    /// other code; empty if the device is lost. The context must be current.
    std::optional<int> device_of_memory(const void* address) noexcept;

    /// True if this process was forked from the one that opened the device.
    bool is_forked() const noexcept { return fork_guard_.forked(); }
    /// True if no call can succeed any more.
    bool is_lost() const noexcept { return lost_.load(std::memory_order_acquire) || is_forked(); }
    /// Throws the error of a lost device; does nothing if it is not lost.
    void throw_if_lost() const;
    const DriverTable& driver() const noexcept { return *driver_; }

private:
    /// Throws unless the call was successful. `needed` is the size of an allocation.
    void check(Result result, const char* symbol, std::optional<std::size_t> needed = {});
    void lose(const char* symbol, Result result) noexcept;
    std::string memory_text(const char* symbol, std::optional<std::size_t> needed) const;

    std::shared_ptr<const DriverTable> driver_;
    std::string device_;
    ForkGuard fork_guard_;
    std::atomic<bool> lost_ = false;
    std::mutex losing_;
    const char* lost_symbol_ = "";  // both are written before lost_, and never again
    Result lost_result_ = Result::success;
};

}  // namespace cairn::device::cuda
