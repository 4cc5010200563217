#pragma once

#include "selection/candidates/candidates.hpp"
#include "selection/choose/memo.hpp"
#include "selection/search/explore.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace cairn::selection {

struct Options {
    bool search = true;  ///< false: each node alone, with the first kernel that accepts
    bool find_lower_bounds =
        false;  ///< also find Selections::low and lower_bound_free_transfers, each by a search of its own
    std::stop_token stop = {};
    double seconds_per_kept_byte = selection::seconds_per_kept_byte;
};

/// A candidate and the goal it was chosen for. Its problem is owned by the Candidates that made it.
struct Choice {
    Goal goal;
    Candidate candidate;
    int number = -1;  ///< of the alternative, in the memo's problem
};

/// The combined error of a cover against one error budget of its bucket.
struct ErrorBudgetUse {
    std::string bound;  ///< name of the budget
    double error = 0, limit = 0;
};

/// A cover: candidates that together compute all outputs and state versions, each value once.
struct Selection {
    std::vector<Choice> chosen;  ///< operands before users, except for multi-output matches; emit() orders them
    double seconds = 0;          ///< expected for one run at representative sizes
    /// For each error budget, in order: the rounding of its states combined with the errors of all candidates that
    /// influence it.
    /// First order, relative to each value on the way: amplification of errors by later ops is not modelled.
    std::vector<ErrorBudgetUse> errors = {};
};

/// The covers of all buckets, selected together.
struct Selections {
    std::vector<Selection> buckets;
    double kept_bytes = 0;       ///< of weights that stay in memory for the runs; each form once
    double kept_price = 0;       ///< of those of which there are several forms, in seconds
    double cost = 0;             ///< the minimised objective: weighted seconds plus the price of kept bytes
    std::vector<int> path = {};  ///< alternatives of the memo's problem
    std::shared_ptr<const Memo> memo = nullptr;  ///< searched memo, as select() and select_within_memory() set it
    double low = 0;  ///< if requested: lower bound of the weighted seconds, if all lower bounds of calls hold
    /// If requested, with several devices: lower bound of the cost over all choices of values to transfer; 0 if that
    /// search was cut. Only some values may be transferred (narrow_cuts.hpp); that restriction costs at most `cost`
    /// minus this bound.
    double lower_bound_free_transfers = 0;
    std::size_t states = 0;  ///< of the search
    std::size_t regions = 0, regions_solved = 0;
    bool exact = true;
    double lower_bound_cost = 0;  ///< if not exact: lower bound of the cost of any covers; 0 if unknown
};

/// Expected seconds of one run of each bucket, weighted by its frequency.
double seconds_of(std::span<const Bucket> buckets, const Selections& covers);

/// Picks the covers of all buckets that minimise the sum over buckets of weight times seconds plus the price of what is
/// kept for all of them (memo.hpp), with errors within the budgets of each bucket. An interior value that is read
/// outside its match is required like any other: recomputed, or provided by a match that has it as an output, whichever
/// costs less. Throws Error(unsupported) naming the node that no kernel can compute and each kernel's refusal, or the
/// error budget that no cover keeps.
Selections select(std::span<const Bucket> buckets, const Options& options = {});

/// Calls `select` with the memory of states on each device in turn, and returns the selections that cost least; their
/// device stays set. One call with one device or without states. Empty if no call returns selections.
std::optional<Selections> with_cheapest_state_device(std::span<const Bucket> buckets,
                                                     const std::function<std::optional<Selections>()>& select);
/// select() with the states on the device where all programs together cost least.
Selections select_with_state_device(std::span<const Bucket> buckets, const Options& options = {});
/// Sets the device of the states alone, for callers with a selection of their own.
void choose_state_device(std::span<const Bucket> buckets, const Options& options = {});

/// The paths of a memo's problem. Throws Error(unsupported) if there is none, Cancelled on a stop.
search::Exploration explore_or_throw(const search::SearchProblem& problem, const search::Options& options);
/// The same with Memo::subproblem_of, which speeds up the search if one cheapest path is enough.
search::Exploration explore_or_throw(const search::SearchProblem& problem, std::span<const int> subproblem_of,
                                     const search::Options& options);

/// Lets all chosen kernels prepare. False: some failed, and refuse their problems from then on. Throws Cancelled.
bool can_prepare(std::span<const Bucket> buckets, const Selections& selections, const std::stop_token& stop = {});

/// The cheapest covers of a memo whose errors keep within the budgets of each bucket; empty if a kernel of them cannot
/// prepare its problem. Throws as select() does.
std::optional<Selections> cheapest_covers(Memo memo, std::span<const Bucket> buckets, const Options& options);

/// The covers that a path of the memo's problem denotes.
Selections covers_of(const Memo& memo, std::span<const Bucket> buckets, std::span<const int> path);

/// The choices of one bucket as text, a line for each candidate: `cpu.avx2.linear.f32@1 1.2e-05 s (measured) | linear
/// ...`.
std::string to_string(const Selections& selections, std::size_t bucket);

}  // namespace cairn::selection
