#pragma once

#include "cairn/problem.hpp"
#include "selection/choose/challenger_covers.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::autotune {

/// Progress of the program trials of some covers (program_trials.hpp), as the database stores it.
struct TrialRecord {
    /// No untried challenger is left, or the effort's time for trials is spent.
    bool complete = false;
    bool is_thorough = false;           ///< nor is one left of those that Mode::exhaustive tries
    selection::CoverConstraints terms;  ///< of the best covers; empty if these are the ones chosen by summed times
    Digest best;                        ///< digest of the best covers
    std::vector<Digest> rejected;       ///< digests of the covers that lost
    friend bool operator==(const TrialRecord&, const TrialRecord&) = default;
};

/// Lines `complete`, `thorough`, `best DIGEST`, `without KIND`, `only KIND`, `beaten DIGEST`.
std::string to_string(const TrialRecord& trial_record);
/// The inverse of to_string; nothing for any other text.
std::optional<TrialRecord> parse_trial_record(std::string_view text);

/// Digest of covers, of the sizes they are for, and of the costs besides time: if all of it is equal, the trials have
/// the same result.
Digest name_of(std::span<const selection::Bucket> buckets, const selection::Selections& covers,
               const selection::Options& options);

/// Digest of what covers are chosen for: the graphs, their sizes, and the costs besides time. Independent of
/// measurements.
Digest name_of(std::span<const selection::Bucket> buckets, const selection::Options& options);

/// True if covers with this digest are the best or were rejected.
bool is_known(const TrialRecord& trial_record, const Digest& name);

/// Finds the covers recorded as the best in the memo that `chosen` came from; nothing if the covers found have another
/// digest. With constraints `only` the digest is not compared: the plan has won, and may call other kernels by now.
std::optional<selection::Selections> best_of(const TrialRecord& trial_record, const selection::Selections& chosen,
                                             std::span<const selection::Bucket> buckets,
                                             const selection::Options& options);

}  // namespace cairn::autotune
