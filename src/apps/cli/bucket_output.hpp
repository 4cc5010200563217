#pragma once

#include "apps/cli/output.hpp"
#include "cairn/explanation.hpp"

#include <string>

namespace cairn::cli {

/// `T in 1..12, B in 1..8`; `all sizes` where nothing was split.
std::string bucket_text(const ExplainedBucket& bucket);

/// Instructions of a bucket's runs, those done once left out.
struct InstructionCount {
    int all = 0, measured = 0;
};
InstructionCount count_run_instructions(const ExplainedBucket& bucket);

/// Of the calls of a bucket, once and in runs.
std::string digest_of(const ExplainedBucket& bucket);

/// A line for the whole of a bucket: what a run of it is expected to take.
void put_bucket(Output& output, const ExplainedBucket& bucket);

}  // namespace cairn::cli
