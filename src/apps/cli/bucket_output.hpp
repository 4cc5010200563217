#pragma once

#include "apps/cli/output.hpp"
#include "cairn/explanation.hpp"

#include <string>

namespace cairn::cli {

/// `T in 1..12, B in 1..8`; `all sizes` without splits.
std::string bucket_text(const ExplainedBucket& bucket);

/// Number of instructions of a bucket's runs; those at bind are excluded.
struct InstructionCount {
    int all = 0, measured = 0;
};
InstructionCount count_run_instructions(const ExplainedBucket& bucket);

/// Digest of all calls of a bucket, at bind and in runs.
std::string digest_of(const ExplainedBucket& bucket);

/// Prints a line for a bucket, with the expected time of its run.
void put_bucket(Output& output, const ExplainedBucket& bucket);

}  // namespace cairn::cli
