#include "accuracy/kernel_check/run_kernel.hpp"

#include "accuracy/kernel_check/guarded_tensor.hpp"

#include <exception>
#include <memory>

namespace cairn::kernel_check {

std::string run_kernel(const KernelCall& call, device::Backend& backend) {
    const Problem sized = at_sizes(call.problem, call.sizes);
    std::vector<std::int64_t> dims;
    for (const Attribute& attribute : sized.attributes)
        if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value))
            for (const Dim& dim : *list) dims.push_back(dim.constant());
    std::shared_ptr<const void> prepared;
    if (call.kernel.prepare) prepared = call.kernel.prepare(call.problem, call.threads);
    std::size_t bytes = 0;
    if (call.kernel.workspace)
        bytes = static_cast<std::size_t>(call.kernel.workspace(call.problem, call.threads).evaluate(call.sizes));
    GuardedWorkspace workspace(bytes, call.poison);
    const Args args{call.inputs.data(), call.outputs.data(), dims.data(), workspace.data(), prepared.get()};
    const device::KernelLaunch launch{call.kernel.run, args};
    const std::unique_ptr<device::CommandBuffer> commands = backend.record({&launch, 1}, {});
    device::Submission submission;
    const std::int64_t before = call.heap_calls != nullptr ? call.heap_calls() : 0;
    commands->run(submission);
    const std::int64_t heap_calls = call.heap_calls != nullptr ? call.heap_calls() - before : 0;
    if (submission.thrown) std::rethrow_exception(submission.thrown);
    std::string fault;
    if (heap_calls != 0) fault += " makes " + std::to_string(heap_calls) + " heap calls";
    if (!workspace.guards_intact()) fault += " writes around its workspace of " + std::to_string(bytes) + " bytes";
    if (submission.failure) fault += std::string(" fails: ") + submission.failure->reason;
    return fault;
}

}  // namespace cairn::kernel_check
