#pragma once

#include "cairn/problem.hpp"
#include "selection/choose/challenger_covers.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::autotune {

/// How far the duels of some covers have come (duels.hpp): what the database remembers of them.
struct TrialRecord {
    /// No rival is left that was not run, or what the effort spends on them is spent.
    bool complete = false;
    bool is_thorough = false;           ///< nor of those that Mode::exhaustive runs
    selection::CoverConstraints terms;  ///< of the best; none where those chosen by sums are
    Digest best;                        ///< the name of the best
    std::vector<Digest> rejected;       ///< of those that were run beside them
    friend bool operator==(const TrialRecord&, const TrialRecord&) = default;
};

/// Lines `complete`, `thorough`, `best DIGEST`, `without KIND`, `only KIND`, `beaten DIGEST`.
std::string to_string(const TrialRecord& trial_record);
/// The inverse of to_string; nothing for any other text.
std::optional<TrialRecord> parse_trial_record(std::string_view text);

/// A name of covers, of the sizes that they are for, and of what counts beside time: where all of it is equal, so is
/// what comes of their duels.
Digest name_of(std::span<const selection::Bucket> buckets, const selection::Selections& covers,
               const selection::Options& options);

/// A name of what covers are chosen for: the graphs, their sizes, and what counts beside time. It stays whatever is
/// measured.
Digest name_of(std::span<const selection::Bucket> buckets, const selection::Options& options);

/// Whether covers with this name are the best or were beaten.
bool is_known(const TrialRecord& trial_record, const Digest& name);

/// The covers that a standing names as the best, found among all that `chosen` were chosen of; nothing where they are
/// not what they were. Those that ask for what a plan asks for may have got other kernels since: it is the plan that
/// won.
std::optional<selection::Selections> best_of(const TrialRecord& trial_record, const selection::Selections& chosen,
                                             std::span<const selection::Bucket> buckets,
                                             const selection::Options& options);

}  // namespace cairn::autotune
