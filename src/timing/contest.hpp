#pragma once

#include "cairn/tuning.hpp"
#include "device/context_parts.hpp"
#include "timing/race.hpp"

#include <span>
#include <stop_token>
#include <vector>

/// Times kernels on Problems of constant sizes with a Context's threads, the way a program would run them.
namespace cairn::inline v0::timing {

/// A kernel and what it is to do.
struct Contestant {
    const Problem* problem;
    const Kernel* kernel;
};

/// As measure(): blocks of one contestant.
Timing sample(const Contestant& contestant, Context::Parts& parts, const MeasureOptions& options);

struct ContestOptions {
    RaceOptions race;
    bool cold = true;
    std::stop_token stop = {};
};

struct ContestResult {
    std::vector<Timing> timings;  ///< of each contestant
    double seconds = 0;           ///< that timed runs took
};

/// A race of kernels that do the same, or parts of it. Whoever refuses, or throws, has failed, and `note` says why; it
/// stops no one else. Whoever takes so long in its first run that the budget bears no second one, or is that far behind
/// the best, is `censored` at the time of that run. Throws Cancelled within one run after a stop.
ContestResult contest(std::span<const Contestant> contestants, Context::Parts& parts, const ContestOptions& options);

/// True of times so uneven that they should be taken again.
bool is_noisy(const Timing& timing);

}  // namespace cairn::inline v0::timing
