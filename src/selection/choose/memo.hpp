#pragma once

#include "selection/choose/producers.hpp"
#include "selection/search/search_problem.hpp"

#include <deque>
#include <memory>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

/// The memo: the numbered goals and alternatives that the search runs on, built from matches and kernels.
namespace cairn::selection {

/// Default price of a byte that a program keeps in memory permanently: CompileOptions::seconds_per_kept_byte. It
/// prevents noise in measured times from filling the memory.
inline constexpr double seconds_per_kept_byte = 1e-9;

/// Weight of the seconds of work done once, when weights are bound.
inline constexpr double bind_weight = 1e-3;

/// Cost, in seconds, that forbids an alternative: more than any path takes.
inline constexpr double forbidden_cost = 1e9;

/// One search problem for all programs, and what its numbers denote. The programs share the bound values that they
/// keep: each is one goal, whichever programs read it, and is paid once. (A weight that can be kept in one form only
/// has no goal.)
struct Memo {
    /// A goal and its bucket; a kept goal also represents the equal goals of further buckets.
    struct Request {
        int bucket = 0;
        Goal goal;
        double bytes = 0;            ///< of a kept goal
        double price = 0;            ///< of a kept goal, in seconds
        double prepacked_bytes = 0;  ///< of `bytes`, those not read where the weights were bound
    };
    /// The squared errors of alternatives that count against one error budget of a bucket.
    struct ErrorTerms {
        int bucket = 0, bound = 0;
        std::vector<std::pair<int, double>> squares;  ///< of alternatives with an error, ascending
    };
    search::SearchProblem problem;
    std::vector<Request> goals;                ///< by goal number
    std::vector<int> subproblem_of;            ///< by goal: its bucket, or search::shared for a kept one
    std::vector<const Candidate*> candidates;  ///< by alternative
    std::vector<ErrorTerms> errors;            ///< by bucket and budget
    double always_kept_bytes = 0;              ///< of forms that are always kept and have no goal
    std::shared_ptr<const std::deque<Producers>> producers = nullptr;             ///< by bucket; owns the candidates
    std::shared_ptr<const Candidate> none = std::make_shared<const Candidate>();  ///< of kept goals: no kernel

    const Candidate& candidate(int choice) const { return *candidates[static_cast<std::size_t>(choice)]; }
};

/// Builds the memo of all buckets. Throws Error(unsupported) if a needed value has no candidate, Cancelled on a stop.
///
/// The cost of a run-time alternative is its seconds times the bucket's weight, of work done once at bind a thousandth
/// of its seconds, and of a kept byte `price` seconds, or less on a device that reads it faster (kept_byte_price).
Memo memo_of(std::span<const Bucket> buckets, Breadth breadth, const std::stop_token& stop = {},
             double price = seconds_per_kept_byte);
/// The same with the given producers, one for each bucket.
Memo memo_of(std::span<const Bucket> buckets, std::shared_ptr<std::deque<Producers>> producers,
             const std::stop_token& stop, double price);

}  // namespace cairn::selection
