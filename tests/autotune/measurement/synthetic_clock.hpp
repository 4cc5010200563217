#pragma once

#include "autotune/measurement/successive_elimination.hpp"

#include <cstdint>
#include <vector>

namespace cairn::test {

/// Synthetic runs of given length on a machine that drifts, is noisy and is sometimes disturbed. The same each time.
class SyntheticClock {
public:
    struct Faults {
        double drift = 0.025;     ///< amplitude of the machine's speed, with a period of 2 s
        double noise = 0.02;      ///< standard deviation of a block
        double spikes = 0.05;     ///< share of blocks that are disturbed: they take up to twice as long
        double first_run = 3e-5;  ///< extra time of a candidate's first run
    };

    /// `lengths`: seconds of one run of each candidate.
    SyntheticClock(std::vector<double> lengths, Faults faults, std::uint64_t seed);

    double time(int candidate, std::int64_t inner);
    autotune::TimeBlock timer() {
        return [this](int candidate, std::int64_t inner) { return time(candidate, inner); };
    }
    double now() const { return now_; }
    /// Relative slowdown of a candidate against the fastest: 0 for the fastest.
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
