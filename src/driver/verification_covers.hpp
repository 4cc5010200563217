#pragma once

#include "driver/stages.hpp"

#include <optional>

/// Beside programs that hold anything inexact the fastest exact ones, by which their first runs are verified.
namespace cairn::driver {

/// What `exact` would choose, to stand beside covers that are inexact. Nothing where all are exact, or where both do
/// not fit within the memory limit.
std::optional<selection::Selections> find_verification_covers(const Stages& stages,
                                                              std::vector<PreparedBucket>& buckets,
                                                              const selection::Selections& chosen,
                                                              const CompileOptions& options,
                                                              const selection::Options& select_options);

/// The same; but where exact covers are as fast and keep no more bytes, or there is no room for both, they are chosen
/// in place of the others. Throws Error(memory) where they alone are beyond the memory limit.
std::optional<selection::Selections> choose_verification_covers(const Stages& stages,
                                                                std::vector<PreparedBucket>& buckets,
                                                                selection::Selections& chosen,
                                                                const CompileOptions& options,
                                                                const selection::Options& select_options);

/// The fastest exact covers, whatever memory they take.
selection::Selections exact_covers(const std::vector<PreparedBucket>& buckets,
                                   const selection::Options& select_options);

/// An exact cover, and what it was chosen of: another bucket than the inexact one where states are stored narrower.
struct ExactCover {
    const Stages& stages;
    PreparedBucket& bucket;
    const selection::Selection& selection;
};

/// Adds to the program of an inexact cover the one of an exact cover, and the outputs and states to compare: those in
/// which errors of the cover show, each with what it is allowed. A state that shows in outputs is allowed what the
/// strictest of them is.
void attach_exact_program(const PreparedBucket& bucket, const selection::Selection& chosen, const ExactCover& exact,
                          const CompileOptions& options, runtime::BucketProgram& program);

}  // namespace cairn::driver
