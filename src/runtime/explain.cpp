#include "runtime/compiled_graph.hpp"

namespace cairn::inline v0 {
namespace {

/// What a program itself tells.
ExplainedBucket bucket_of(const runtime::BucketProgram& program) {
    ExplainedBucket bucket;
    bucket.ranges = program.ranges;
    const auto add = [&](const program::Instruction& instruction, bool once) {
        ExplainedInstruction& told = bucket.instructions.emplace_back();
        told.chosen.kernel = instruction.kernel;
        told.chosen.problem = to_string(*instruction.problem);
        told.chosen.seconds = instruction.seconds;
        told.chosen.is_reference = is_reference(instruction.kernel);
        told.once = once;
        if (!once) bucket.seconds += instruction.seconds;
    };
    for (const program::Instruction& instruction : program.program.bind) add(instruction, true);
    for (const program::Instruction& instruction : program.program.run) add(instruction, false);
    return bucket;
}

}  // namespace

Explanation CompiledGraph::explain(std::stop_token stop) const {
    const runtime::Core& core = *valid().instance.core;
    Explanation explanation;
    for (const Kernel& kernel : core.context.kernels().kernels)
        explanation.kernels.push_back({kernel.id, kernel.definition});
    for (const runtime::BucketProgram& bucket : core.set.buckets) {
        if (stop.stop_requested()) throw Cancelled("explain");
        explanation.buckets.push_back(bucket_of(bucket));
    }
    if (core.set.reasons) core.set.reasons(core.set, explanation, stop);
    return explanation;
}

}  // namespace cairn::inline v0
