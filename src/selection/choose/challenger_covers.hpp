#pragma once

#include "cairn/problem.hpp"
#include "selection/choose/select.hpp"

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Other covers than those that cost least: what kernels take alone adds up to what they take together but roughly, so
/// the best by sums have rivals that are worth running (autotune/policy/program_trials.hpp).
namespace cairn::selection {

/// What calls of equal layers have in common: a kernel, what it is asked for, and the user's line that made the value.
///
///     0 | cpu.avx2.linear.f32@1 | linear | f32[T,64] f32[64,64]! -> f32[T,64] | model.cpp:31
struct CallKind {
    int bucket = 0;
    std::string kernel, problem;
    std::string where;  ///< empty where the line is not known
    friend auto operator<=>(const CallKind&, const CallKind&) = default;
};

std::string to_string(const CallKind& kind);
/// The inverse of to_string; nothing for any other text.
std::optional<CallKind> parse_call_kind(std::string_view text);

/// What runs call, and what all calls of a kind are expected to take, as often as their bucket runs.
struct CallKindSeconds {
    CallKind kind;
    double seconds = 0;
};
/// Of covers, dearest first. Work that is done once is left out.
std::vector<CallKindSeconds> call_kinds_by_time(std::span<const Bucket> buckets, const Selections& covers);

/// Which covers of a memo are meant, by what their runs call.
struct CoverConstraints {
    std::vector<CallKind> without;  ///< nothing of these kinds
    /// Where there are any, only what these ask for at the same lines, by whichever kernel; in the buckets they name.
    std::vector<CallKind> only;
    friend bool operator==(const CoverConstraints&, const CoverConstraints&) = default;
};

/// The cheapest covers of the same memo on these terms; nothing where there are none, or where a kernel of them could
/// not prepare. Throws Cancelled.
std::optional<Selections> cheapest_covers_under(const CoverConstraints& terms, const Selections& chosen,
                                                std::span<const Bucket> buckets, const Options& options);

/// A name of what a cover calls: equal where kernels and problems are, in the order they were chosen.
Digest digest_of(const Selection& cover);

}  // namespace cairn::selection
