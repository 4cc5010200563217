#pragma once

#include "autotune/measurement/successive_elimination.hpp"
#include "autotune/measurement/team_clock.hpp"
#include "cairn/context.hpp"
#include "program/program.hpp"
#include "selection/choose/select.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace cairn::autotune {

/// The program of each bucket by its cover.
using MakeProgram = std::function<program::Program(std::size_t bucket, const selection::Selection& cover)>;

/// The programs of two covers, of the buckets in which these differ.
class PairedTrial {
public:
    PairedTrial(std::span<const selection::Bucket> buckets, const selection::Selections& best,
                const selection::Selections& challenger, const MakeProgram& make_program,
                const selection::Options& options);

    /// Whether the weights of both, in all their forms, take at most half of the memory that is free.
    bool fit_in_memory() const;
    /// Runs both by the executor, in turns (trial.hpp): all buckets, as often as they run, and for bytes that one keeps
    /// more than the other what these count in selection. Each race has memory of its own: where that happens to lie is
    /// no merit of either. Throws Cancelled, Error(memory), Error(argument) where weights cannot be made by then, and
    /// what kernels throw.
    autotune::EliminationResult run(const Context& context, double seconds, std::uint64_t seed,
                                    autotune::Clock::time_point until = autotune::Clock::time_point::max()) const;

private:
    std::span<const selection::Bucket> buckets_;
    std::stop_token stop_;
    std::vector<std::size_t> differing_buckets_;
    std::vector<program::Program> programs_;  // of the best in these buckets, then of the rival
    double kept_byte_seconds_[2] = {};
};

}  // namespace cairn::autotune
