#include "bench/model_timing.hpp"

#include <algorithm>
#include <chrono>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds_of_one(BenchmarkedModel& subject) {
    subject.prepare();
    const Clock::time_point begin = Clock::now();
    subject.run();
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

/// Runs at least two iterations, and up to 1000 until 0.2 s have passed: clock frequencies rise and caches fill.
void warm_up(BenchmarkedModel& subject) {
    double total = 0;
    for (int i = 0; i < 2 || (total < 2e8 && i < 1000); ++i) total += nanoseconds_of_one(subject);
}

}  // namespace

std::vector<double> time_iterations(BenchmarkedModel& subject, const IterationLimits& turns) {
    warm_up(subject);
    std::vector<double> all;
    double total = 0;
    while (static_cast<std::int64_t>(all.size()) < turns.iterations || total < 1e9 * turns.seconds)
        total += all.emplace_back(nanoseconds_of_one(subject));
    return all;
}

PairedTimes time_under_load(BenchmarkedModel& subject, const IterationLimits& turns, BusyProcess& busy) {
    warm_up(subject);
    PairedTimes result;
    double total = 0;
    while (static_cast<std::int64_t>(result.alone.size()) < turns.iterations || total < 1e9 * turns.seconds) {
        const std::int64_t missing = turns.iterations - static_cast<std::int64_t>(result.alone.size());
        const std::int64_t count = std::clamp<std::int64_t>(missing, 1, 5);
        for (std::int64_t i = 0; i < count; ++i) total += result.alone.emplace_back(nanoseconds_of_one(subject));
        busy.wake();
        // The scheduler needs time to notice that a CPU is shared, so the first iteration is not timed.
        nanoseconds_of_one(subject);
        for (std::int64_t i = 0; i < count; ++i) total += result.beside.emplace_back(nanoseconds_of_one(subject));
        busy.rest();
        nanoseconds_of_one(subject);
    }
    return result;
}

double median(std::vector<double> values) {
    if (values.empty())
        throw cairn::Error(cairn::ErrorKind::argument, "model_bench", "there is nothing to take a median of");
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace bench
