#pragma once

#include "autotune/measurement/clock.hpp"
#include "autotune/measurement/successive_elimination.hpp"
#include "cairn/context.hpp"
#include "program/program.hpp"
#include "selection/choose/select.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace cairn::autotune {

/// Makes the program of a bucket from a cover.
using MakeProgram = std::function<program::Program(std::size_t bucket, const selection::Selection& cover)>;

/// A paired program trial: the programs of two covers, for the buckets in which the covers differ.
class PairedTrial {
public:
    PairedTrial(std::span<const selection::Bucket> buckets, const selection::Selections& best,
                const selection::Selections& challenger, const MakeProgram& make_program,
                const selection::Options& options);

    /// True if the weights of both, in all their layouts, take at most half of the free memory.
    bool fit_in_memory(const Context& context) const;
    /// Runs both programs by the executor, in alternation (program_runner.hpp): all buckets, weighted as often as they
    /// run. If one keeps more bytes than the other, the price that selection gives these is added to its time. Each
    /// trial allocates memory of its own, so that addresses favour neither program. Throws Cancelled, Error(memory),
    /// Error(argument) if the weights cannot be made by `until`, and what kernels throw.
    autotune::EliminationResult run(const Context& context, double seconds, std::uint64_t seed,
                                    autotune::Clock::time_point until = autotune::Clock::time_point::max()) const;

private:
    std::span<const selection::Bucket> buckets_;
    std::stop_token stop_;
    std::vector<std::size_t> differing_buckets_;
    std::vector<program::Program> programs_;  // of the incumbent in these buckets, then of the challenger
    double kept_byte_seconds_[2] = {};
};

}  // namespace cairn::autotune
