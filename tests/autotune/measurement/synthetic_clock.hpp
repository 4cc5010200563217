#pragma once

#include "autotune/measurement/successive_elimination.hpp"

#include <cstdint>
#include <vector>

namespace cairn::test {

/// Runs of invented length on a machine that drifts, is noisy and is now and then disturbed. The same each time.
class SyntheticClock {
public:
    struct Faults {
        double drift = 0.025;     ///< the machine's speed swings by this much either way, once in 2 s
        double noise = 0.02;      ///< standard deviation of a block
        double spikes = 0.05;     ///< share of blocks that are disturbed: they take up to twice as long
        double first_run = 3e-5;  ///< what the first run of an entrant takes more
    };

    /// `lengths`: seconds of one run of each entrant.
    SyntheticClock(std::vector<double> lengths, Faults faults, std::uint64_t seed);

    double time(int candidate, std::int64_t inner);
    autotune::TimeBlock timer() {
        return [this](int candidate, std::int64_t inner) { return time(candidate, inner); };
    }
    double now() const { return now_; }
    /// How much slower than the fastest an entrant is: 0 for the fastest.
    double regret(int candidate) const;

private:
    double uniform();

    std::vector<double> lengths_;
    std::vector<bool> started_;
    Faults faults_;
    std::uint64_t state_;
    double phase_, now_ = 0;
};

}  // namespace cairn::test
