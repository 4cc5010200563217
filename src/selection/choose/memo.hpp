#pragma once

#include "selection/choose/producers.hpp"
#include "selection/search/search_problem.hpp"

#include <deque>
#include <memory>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

/// The memo: from tiles and kernels to the numbered goals and alternatives that the search sees.
namespace cairn::selection {

/// What a byte that a program keeps in memory for good costs where nobody says: CompileOptions::seconds_per_kept_byte.
/// So noise in measured times does not fill the memory.
inline constexpr double seconds_per_kept_byte = 1e-9;

/// Work done once when weights are bound counts this much of its time.
inline constexpr double bind_weight = 1e-3;

/// Seconds that no path takes: what forbids an alternative.
inline constexpr double forbidden_cost = 1e9;

/// A search problem for all programs at once, and what its numbers mean. The programs meet in the bound values they
/// keep: each is one goal, whoever reads it, and is paid for once. (A weight that can be kept in one form only is no
/// goal.)
struct Memo {
    /// A goal, and whose it is; a kept one stands for equal ones of further buckets.
    struct Request {
        int bucket = 0;
        Goal goal;
        double bytes = 0;            ///< of a kept one
        double prepacked_bytes = 0;  ///< of these, what is not read where the weights were bound
    };
    /// What errors of a path add up to in one of the bounds of a bucket, where there are any.
    struct ErrorTerms {
        int bucket = 0, bound = 0;
        std::vector<std::pair<int, double>> of_choices;  ///< alternatives that have one, ascending
    };
    search::SearchProblem problem;
    std::vector<Request> goals;                ///< of each number
    std::vector<int> subproblem_of;            ///< of each goal: its bucket, or search::shared for a kept one
    std::vector<const Candidate*> candidates;  ///< of each alternative
    std::vector<ErrorTerms> errors;            ///< by bucket and bound
    double always_kept_bytes = 0;              ///< of what is kept whatever is chosen: it is no goal
    std::shared_ptr<const std::deque<Producers>> producers = nullptr;  ///< of each bucket: the candidates are theirs
    std::shared_ptr<const Candidate> none = std::make_shared<const Candidate>();  ///< of what is kept: no kernel

    const Candidate& candidate(int choice) const { return *candidates[static_cast<std::size_t>(choice)]; }
};

/// Builds the memo of all buckets. Throws Error(unsupported) where a needed value has no candidate, Cancelled on a
/// stop.
///
/// A run's alternatives cost their seconds times the bucket's weight; work done once when weights are bound a
/// thousandth of its seconds; a byte that is kept so many seconds as `price` tells.
Memo memo_of(std::span<const Bucket> buckets, Breadth breadth, const std::stop_token& stop = {},
             double price = seconds_per_kept_byte);
/// The same of the ways given, those of each bucket.
Memo memo_of(std::span<const Bucket> buckets, std::shared_ptr<std::deque<Producers>> producers,
             const std::stop_token& stop, double price);

}  // namespace cairn::selection
