#pragma once

#include "driver/stages.hpp"

#include <optional>

/// Verification programs: the fastest exact programs, with which the first runs of inexact ones are compared.
namespace cairn::driver {

/// The buckets from which exact covers are selected: those of the inexact covers or, if rules pin kernels, others
/// prepared for an exact tolerance. A pin on a kernel that states an error would leave no exact kernel in the former.
class ExactSource {
public:
    /// All arguments must outlive it.
    ExactSource(const Graph& graph, const Context& context, const CompileOptions& options, const Stages& stages,
                std::vector<PreparedBucket>& buckets);
    ExactSource(const ExactSource&) = delete;
    ExactSource& operator=(const ExactSource&) = delete;

    const Stages& stages() const noexcept { return own_stages_ ? *own_stages_ : stages_; }
    std::vector<PreparedBucket>& buckets() noexcept { return own_stages_ ? own_buckets_ : buckets_; }
    /// True if they are not the buckets of the inexact covers.
    bool is_separate() const noexcept { return own_stages_.has_value(); }

private:
    const Stages& stages_;
    std::vector<PreparedBucket>& buckets_;
    CompileOptions own_options_;
    std::optional<Stages> own_stages_;
    std::vector<PreparedBucket> own_buckets_;
};

/// The exact covers that verify inexact ones. Nothing if all covers are exact, or if both do not fit within the memory
/// limit.
std::optional<selection::Selections> find_verification_covers(const Stages& stages,
                                                              std::vector<PreparedBucket>& buckets,
                                                              const selection::Selections& chosen,
                                                              const CompileOptions& options,
                                                              const selection::Options& select_options);

/// As find_verification_covers(), but replaces `chosen` with the exact covers, and returns nothing, if these are as
/// fast and keep no more bytes, or if both do not fit. Throws Error(memory) if the exact covers alone exceed the memory
/// limit.
std::optional<selection::Selections> choose_verification_covers(const Stages& stages,
                                                                std::vector<PreparedBucket>& buckets,
                                                                selection::Selections& chosen,
                                                                const CompileOptions& options,
                                                                const selection::Options& select_options);

/// The fastest exact covers, without regard to memory.
selection::Selections exact_covers(const std::vector<PreparedBucket>& buckets,
                                   const selection::Options& select_options);

/// An exact cover with its bucket, which is not that of the inexact cover if states are stored narrower.
struct ExactCover {
    const Stages& stages;
    PreparedBucket& bucket;
    const selection::Selection& selection;
};

/// Adds an exact cover's program to the program of an inexact cover, with the outputs and states to compare: those that
/// the cover's errors influence, each with its limit. The limit of a state that influences outputs is that of the
/// strictest one.
void attach_exact_program(const PreparedBucket& bucket, const selection::Selection& chosen, const ExactCover& exact,
                          const CompileOptions& options, runtime::BucketProgram& program);

}  // namespace cairn::driver
