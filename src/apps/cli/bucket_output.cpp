#include "apps/cli/bucket_output.hpp"

#include <fmt/format.h>

#include <vector>

namespace cairn::cli {

std::string bucket_text(const ExplainedBucket& bucket) {
    std::vector<std::string> parts;
    for (const ExplainedBucket::Range& range : bucket.ranges)
        parts.push_back(range.low == range.high ? fmt::format("{} = {}", range.symbol, range.low)
                                                : fmt::format("{} in {}..{}", range.symbol, range.low, range.high));
    return parts.empty() ? "all sizes" : fmt::format("{}", fmt::join(parts, ", "));
}

InstructionCount count_run_instructions(const ExplainedBucket& bucket) {
    InstructionCount count;
    for (const ExplainedInstruction& each : bucket.instructions) {
        if (each.at_bind) continue;
        ++count.all;
        count.measured += each.chosen.measured ? 1 : 0;
    }
    return count;
}

std::string digest_of(const ExplainedBucket& bucket) {
    CallDigest digest;
    for (const ExplainedInstruction& each : bucket.instructions) digest.add(each.chosen.kernel, each.chosen.problem);
    return digest.text();
}

void put_bucket(Output& output, const ExplainedBucket& bucket) {
    const auto [all, measured] = count_run_instructions(bucket);
    output.line({{"kind", "bucket"},
                 {"bucket", bucket_text(bucket)},
                 {"cost_ns", nanoseconds(bucket.seconds)},
                 {"instructions", std::to_string(all)},
                 {"measured", std::to_string(measured)},
                 {"digest", digest_of(bucket)}},
                fmt::format("{}: {} a run expected, {} instructions, {} of them measured, digest {}",
                            bucket_text(bucket), time_text(bucket.seconds), all, measured, digest_of(bucket)));
}

}  // namespace cairn::cli
