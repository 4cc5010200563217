#include "bench/model_profile.hpp"

#include "bench/model_timing.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace bench {
namespace {

struct Kind {
    int count = 0;
    std::vector<double> seconds;  // per iteration
    double of_threads = 0, busy = 0;
};

}  // namespace

std::vector<InstructionGroup> group_by_kernel(std::span<const std::vector<cairn::InstructionProfile>> iterations) {
    std::map<std::pair<std::string, std::string>, Kind> kinds;
    for (std::size_t i = 0; i < iterations.size(); ++i)
        for (const cairn::InstructionProfile& one : iterations[i]) {
            Kind& kind = kinds[{one.kernel, one.problem}];
            kind.seconds.resize(iterations.size());
            kind.seconds[i] += one.seconds;
            kind.of_threads += one.seconds * static_cast<double>(one.threads.size());
            for (const cairn::ThreadSpan& span : one.threads) kind.busy += span.end - span.begin;
            ++kind.count;
        }
    std::vector<InstructionGroup> all;
    for (const auto& [name, kind] : kinds) {
        const double idle = kind.of_threads > 0 ? std::max(1 - kind.busy / kind.of_threads, 0.0) : 0;
        all.push_back(
            {name.first, name.second, kind.count / static_cast<int>(iterations.size()), median(kind.seconds), idle});
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
    return all;
}

std::vector<InstructionGroup> profile_of(BenchmarkedModel& subject, std::int64_t most) {
    const std::int64_t untimed = std::min<std::int64_t>(2, most), timed = std::min<std::int64_t>(7, most);
    std::vector<std::vector<cairn::InstructionProfile>> iterations;
    subject.profile(true);
    for (std::int64_t i = 0; i < untimed + timed; ++i) {
        subject.prepare();
        subject.run();
        if (i >= untimed) iterations.push_back(subject.compiled().profile());
    }
    subject.profile(false);
    return group_by_kernel(iterations);
}

}  // namespace bench
