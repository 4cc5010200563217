#pragma once

#include "device/cuda/driver_table.hpp"
#include "tests/device/cuda/stand_in_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::device::cuda {

/// A kernel launch that the stand-in driver executes.
struct StandInLaunch {
    std::string function;
    LaunchConfig config = {};   ///< without attributes
    unsigned cluster = 1;       ///< blocks along the first axis
    bool is_dependent = false;  ///< programmatic: may begin before the launch before it has ended
    /// The parameters as given to the driver: addresses of values, pointers first. Addresses among the values are those
    /// of the device.
    void** parameters = nullptr;
    const StandInMemory* memory = nullptr;

    /// Parameter `i`, a pointer, where the host can access it.
    template <class T>
    T* pointer(std::size_t i) const {
        return reinterpret_cast<T*>(memory->host(*static_cast<void**>(parameters[i])));
    }
    int integer(std::size_t i) const { return *static_cast<int*>(parameters[i]); }
};

/// A function that modules have.
struct StandInKernel {
    std::size_t pointers = 0;  ///< parameters that are pointers; an int follows
    std::function<void(const StandInLaunch&)> run;
    std::function<double(const StandInLaunch&)> seconds = {};  ///< that a launch takes; empty: a millisecond
    int static_shared_bytes = 0;
};

using StandInKernels = std::map<std::string, StandInKernel>;  // by name

/// A CUDA driver that works in host memory. It checks the rules of the driver's interface, records the calls, and can
/// let any call fail. What is submitted to a stream runs in order, as late as possible: when something waits for it.
/// Work of different streams is ordered by events alone, and otherwise the newest stream runs first. At most one exists
/// at a time. Thread-safe, kernels included.
class StandInDriver {
public:
    explicit StandInDriver(std::size_t memory_bytes = std::size_t{1} << 30, int devices = 1);
    ~StandInDriver();
    StandInDriver(const StandInDriver&) = delete;
    StandInDriver& operator=(const StandInDriver&) = delete;

    std::shared_ptr<const DriverTable> table() const { return table_; }
    const StandInMemory& memory() const;
    /// Every module has these functions.
    void add_kernel(const std::string& name, StandInKernel kernel);
    /// Called for each module that is loaded, with its image; the result is that of the call. It may add functions that
    /// this module alone has.
    void on_module_load(std::function<Result(const void* image, StandInKernels& kernels)> load);

    /// Submits work to a stream, which may be captured, as a library would that launches kernels of its own: `work`
    /// runs when the device would run it, and may use memory(). A call of the driver by this name.
    static constexpr const char* library_work = "library work";
    Result submit(void* stream, std::function<void()> work);

    /// Seconds that a copy takes, and each of its bytes: 0 unless set.
    void set_copy_seconds(double copy, double byte);
    /// The clock of the device: seconds that launches and copies have taken so far.
    double clock() const;

    /// Symbols of the functions that have been called, in order.
    std::vector<std::string> calls() const;
    void clear_calls();
    std::int64_t count(std::string_view symbol) const;
    /// The `nth` call from now on, counted from 1, of the function or of any function (empty) fails: it does nothing
    /// but return this result. A result that means a lost device forbids most later calls.
    void fail(std::string_view symbol, std::int64_t nth, Result result);
    /// Symbol of the call that fail() has let fail; empty: none yet.
    std::string failed_call() const;

    /// Broken rules.
    std::vector<std::string> violations() const;
    /// Of a test that breaks rules on purpose.
    void forget_violations();
    /// Objects that have not been freed.
    std::vector<std::string> leaks() const;
    /// Contexts on the stack of this thread.
    std::size_t context_depth() const;
    /// A context that is not the device's, for the host program of a test.
    ContextHandle other_context() const;
    /// Runs all that was submitted.
    void run_all();

    class State;

private:
    std::unique_ptr<State> state_;
    std::shared_ptr<const DriverTable> table_;
};

}  // namespace cairn::device::cuda
