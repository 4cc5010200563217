#pragma once

#include "pipeline/stages.hpp"

#include <optional>

/// Beside programs that hold anything inexact the fastest exact ones, by which their first runs are verified.
namespace cairn::inline v0 {

/// What `exact` would choose, to stand beside covers that are inexact. Nothing where all are exact, or where both do
/// not fit within the memory limit.
std::optional<select::Selections> exact_beside(const Stages& stages, std::vector<PreparedBucket>& buckets,
                                               const select::Selections& chosen, const CompileOptions& options,
                                               const select::Options& select_options);

/// The same; but where exact covers are as fast and keep no more bytes, or there is no room for both, they are chosen
/// in place of the others. Throws Error(memory) where they alone are beyond the memory limit.
std::optional<select::Selections> choose_exact_beside(const Stages& stages, std::vector<PreparedBucket>& buckets,
                                                      select::Selections& chosen, const CompileOptions& options,
                                                      const select::Options& select_options);

/// The fastest exact covers, whatever memory they take.
select::Selections exact_covers(const std::vector<PreparedBucket>& buckets, const select::Options& select_options);

/// An exact cover, and what it was chosen of: another bucket than the inexact one where states are stored narrower.
struct ExactCover {
    const Stages& stages;
    PreparedBucket& bucket;
    const select::Selection& selection;
};

/// Adds to the program of an inexact cover the one of an exact cover, and the outputs and states to compare: those in
/// which errors of the cover show, each with what it is allowed. A state that shows in outputs is allowed what the
/// strictest of them is.
void add_exact(const PreparedBucket& bucket, const select::Selection& chosen, const ExactCover& exact,
               const CompileOptions& options, runtime::BucketProgram& program);

}  // namespace cairn::inline v0
