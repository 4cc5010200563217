#pragma once

#include "tests/device/cuda/stand_in_driver.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace cairn::device::cuda {

/// The objects of the stand-in driver, and its functions: those of DriverTable by the same names. Guarded by `mutex`.
class StandInDriver::State {
public:
    State(std::size_t memory_bytes, int devices) : memory(memory_bytes), devices_(devices) {}

    /// Notes a call and checks what all calls must respect; a result if the call does not go on.
    std::optional<Result> enter(const char* symbol);

    Result init(unsigned) { return Result::success; }
    Result driver_version(int* version);
    Result device_count(int* count);
    Result error_name(Result result, const char** name);
    Result error_text(Result result, const char** text);
    Result device(DeviceHandle* device, int index);
    Result device_name(char* name, int bytes, DeviceHandle device);
    Result device_attribute(int* value, DeviceAttribute attribute, DeviceHandle device);
    Result device_memory(std::size_t* bytes, DeviceHandle device);
    Result primary_context_retain(ContextHandle* context, DeviceHandle device);
    Result primary_context_release(DeviceHandle device);
    Result context_push(ContextHandle context);
    Result context_pop(ContextHandle* context);
    Result context_current(ContextHandle* context);
    Result memory_info(std::size_t* free_bytes, std::size_t* total_bytes);
    Result memory_alloc(DeviceAddress* address, std::size_t bytes);
    Result memory_free(DeviceAddress address);
    Result host_alloc(void** address, std::size_t bytes, unsigned flags);
    Result host_free(void* address);
    Result host_device_pointer(DeviceAddress* device, void* host, unsigned flags);
    Result pointer_attribute(void* value, PointerAttribute attribute, DeviceAddress address);
    Result copy_to_device(DeviceAddress target, const void* source, std::size_t bytes, StreamHandle stream);
    Result copy_to_host(void* target, DeviceAddress source, std::size_t bytes, StreamHandle stream);
    Result copy_on_device(DeviceAddress target, DeviceAddress source, std::size_t bytes, StreamHandle stream);
    Result copy_2d(const Copy2D* copy, StreamHandle stream);
    Result set_bytes(DeviceAddress target, unsigned char value, std::size_t count, StreamHandle stream);
    Result set_bytes_2d(DeviceAddress target, std::size_t pitch, unsigned char value, std::size_t width,
                        std::size_t height, StreamHandle stream);
    Result set_words(DeviceAddress target, unsigned value, std::size_t count, StreamHandle stream);
    Result stream_create(StreamHandle* stream, unsigned flags);
    Result stream_destroy(StreamHandle stream);
    Result stream_synchronize(StreamHandle stream);
    Result stream_query(StreamHandle stream);
    Result stream_wait_event(StreamHandle stream, EventHandle event, unsigned flags);
    Result event_create(EventHandle* event, unsigned flags);
    Result event_destroy(EventHandle event);
    Result event_record(EventHandle event, StreamHandle stream);
    Result event_record_with_flags(EventHandle event, StreamHandle stream, unsigned flags);
    Result event_synchronize(EventHandle event);
    Result event_query(EventHandle event);
    Result event_elapsed_time(float* milliseconds, EventHandle begin, EventHandle end);
    Result module_load(ModuleHandle* module, const void* image);
    Result module_unload(ModuleHandle module);
    Result module_function(FunctionHandle* function, ModuleHandle module, const char* name);
    Result function_load(FunctionHandle function);
    Result function_set_attribute(FunctionHandle function, FunctionAttribute attribute, int value);
    Result function_attribute(int* value, FunctionAttribute attribute, FunctionHandle function);
    Result launch(const LaunchConfig* config, FunctionHandle function, void** parameters, void** extra);
    Result capture_begin(StreamHandle stream, CaptureMode mode);
    Result capture_end(StreamHandle stream, GraphHandle* graph);
    Result capture_status(StreamHandle stream, CaptureStatus* status);
    Result capture_info(StreamHandle stream, CaptureStatus* status, std::uint64_t* id, GraphHandle* graph,
                        const GraphNodeHandle** dependencies, const EdgeData** edges, std::size_t* count);
    Result graph_instantiate(GraphExecHandle* exec, GraphHandle graph, unsigned long long flags);
    Result graph_upload(GraphExecHandle exec, StreamHandle stream);
    Result graph_launch(GraphExecHandle exec, StreamHandle stream);
    Result graph_exec_set_kernel(GraphExecHandle exec, GraphNodeHandle node, const KernelNodeParameters* parameters);
    Result graph_exec_set_copy(GraphExecHandle exec, GraphNodeHandle node, const Copy3D* copy, ContextHandle context);
    Result graph_node_set_enabled(GraphExecHandle exec, GraphNodeHandle node, unsigned is_enabled);
    Result graph_exec_update(GraphExecHandle exec, GraphHandle graph, GraphUpdateResult* result);
    Result graph_exec_destroy(GraphExecHandle exec);
    Result graph_destroy(GraphHandle graph);

