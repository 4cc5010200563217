#include "tests/long_fuzz/options.hpp"

#include <sched.h>

#include <algorithm>

namespace cairn::test {
namespace {

// Threads inherit the CPUs of who makes them.
Context on_one_cpu(const ContextOptions& options) {
    cpu_set_t before, one;
    if (sched_getaffinity(0, sizeof before, &before) != 0) return Context(options);
    CPU_ZERO(&one);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &before)) ++cpu;
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    Context context(options);
    sched_setaffinity(0, sizeof before, &before);
    return context;
}

Context at_most(FeatureSet features) {
    ContextOptions options;
    options.features = features & Context().features();
    return Context(options);
}

}  // namespace

std::vector<OptionSet> option_sets(int count, int threads) {
    ContextOptions plain, many, reference;
    many.threads = threads;
    reference.reference_only = true;
    std::vector<OptionSet> sets;
    sets.push_back({"verify", Context(plain), {.verify = true}});
    sets.push_back({"one stage off", Context(plain), {.verify = true}});
    sets.push_back({"threads", Context(many), {}});
    sets.push_back({"avx2", at_most(levels::avx2), {}});
    sets.push_back({"baseline", at_most(levels::baseline), {}});
    sets.push_back({"reference", Context(reference), {}});
    sets.push_back({"threads on one CPU", on_one_cpu(many), {.verify = true}});
    sets.push_back({"own outputs", Context(plain), {}, true});
    sets.erase(sets.begin() + std::clamp(count, 1, 8), sets.end());
    return sets;
}

std::string stage_off(std::uint64_t seed) {
    const std::vector<std::string> names = stage_names();
    return names[seed % names.size()];
}

}  // namespace cairn::test
