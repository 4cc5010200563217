#include "tests/autotune/measurement/synthetic_clock.hpp"

#include "autotune/measurement/splitmix.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cairn::test {

SyntheticClock::SyntheticClock(std::vector<double> lengths, Faults faults, std::uint64_t seed)
    : lengths_(std::move(lengths)), started_(lengths_.size(), false), faults_(faults), state_(seed) {
    phase_ = uniform();
}

double SyntheticClock::uniform() { return static_cast<double>(autotune::splitmix64(state_) >> 11) * 0x1p-53; }

double SyntheticClock::time(int candidate, std::int64_t inner) {
    const auto e = static_cast<std::size_t>(candidate);
    double seconds = lengths_[e] * static_cast<double>(inner);
    const double radius = std::sqrt(-2 * std::log(1 - uniform())), angle = 2 * std::numbers::pi * uniform();
    seconds *= 1 + faults_.noise * radius * std::cos(angle);
    seconds *= 1 + faults_.drift * std::sin(2 * std::numbers::pi * (phase_ + now_ / 2));
    const double chance = uniform(), size = uniform();
    if (chance < faults_.spikes) seconds *= 1 + size;
    if (!started_[e]) seconds += faults_.first_run;
    started_[e] = true;
    now_ += seconds;
    return seconds;
}

double SyntheticClock::regret(int candidate) const {
    return lengths_[static_cast<std::size_t>(candidate)] / *std::min_element(lengths_.begin(), lengths_.end()) - 1;
}

}  // namespace cairn::test
