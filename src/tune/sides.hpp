#pragma once

#include "cairn/context.hpp"
#include "program/program.hpp"
#include "select/select.hpp"
#include "timing/race.hpp"
#include "timing/team_clock.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace cairn::inline v0::tune {

/// The program of each bucket by its cover.
using MakeProgram = std::function<program::Program(std::size_t bucket, const select::Selection& cover)>;

/// The programs of two covers, of the buckets in which these differ.
class Sides {
public:
    Sides(std::span<const select::Bucket> buckets, const select::Selections& best, const select::Selections& rival,
          const MakeProgram& make_program, const select::Options& options);

    /// Whether the weights of both, in all their forms, take at most half of the memory that is free.
    bool fit_in_memory() const;
    /// Runs both by the executor, in turns (trial.hpp): all buckets, as often as they run, and for bytes that one keeps
    /// more than the other what these count in selection. Each race has memory of its own: where that happens to lie is
    /// no merit of either. Throws Cancelled, Error(memory), Error(argument) where weights cannot be made by then, and
    /// what kernels throw.
    timing::RaceResult race(const Context& context, double seconds, std::uint64_t seed,
                            timing::Clock::time_point until = timing::Clock::time_point::max()) const;

private:
    std::span<const select::Bucket> buckets_;
    std::stop_token stop_;
    std::vector<std::size_t> differing_;
    std::vector<program::Program> programs_;  // of the best in these buckets, then of the rival
    double dues_[2] = {};
};

}  // namespace cairn::inline v0::tune
