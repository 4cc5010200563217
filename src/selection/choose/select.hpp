#pragma once

#include "selection/candidates/candidates.hpp"
#include "selection/choose/memo.hpp"
#include "selection/search/explore.hpp"

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace cairn::selection {

struct Options {
    bool search = true;  ///< false: each node on its own, by the first kernel that accepts
    bool find_lower_bounds =
        false;  ///< also find Selections::low and lower_bound_free_transfers, each by a search of its own
    std::stop_token stop = {};
    double seconds_per_kept_byte = selection::seconds_per_kept_byte;
};

/// A candidate and the goal it was chosen for; its problem is kept by the Candidates it was chosen from.
struct Choice {
    Goal goal;
    Candidate candidate;
    int number = -1;  ///< of the alternative, in the memo's problem
};

/// What the errors of a cover's candidates add up to in one of its bucket's bounds.
struct ErrorBudgetUse {
    std::string bound;  ///< its name
    double error = 0, limit = 0;
};

/// A cover: candidates that together make all outputs and state versions, each value once.
struct Selection {
    std::vector<Choice> chosen;  ///< operands come before their users, but for multi-output tiles; emit() orders them
    double seconds = 0;          ///< expected for one run at representative sizes
    /// Of each bound, in their order: what rounding its states takes, and the sum over the candidates whose values show
    /// there. To first order, and in relation to each value on the way: what an op makes of an error is not told.
    std::vector<ErrorBudgetUse> errors = {};
};

/// The covers of all buckets, chosen together.
struct Selections {
    std::vector<Selection> buckets;
    double kept_bytes = 0;       ///< of weights, in whatever form, that stay in memory for the runs; each form once
    double cost = 0;             ///< what was least: weighted seconds, and the price of what is kept
    std::vector<int> path = {};  ///< the alternatives of the memo's problem that they stand for
    std::shared_ptr<const Memo> memo = nullptr;  ///< of what they were chosen, as select() and trade() give them
    double low = 0;  ///< where asked for: no covers' weighted seconds can be less, if all lower bounds are right
    /// Where asked for, with several devices: no covers cost less, whichever values they copy between them; 0 where
    /// that search was cut. Only some values may travel (narrow.hpp): the rest of what that may cost lies between this
    /// and `cost`.
    double lower_bound_free_transfers = 0;
    std::size_t states = 0;  ///< of the search
    std::size_t regions = 0, regions_solved = 0;
    bool exact = true;
    double at_least = 0;  ///< where it is not exact: no covers cost less; 0 where that is not known
};

/// Expected of one run of each bucket, as often as it runs beside the others.
double seconds_of(std::span<const Bucket> buckets, const Selections& covers);

/// Picks covers of all buckets by their tiles and kernels, such that errors keep within the bounds of each bucket, and
/// the sum over buckets of weight times seconds, and what is kept for all of them, costs least (memo.hpp). An interior
/// value that something outside a tile reads is demanded like any other: made again, or provided by a tile that has it
/// as an output, whichever costs less. Throws Error(unsupported) naming the node that no kernel can make and what each
/// said, or the bound that nothing keeps.
Selections select(std::span<const Bucket> buckets, const Options& options = {});

/// The same, with the memory of states on the device where all programs together cost least, each being tried; there it
/// stays. With one device, or without states, that is select().
Selections select_with_state_device(std::span<const Bucket> buckets, const Options& options = {});
/// Puts the memory of states there, for those who choose in a way of their own.
void choose_state_device(std::span<const Bucket> buckets, const Options& options = {});

/// The paths of a memo's problem. Throws Error(unsupported) where there is none, Cancelled on a stop.
search::Exploration explore_or_throw(const search::SearchProblem& problem, const search::Options& options);
/// The same with Memo::subproblem_of, which help where one of the cheapest paths is enough.
search::Exploration explore_or_throw(const search::SearchProblem& problem, std::span<const int> subproblem_of,
                                     const search::Options& options);

/// Lets all chosen kernels prepare. False: some could not, and refuse their problems from then on. Throws Cancelled.
bool can_prepare(std::span<const Bucket> buckets, const Selections& selections, const std::stop_token& stop = {});

/// The cheapest covers of a memo whose errors keep within the bounds of each bucket; nothing where their kernels cannot
/// prepare what they are to do. Throws as select() does.
std::optional<Selections> cheapest_covers(Memo memo, std::span<const Bucket> buckets, const Options& options);

/// The covers that a path of the memo's problem stands for.
Selections covers_of(const Memo& memo, std::span<const Bucket> buckets, std::span<const int> path);

/// What was chosen for one of the buckets, a line for each candidate: `cpu.avx2.linear.f32@1 1.2e-05 s (measured) |
/// linear ...`.
std::string to_string(const Selections& selections, std::size_t bucket);

}  // namespace cairn::selection
