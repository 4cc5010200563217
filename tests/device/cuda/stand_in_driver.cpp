#include "tests/device/cuda/stand_in_driver.hpp"

#include "device/cuda/driver_calls.hpp"
#include "tests/device/cuda/stand_in_state.hpp"

#include <algorithm>

namespace cairn::device::cuda {
namespace {

// Functions of a table have no context.
StandInDriver::State* state = nullptr;

/// The function of the table that calls a method of the state by the same name.
template <auto Member, auto Method>
struct Entry;
template <class... Arguments, Result (*DriverTable::*Member)(Arguments...),
          Result (StandInDriver::State::*Method)(Arguments...)>
struct Entry<Member, Method> {
    static Result call(Arguments... arguments) {
        const std::scoped_lock lock(state->mutex);
        if (const std::optional<Result> result = state->enter(symbol_of(Member))) return *result;
        return (state->*Method)(arguments...);
    }
};

std::shared_ptr<const DriverTable> make_table() {
    auto table = std::make_shared<DriverTable>();
#define CAIRN_STAND_IN(member) table->member = Entry<&DriverTable::member, &StandInDriver::State::member>::call;
    CAIRN_STAND_IN(init)
    CAIRN_STAND_IN(driver_version)
    CAIRN_STAND_IN(device_count)
    CAIRN_STAND_IN(error_name)
    CAIRN_STAND_IN(error_text)
    CAIRN_STAND_IN(device)
    CAIRN_STAND_IN(device_name)
    CAIRN_STAND_IN(device_attribute)
    CAIRN_STAND_IN(device_memory)
    CAIRN_STAND_IN(primary_context_retain)
    CAIRN_STAND_IN(primary_context_release)
    CAIRN_STAND_IN(context_push)
    CAIRN_STAND_IN(context_pop)
    CAIRN_STAND_IN(context_current)
    CAIRN_STAND_IN(memory_info)
    CAIRN_STAND_IN(memory_alloc)
    CAIRN_STAND_IN(memory_free)
    CAIRN_STAND_IN(host_alloc)
    CAIRN_STAND_IN(host_free)
    CAIRN_STAND_IN(host_device_pointer)
    CAIRN_STAND_IN(pointer_attribute)
    CAIRN_STAND_IN(copy_to_device)
    CAIRN_STAND_IN(copy_to_host)
    CAIRN_STAND_IN(copy_on_device)
    CAIRN_STAND_IN(copy_2d)
    CAIRN_STAND_IN(set_bytes)
    CAIRN_STAND_IN(set_bytes_2d)
    CAIRN_STAND_IN(set_words)
    CAIRN_STAND_IN(stream_create)
    CAIRN_STAND_IN(stream_destroy)
    CAIRN_STAND_IN(stream_synchronize)
    CAIRN_STAND_IN(stream_query)
    CAIRN_STAND_IN(stream_wait_event)
    CAIRN_STAND_IN(event_create)
    CAIRN_STAND_IN(event_destroy)
    CAIRN_STAND_IN(event_record)
    CAIRN_STAND_IN(event_record_with_flags)
    CAIRN_STAND_IN(event_synchronize)
    CAIRN_STAND_IN(event_query)
    CAIRN_STAND_IN(event_elapsed_time)
    CAIRN_STAND_IN(module_load)
    CAIRN_STAND_IN(module_unload)
    CAIRN_STAND_IN(module_function)
    CAIRN_STAND_IN(function_load)
    CAIRN_STAND_IN(function_set_attribute)
    CAIRN_STAND_IN(function_attribute)
    CAIRN_STAND_IN(launch)
    CAIRN_STAND_IN(capture_begin)
    CAIRN_STAND_IN(capture_end)
    CAIRN_STAND_IN(capture_status)
    CAIRN_STAND_IN(capture_info)
    CAIRN_STAND_IN(graph_instantiate)
    CAIRN_STAND_IN(graph_upload)
    CAIRN_STAND_IN(graph_launch)
    CAIRN_STAND_IN(graph_exec_set_kernel)
    CAIRN_STAND_IN(graph_exec_set_copy)
    CAIRN_STAND_IN(graph_node_set_enabled)
    CAIRN_STAND_IN(graph_exec_update)
    CAIRN_STAND_IN(graph_exec_destroy)
    CAIRN_STAND_IN(graph_destroy)
#undef CAIRN_STAND_IN
    return table;
}

}  // namespace

StandInDriver::StandInDriver(std::size_t memory_bytes, int devices)
    : state_(std::make_unique<State>(memory_bytes, devices)), table_(make_table()) {
    state = state_.get();
}
StandInDriver::~StandInDriver() { state = nullptr; }

const StandInMemory& StandInDriver::memory() const { return state_->memory; }
void StandInDriver::add_kernel(const std::string& name, StandInKernel kernel) {
    state_->kernels[name] = std::move(kernel);
}

void StandInDriver::on_module_load(std::function<Result(const void* image, StandInKernels& kernels)> load) {
    const std::scoped_lock lock(state_->mutex);
    state_->on_module_load = std::move(load);
}

Result StandInDriver::submit(void* stream, std::function<void()> work) {
    const std::scoped_lock lock(state_->mutex);
    if (const std::optional<Result> result = state_->enter(library_work)) return *result;
    return state_->submit_library_work(static_cast<StreamHandle>(stream), std::move(work));
}

void StandInDriver::set_copy_seconds(double copy, double byte) {
    const std::scoped_lock lock(state_->mutex);
    state_->copy_seconds = copy;
    state_->byte_seconds = byte;
}
double StandInDriver::clock() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->clock;
}

std::vector<std::string> StandInDriver::calls() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->calls;
}
void StandInDriver::clear_calls() {
    const std::scoped_lock lock(state_->mutex);
    state_->calls.clear();
}
std::int64_t StandInDriver::count(std::string_view symbol) const {
    const std::vector<std::string> all = calls();
    return std::count(all.begin(), all.end(), symbol);
}
void StandInDriver::fail(std::string_view symbol, std::int64_t nth, Result result) {
    const std::scoped_lock lock(state_->mutex);
    state_->fails = symbol;
    state_->fails_after = nth;
    state_->fails_with = result;
    state_->failed_call.clear();
}
std::string StandInDriver::failed_call() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->failed_call;
}

std::vector<std::string> StandInDriver::violations() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->violations;
}
void StandInDriver::forget_violations() {
    const std::scoped_lock lock(state_->mutex);
    state_->violations.clear();
}
std::vector<std::string> StandInDriver::leaks() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->leaks();
}
std::size_t StandInDriver::context_depth() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->contexts[std::this_thread::get_id()].size();
}
ContextHandle StandInDriver::other_context() const { return state_->other_context; }
void StandInDriver::run_all() {
    const std::scoped_lock lock(state_->mutex);
    state_->run_all();
}

}  // namespace cairn::device::cuda
