#include "runtime/compiled_graph.hpp"

#include <algorithm>

namespace cairn::inline v0 {
namespace {

/// Explanation of a bucket from its program alone, and from the kernels that it calls.
ExplainedBucket bucket_of(const runtime::BucketProgram& program, const Context::Impl& context) {
    ExplainedBucket bucket;
    bucket.ranges = program.ranges;
    const auto add = [&](const program::Instruction& instruction, bool at_bind) {
        ExplainedInstruction& explained = bucket.instructions.emplace_back();
        explained.chosen.kernel = instruction.kernel;
        explained.chosen.problem = to_string(*instruction.problem);
        explained.chosen.seconds = instruction.seconds;
        explained.chosen.is_reference = is_reference(instruction.kernel);
        explained.at_bind = at_bind;
        explained.names = instruction.names;
        explained.device = context.find(instruction.kernel)->device;
        for (const program::View& view : instruction.inputs) explained.reads.push_back(view.buffer);
        for (const program::View& view : instruction.outputs) explained.writes.push_back(view.buffer);
        if (!at_bind) bucket.seconds += instruction.seconds;
    };
    for (const program::Buffer& buffer : program.program.buffers)
        bucket.buffers.push_back({std::string(program::to_string(buffer.kind)),
                                  buffer.kind == program::BufferKind::bound ? std::string() : buffer.name,
                                  buffer.bytes.is_constant() ? buffer.bytes.constant() : 0});
    for (const program::Instruction& instruction : program.program.bind) add(instruction, true);
    for (const program::Instruction& instruction : program.program.run) add(instruction, false);
    return bucket;
}

/// Adds the errors measured when a bucket was verified.
void add_verified(const runtime::Executable& executable, std::size_t b, ExplainedBucket& bucket) {
    for (const VerifiedError& row : runtime::verified_errors_of(executable, b)) {
        auto explained = std::find_if(bucket.errors.begin(), bucket.errors.end(),
                                      [&](const ExplainedError& error) { return error.target == row.value; });
        if (explained == bucket.errors.end())
            explained = bucket.errors.insert(explained, {row.value, row.expected, row.allowed});
        explained->verified = row.verified;
        explained->measured_error = row.error;
        bucket.fell_back = row.fell_back;
    }
}

}  // namespace

Explanation CompiledGraph::explain(std::stop_token stop) const {
    const runtime::Executable& executable = *valid().instance.executable;
    Explanation explanation;
    explanation.graph = executable.set.name;
    for (const Kernel& kernel : executable.context.kernels().kernels)
        explanation.kernels.push_back({kernel.id, kernel.definition});
    for (const runtime::BucketProgram& bucket : executable.set.buckets) {
        if (stop.stop_requested()) throw Cancelled("explain");
        explanation.buckets.push_back(bucket_of(bucket, *executable.context.impl()));
    }
    if (executable.set.explainer) executable.set.explainer(executable.set, explanation, stop);
    for (std::size_t b = 0; b < explanation.buckets.size(); ++b) add_verified(executable, b, explanation.buckets[b]);
    return explanation;
}

}  // namespace cairn::inline v0
