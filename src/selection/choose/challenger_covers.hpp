#pragma once

#include "cairn/problem.hpp"
#include "selection/choose/select.hpp"

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Challenger covers for paired program trials (autotune/policy/program_trials.hpp). The sum of kernel times only
/// approximates the time of a program, so covers other than the cheapest are worth running.
namespace cairn::selection {

/// What calls of equal layers have in common: kernel, problem, and the user's source line that made the value.
///
///     0 | cpu.avx2.linear.f32@1 | linear | f32[T,64] f32[64,64]! -> f32[T,64] | model.cpp:31
struct CallKind {
    int bucket = 0;
    std::string kernel, problem;
    std::string where;  ///< empty if the line is not known: constraints then hold for any line
    friend auto operator<=>(const CallKind&, const CallKind&) = default;
};

std::string to_string(const CallKind& kind);
/// The inverse of to_string; empty for any other text.
std::optional<CallKind> parse_call_kind(std::string_view text);

/// A kind of call, and the expected seconds of all its calls, weighted by how often their bucket runs.
struct CallKindSeconds {
    CallKind kind;
    double seconds = 0;
};
/// The kinds of calls of covers, most expensive first. Work done once at bind is left out.
std::vector<CallKindSeconds> call_kinds_by_time(std::span<const Bucket> buckets, const Selections& covers);

/// Restricts the covers of a memo by the calls that their runs make.
struct CoverConstraints {
    std::vector<CallKind> without;  ///< excludes calls of these kinds
    /// If not empty: in the buckets that these name, only calls of their problems at their lines, by any
    /// kernel of the same device.
    std::vector<CallKind> only;
    friend bool operator==(const CoverConstraints&, const CoverConstraints&) = default;
};

/// The cheapest covers of the same memo under these constraints. Empty if there are none, or if one of their kernels
/// could not prepare. Throws Cancelled.
std::optional<Selections> cheapest_covers_under(const CoverConstraints& terms, const Selections& chosen,
                                                std::span<const Bucket> buckets, const Options& options);

/// Digest of a cover's calls: equal if kernels and problems are equal, in the order of choice.
Digest digest_of(const Selection& cover);

}  // namespace cairn::selection