    mutable std::recursive_mutex mutex;  // a kernel may use the driver's memory
    StandInMemory memory;
    StandInKernels kernels;  // of every module
    std::function<Result(const void* image, StandInKernels& kernels)> on_module_load;
    std::vector<std::string> calls, violations;
    std::string fails, failed_call;  // the symbol, or all if empty
    std::int64_t fails_after = 0;    // calls; 0: none fails
    Result fails_with = Result::success;
    std::map<std::thread::id, std::vector<ContextHandle>> contexts;
    double clock = 0, copy_seconds = 0, byte_seconds = 0;  // seconds
    ContextHandle primary_context = nullptr, other_context = reinterpret_cast<ContextHandle>(&fails);

    Result submit_library_work(StreamHandle stream, std::function<void()> work);
    std::vector<std::string> leaks() const;
    /// Runs all streams, the newest first.
    void run_all();

private:
    using Work = std::function<void()>;
    enum class OperationKind { kernel, copy_on_device, event, library, other };
    /// What is submitted to a stream, or a node of a graph.
    struct Operation {
        OperationKind kind = OperationKind::other;
        Work run;
        FunctionHandle function = nullptr;  ///< of a kernel
        unsigned cluster = 1;
        bool is_dependent = false;
        EventHandle event = nullptr;
    };
    struct Node {
        GraphNodeHandle handle;
        Operation operation;
        bool is_enabled = true;
    };
    /// A stream that is captured. `last` is what the driver's array of dependencies would have.
    struct Capture {
        CaptureMode mode;
        std::thread::id thread;
        bool is_invalidated = false;
        std::vector<Node> nodes = {};
        GraphNodeHandle last = nullptr;
        EdgeData edge = {};
    };
    struct Executable {
        GraphHandle graph;
        std::vector<Node> nodes;
        std::int64_t launched = 0, complete = 0;  // launches
        StreamHandle last_stream = nullptr;       // of the last launch
    };
    struct Event {
        std::int64_t recorded = 0, passed = 0;  // number of the last record, and of the last one that has passed
        StreamHandle stream = nullptr;          // of the last record
        double seconds = -1;                    // when it passed; -1: never

        bool is_pending() const { return passed < recorded; }
    };
    struct Function {
        ModuleHandle module;
        std::string name;
        StandInKernel kernel;
        std::map<FunctionAttribute, int> attributes;
    };

    template <class Handle>
    Handle new_handle() {
        return reinterpret_cast<Handle>(next_handle_ += 16);
    }
    Result broken(const std::string& rule);
    /// The result of a call that a capture forbids.
    std::optional<Result> check_captures(std::string_view symbol);
    /// A call that no stream under capture permits: invalidates the capture.
    Result broken_in_capture(StreamHandle stream, const std::string& rule);
    /// Adds work to the stream or to what is captured from it.
    Result submit(StreamHandle stream, Operation operation);
    Result submit(StreamHandle stream, Work work) {
        return submit(stream, Operation{OperationKind::other, std::move(work)});
    }
    /// Work that notes that the event's last record has passed, of which a stream takes over the number.
    Work record_of(EventHandle event, StreamHandle stream);
    void run_until(StreamHandle stream, const std::function<bool()>& done);
    void run(StreamHandle stream) {
        run_until(stream, [] { return false; });
    }
    /// Copies rows; the addresses of the device must be checked.
    struct Side {
        std::byte* data;
        std::size_t pitch;
        bool is_pageable;  // host memory that is not pinned
    };
    Result copy_rows(Side target, Side source, std::size_t row_bytes, std::size_t rows, StreamHandle stream,
                     bool is_on_device = false);
    std::optional<Side> device_side(DeviceAddress address, std::size_t pitch, std::size_t row_bytes, std::size_t rows);
    Side host_side(const void* address, std::size_t pitch) const;
    std::optional<Result> check_launch(const StandInLaunch& launch, const Function& function);
    /// The work of a launch, with a copy of its parameters.
    Result make_launch(const LaunchConfig& config, FunctionHandle function, void** parameters, Operation& operation);
    /// The node of an executable graph; null, and a broken rule, if it cannot be changed.
    Node* node_of(GraphExecHandle exec, GraphNodeHandle node, std::string_view what);

    int devices_;
    std::uintptr_t next_handle_ = 4096;
    bool is_lost_ = false;
    std::int64_t retained_ = 0;
    std::map<StreamHandle, std::deque<Work>> streams_;  // with what was submitted
    std::map<EventHandle, Event> events_;
    std::map<ModuleHandle, StandInKernels> modules_;  // with the functions that it alone has
    std::map<FunctionHandle, Function> functions_;
    std::map<StreamHandle, Capture> captures_;
    std::map<GraphHandle, std::vector<Node>> graphs_;
    std::map<GraphExecHandle, Executable> execs_;
};

}  // namespace cairn::device::cuda
