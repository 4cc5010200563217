#include "accuracy/kernel_check/run_kernel.hpp"

#include "accuracy/kernel_check/guarded_tensor.hpp"
#include "device/cpu/team.hpp"

#include <memory>

namespace cairn::kernel_check {
namespace {

struct Region {
    const KernelCall& call;
    const Args& args;
    device::TeamState state;
    std::int64_t heap_calls = 0;

    static void run(void* context, int rank, int size) {
        Region& region = *static_cast<Region*>(context);
        Team team(rank, size, &region.state);
        const auto count = region.call.heap_calls;
        const std::int64_t before = count != nullptr ? count() : 0;
        region.call.kernel.run(region.args, team);
        if (rank == 0 && count != nullptr) region.heap_calls = count() - before;
    }
};

}  // namespace

std::string run_kernel(const KernelCall& call, device::ThreadPool& pool) {
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
    Region region{call, args, {call.threads, std::chrono::nanoseconds(0)}};
    region.state.begin();
    pool.run(&Region::run, &region, &region.state.barrier);
    std::string fault;
    if (region.heap_calls != 0) fault += " makes " + std::to_string(region.heap_calls) + " heap calls";
    if (!workspace.guards_intact()) fault += " writes around its workspace of " + std::to_string(bytes) + " bytes";
    if (const device::Failure* failure = region.state.failure()) fault += std::string(" fails: ") + failure->reason;
    return fault;
}

}  // namespace cairn::kernel_check
