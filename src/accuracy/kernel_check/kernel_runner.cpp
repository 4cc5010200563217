#include "accuracy/kernel_check/kernel_runner.hpp"

#include "graph/types/device_code.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <variant>
#include <vector>

namespace cairn::kernel_check {
namespace {

/// The values of all list attributes, concatenated.
std::vector<std::int64_t> dims_of(const Problem& sized) {
    std::vector<std::int64_t> dims;
    for (const Attribute& attribute : sized.attributes)
        if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value))
            for (const Dim& dim : *list) dims.push_back(dim.constant());
    return dims;
}

/// The side of a call that stays in the memory of the host.
enum class HostSide { none, inputs, outputs };

HostSide host_side_of(const Kernel& kernel, const Problem& problem) {
    if (!device::is_host_copy(kernel)) return HostSide::none;
    const bool is_upload = types::device_of_code(problem.attributes.integer("device")) == kernel.device;
    return is_upload ? HostSide::inputs : HostSide::outputs;
}

std::string text_of(const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& error) { return error.what(); } catch (...) {
        return "it throws an exception that is not a std::exception";
    }
}

}  // namespace

RunOutcome KernelRunner::run(const KernelCall& call) {
    const Problem sized = at_sizes(call.problem, call.sizes);
    const std::vector<std::int64_t> dims = dims_of(sized);
    std::shared_ptr<const void> prepared;
    if (call.kernel.prepare) {
        try {
            prepared = call.kernel.prepare(call.problem, call.threads);
        } catch (...) {
            if (call.kernel.run != nullptr) throw;
            RunOutcome outcome;
            outcome.fault = " cannot be prepared: " + text_of(std::current_exception());
            return outcome;
        }
    }
    std::size_t bytes = 0;
    if (call.kernel.workspace)
        bytes = static_cast<std::size_t>(call.kernel.workspace(call.problem, call.threads).evaluate(call.sizes));
    GuardedWorkspace workspace(bytes, call.poison);

    const HostSide host_side = host_side_of(call.kernel, call.problem);
    std::vector<std::span<std::byte>> blocks{workspace.block()};
    const auto add = [&](std::span<GuardedTensor> operands, HostSide side) {
        if (host_side == side) return;
        for (GuardedTensor& operand : operands) blocks.push_back(operand.block());
    };
    add(call.inputs, HostSide::inputs);
    add(call.outputs, HostSide::outputs);
    const std::vector<std::byte*> addresses = placement_.place(blocks);
    std::size_t next = 1;
    const auto arguments = [&](std::span<GuardedTensor> operands, HostSide side) {
        std::vector<TensorArg> all;
        for (GuardedTensor& operand : operands)
            all.push_back(operand.argument(host_side == side ? operand.block().data() : addresses[next++]));
        return all;
    };
    const std::vector<TensorArg> inputs = arguments(call.inputs, HostSide::inputs);
    std::vector<TensorArg> outputs = arguments(call.outputs, HostSide::outputs);
    if (call.in_place)
        outputs[static_cast<std::size_t>(call.in_place->output)].data =
            inputs[static_cast<std::size_t>(call.in_place->input)].data;

    device::KernelLaunch launch;
    launch.run = call.kernel.run;
    launch.args = {inputs.data(), outputs.data(), dims.data(), addresses[0] + workspace.begin(), prepared.get()};
    launch.inputs = static_cast<int>(inputs.size());
    launch.outputs = static_cast<int>(outputs.size());
    if (call.compiled != nullptr) {
        launch.code = call.compiled->code.get();
        for (std::size_t axis = 0; axis < std::min(call.compiled->grid.size(), launch.grid.size()); ++axis)
            launch.grid[axis] = static_cast<unsigned>(call.compiled->grid[axis].evaluate(call.sizes));
    } else if (call.kernel.enqueue) {
        launch.enqueued = &call.kernel;
        launch.dims = static_cast<int>(dims.size());
    } else if (device::is_host_copy(call.kernel)) {
        launch.copy_bytes = call.inputs[0].size();
        launch.bytes = static_cast<std::int64_t>(2 * launch.copy_bytes);
    }
    const std::unique_ptr<device::CommandBuffer> commands = backend_.record({&launch, 1}, call.sizes);
    device::Submission submission;
    const bool counts_heap_calls = call.heap_calls != nullptr && call.kernel.run != nullptr;
    const std::int64_t before = counts_heap_calls ? call.heap_calls() : 0;
    commands->run(submission);
    // A launch that fails may make some: its threads are stopped by exceptions.
    const std::int64_t heap_calls = counts_heap_calls && !submission.failure ? call.heap_calls() - before : 0;

    RunOutcome outcome;
    outcome.failure = submission.failure;
    if (submission.thrown) {
        if (call.kernel.run != nullptr) std::rethrow_exception(submission.thrown);
        outcome.fault = " fails: " + text_of(submission.thrown);
        if (backend_.is_lost()) return outcome;
    }
    placement_.fetch();
    if (heap_calls != 0) outcome.fault += " makes " + std::to_string(heap_calls) + " heap calls";
    if (!workspace.guards_intact())
        outcome.fault += " writes around its workspace of " + std::to_string(bytes) + " bytes";
    return outcome;
}

}  // namespace cairn::kernel_check
