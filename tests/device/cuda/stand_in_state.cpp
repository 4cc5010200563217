#include "tests/device/cuda/stand_in_state.hpp"

#include "device/cuda/driver_calls.hpp"

#include <cstring>
#include <string_view>

namespace cairn::device::cuda {
namespace {

// Results that Cairn does not distinguish.
constexpr auto invalid_handle = static_cast<Result>(400);
constexpr auto not_found = static_cast<Result>(500);

bool starts_with_one_of(std::string_view symbol, std::initializer_list<std::string_view> beginnings) {
    for (const std::string_view beginning : beginnings)
        if (symbol.starts_with(beginning)) return true;
    return false;
}

bool needs_context(std::string_view symbol) {
    return !starts_with_one_of(symbol, {"cuInit", "cuDriver", "cuDevice", "cuGetError", "cuCtx"});
}

}  // namespace

Result StandInDriver::State::broken(const std::string& rule) {
    violations.push_back(rule);
    return Result::invalid_value;
}

std::optional<Result> StandInDriver::State::enter(const char* symbol) {
    const std::string_view name = symbol;
    calls.emplace_back(name);
    if (is_lost_ && !starts_with_one_of(name, {"cuCtxPopCurrent", "cuGetError"}))
        return broken(std::string(name) + " is called although the device is lost");
    if (needs_context(name)) {
        const auto& stack = contexts[std::this_thread::get_id()];
        if (stack.empty() || stack.back() != primary_context || retained_ == 0) {
            // DriverCalls asks for the free bytes after any call that is out of memory, and does without the answer.
            if (name != "cuMemGetInfo_v2") broken(std::string(name) + " is called without the device's context");
            return Result::invalid_context;
        }
    }
    if (const auto result = check_captures(name)) return result;
    if (fails_after > 0 && (fails.empty() || fails == name) && --fails_after == 0) {
        failed_call = name;
        is_lost_ = outcome_of(fails_with) == Outcome::lost;
        return fails_with;
    }
    return {};
}

std::vector<std::string> StandInDriver::State::leaks() const {
    std::vector<std::string> lines = memory.allocations();
    const auto add = [&](std::size_t count, const char* what) {
        if (count > 0) lines.push_back(std::to_string(count) + " " + what);
    };
    add(streams_.size(), "streams");
    add(events_.size(), "events");
    add(modules_.size(), "modules");
    add(captures_.size(), "captures");
    add(graphs_.size(), "graphs");
    add(execs_.size(), "executable graphs");
    add(static_cast<std::size_t>(retained_), "retained contexts");
    return lines;
}

Result StandInDriver::State::driver_version(int* version) {
    *version = 13000;
    return Result::success;
}
Result StandInDriver::State::device_count(int* count) {
    *count = devices_;
    return Result::success;
}
Result StandInDriver::State::error_name(Result result, const char** name) {
    switch (result) {
        case Result::out_of_memory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
        case Result::illegal_address: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; break;
        case Result::invalid_value: *name = "CUDA_ERROR_INVALID_VALUE"; break;
        default: *name = "CUDA_ERROR_OTHER";
    }
    return Result::success;
}
Result StandInDriver::State::error_text(Result, const char** text) {
    *text = "of the stand-in";
    return Result::success;
}

Result StandInDriver::State::device(DeviceHandle* device, int index) {
    if (index < 0 || index >= devices_) return Result::invalid_device;
    *device = index;
    return Result::success;
}
Result StandInDriver::State::device_name(char* name, int bytes, DeviceHandle) {
    std::strncpy(name, "Stand-in", static_cast<std::size_t>(bytes));
    return Result::success;
}
Result StandInDriver::State::device_attribute(int* value, DeviceAttribute attribute, DeviceHandle) {
    switch (attribute) {
        case DeviceAttribute::compute_capability_major: *value = 9; break;
        case DeviceAttribute::compute_capability_minor: *value = 0; break;
        case DeviceAttribute::multiprocessors: *value = 132; break;
        case DeviceAttribute::clock_khz: *value = 1980000; break;
        case DeviceAttribute::memory_clock_khz: *value = 2619000; break;
        case DeviceAttribute::memory_bus_bits: *value = 5120; break;
        case DeviceAttribute::l2_bytes: *value = 50 << 20; break;
        case DeviceAttribute::max_shared_bytes_per_block: *value = 48 << 10; break;
        case DeviceAttribute::max_shared_bytes_per_block_opt_in: *value = 227 << 10; break;
        default: return Result::invalid_value;
    }
    return Result::success;
}
Result StandInDriver::State::device_memory(std::size_t* bytes, DeviceHandle) {
    *bytes = memory.capacity();
    return Result::success;
}

Result StandInDriver::State::primary_context_retain(ContextHandle* context, DeviceHandle) {
    if (primary_context == nullptr) primary_context = new_handle<ContextHandle>();
    ++retained_;
    *context = primary_context;
    return Result::success;
}
Result StandInDriver::State::primary_context_release(DeviceHandle) {
    if (retained_ == 0) return broken("a context is released more often than it is retained");
    run_all();
    --retained_;
    return Result::success;
}
Result StandInDriver::State::context_push(ContextHandle context) {
    if (context != other_context && (context != primary_context || retained_ == 0))
        return broken("an unknown context is pushed");
    contexts[std::this_thread::get_id()].push_back(context);
    return Result::success;
}
Result StandInDriver::State::context_pop(ContextHandle* context) {
    auto& stack = contexts[std::this_thread::get_id()];
    if (stack.empty()) return broken("a context is popped although there is none");
    *context = stack.back();
    stack.pop_back();
    return Result::success;
}
Result StandInDriver::State::context_current(ContextHandle* context) {
    const auto& stack = contexts[std::this_thread::get_id()];
    *context = stack.empty() ? nullptr : stack.back();
    return Result::success;
}

Result StandInDriver::State::stream_create(StreamHandle* stream, unsigned flags) {
    if (flags != stream_non_blocking) broken("a stream waits for the null stream");
    *stream = new_handle<StreamHandle>();
    streams_[*stream];
    return Result::success;
}
Result StandInDriver::State::stream_destroy(StreamHandle stream) {
    if (captures_.erase(stream) == 1) broken("a stream is destroyed while it is captured");
    run(stream);
    return streams_.erase(stream) == 1 ? Result::success : broken("an unknown stream is destroyed");
}
Result StandInDriver::State::stream_synchronize(StreamHandle stream) {
    if (!streams_.contains(stream)) return broken("an unknown stream is waited for");
    if (captures_.contains(stream)) return broken_in_capture(stream, "a stream is waited for while it is captured");
    run(stream);
    return Result::success;
}
Result StandInDriver::State::stream_query(StreamHandle stream) {
    if (!streams_.contains(stream)) return broken("an unknown stream is queried");
    if (captures_.contains(stream)) return broken_in_capture(stream, "a stream is queried while it is captured");
    return streams_[stream].empty() ? Result::success : Result::not_ready;
}
Result StandInDriver::State::stream_wait_event(StreamHandle stream, EventHandle event, unsigned flags) {
    if (!streams_.contains(stream)) return broken("an unknown stream waits");
    const auto found = events_.find(event);
    if (found == events_.end()) return broken("a stream waits for an unknown event");
    if (flags != 0) return broken("a stream waits with unknown flags");
    if (captures_.contains(stream)) return broken_in_capture(stream, "a stream that is captured waits for an event");
    if (!found->second.is_pending()) return Result::success;
    // For the last record at the time of the call.
    return submit(stream, [this, event, source = found->second.stream, record = found->second.recorded] {
        run_until(source, [&] { return !events_.contains(event) || events_[event].passed >= record; });
    });
}

Result StandInDriver::State::event_create(EventHandle* event, unsigned) {
    *event = new_handle<EventHandle>();
    events_[*event];
    return Result::success;
}
Result StandInDriver::State::event_destroy(EventHandle event) {
    const auto found = events_.find(event);
    if (found == events_.end()) return broken("an unknown event is destroyed");
    events_.erase(found);  // work that records it is not waited for
    return Result::success;
}
StandInDriver::State::Work StandInDriver::State::record_of(EventHandle event, StreamHandle stream) {
    Event& recorded = events_[event];
    recorded.stream = stream;
    return [this, event, number = ++recorded.recorded] {
        const auto found = events_.find(event);
        if (found == events_.end()) return;
        found->second.passed = number;
        found->second.seconds = clock;
    };
}
Result StandInDriver::State::event_record(EventHandle event, StreamHandle stream) {
    if (!events_.contains(event)) return broken("an unknown event is recorded");
    if (!streams_.contains(stream)) return broken("an event is recorded in an unknown stream");
    // A driver permits it, for forks to other streams, which Cairn does not have.
    if (captures_.contains(stream))
        return broken_in_capture(stream, "an event is recorded in a capture, but not as a node");
    return submit(stream, record_of(event, stream));
}
Result StandInDriver::State::event_record_with_flags(EventHandle event, StreamHandle stream, unsigned flags) {
    if (flags != event_record_external) return broken("an event is recorded with unknown flags");
    if (!events_.contains(event)) return broken("an unknown event is recorded");
    if (!captures_.contains(stream)) return broken("an event is recorded as a node, but not in a capture");
    Operation operation{OperationKind::event, {}};  // recorded by each launch
    operation.event = event;
    return submit(stream, std::move(operation));
}
Result StandInDriver::State::event_synchronize(EventHandle event) {
    if (!events_.contains(event)) return broken("an unknown event is waited for");
    run_until(events_[event].stream, [&] { return !events_[event].is_pending(); });
    return Result::success;
}
Result StandInDriver::State::event_query(EventHandle event) {
    if (!events_.contains(event)) return broken("an unknown event is queried");
    return events_[event].is_pending() ? Result::not_ready : Result::success;
}
Result StandInDriver::State::event_elapsed_time(float* milliseconds, EventHandle begin, EventHandle end) {
    if (!events_.contains(begin) || !events_.contains(end)) return broken("unknown events are compared");
    const Event &first = events_[begin], &last = events_[end];
    if (first.is_pending() || last.is_pending()) return Result::not_ready;
    if (first.seconds < 0 || last.seconds < 0) return invalid_handle;
    *milliseconds = static_cast<float>((last.seconds - first.seconds) * 1e3);
    return Result::success;
}

Result StandInDriver::State::module_load(ModuleHandle* module, const void* image) {
    if (image == nullptr) return Result::invalid_value;
    StandInKernels own;
    if (const Result result = on_module_load ? on_module_load(image, own) : Result::success; result != Result::success)
        return result;
    *module = new_handle<ModuleHandle>();
    modules_[*module] = std::move(own);
    return Result::success;
}
Result StandInDriver::State::module_unload(ModuleHandle module) {
    if (modules_.erase(module) == 0) return broken("an unknown module is unloaded");
    run_all();
    for (const auto& [exec, graph] : execs_)
        for (const Node& node : graph.nodes)
            if (const auto of = functions_.find(node.operation.function);
                of != functions_.end() && of->second.module == module)
                broken("a module is unloaded that an executable graph uses");
    std::erase_if(functions_, [&](const auto& entry) { return entry.second.module == module; });
    return Result::success;
}
Result StandInDriver::State::module_function(FunctionHandle* function, ModuleHandle module, const char* name) {
    const auto of = modules_.find(module);
    if (of == modules_.end()) return broken("a function of an unknown module is looked up");
    auto kernel = of->second.find(name);
    if (kernel == of->second.end()) kernel = kernels.find(name);
    if (kernel == kernels.end()) return not_found;
    for (const auto& [handle, known] : functions_)
        if (known.module == module && known.name == name) {
            *function = handle;
            return Result::success;
        }
    *function = new_handle<FunctionHandle>();
    const int fixed = kernel->second.static_shared_bytes;
    functions_[*function] = {module,
                             name,
                             kernel->second,
                             {{FunctionAttribute::static_shared_bytes, fixed},
                              {FunctionAttribute::max_dynamic_shared_bytes, (48 << 10) - fixed}}};
    return Result::success;
}
Result StandInDriver::State::function_load(FunctionHandle function) {
    return functions_.contains(function) ? Result::success : broken("an unknown function is loaded");
}
Result StandInDriver::State::function_set_attribute(FunctionHandle function, FunctionAttribute attribute, int value) {
    if (!functions_.contains(function)) return broken("an attribute of an unknown function is set");
    functions_[function].attributes[attribute] = value;
    return Result::success;
}
Result StandInDriver::State::function_attribute(int* value, FunctionAttribute attribute, FunctionHandle function) {
    if (!functions_.contains(function)) return broken("an attribute of an unknown function is asked for");
    *value = functions_[function].attributes[attribute];
    return Result::success;
}

}  // namespace cairn::device::cuda
