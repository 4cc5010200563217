// Plans the memory of crowded problems and of graphs that are no chains.
//
//     memory_planner [STEPS [FILE...]]
//
// A file has the format of MiniMalloc, its capacity in its name (NAME.CAPACITY.csv); without files those of
// tests/data/minimalloc, U-Nets, detectors and random graphs are planned. A line for each problem: buffers, the largest
// sum of live bytes, the capacity if there is one, the height of the plan, the ratio of height to that sum without and
// with the search below ceilings, and the milliseconds of both.
#include "bench/graph_buffers.hpp"
#include "program/memory_plan/pack.hpp"
#include "program/memory_plan/validate.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using cairn::memory_plan::Options;
using cairn::memory_plan::PackingProblem;
using cairn::memory_plan::PackingSolution;

struct Planned {
    PackingSolution solution;
    double ratio = 1, milliseconds = 0;
};

Planned planned(const PackingProblem& problem, std::int64_t steps) {
    Options options;
    options.steps = steps;
    const auto start = std::chrono::steady_clock::now();
    Planned plan{pack(problem, options)};
    plan.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    plan.ratio = static_cast<double>(plan.solution.height[0]) / static_cast<double>(plan.solution.lower_bound[0]);
    return plan;
}

bool report(const cairn::bench::NamedProblem& named, std::int64_t steps) {
    const Planned without = planned(named.problem, 0), with = planned(named.problem, steps);
    const std::string capacity = named.capacity > 0 ? std::to_string(named.capacity) : "-";
    std::printf("%-16s %6zu %12lld %12s %12lld %8.4f %8.4f %9.1f %9.1f\n", named.name.c_str(),
                named.problem.buffers.size(), static_cast<long long>(with.solution.lower_bound[0]), capacity.c_str(),
                static_cast<long long>(with.solution.height[0]), without.ratio, with.ratio, without.milliseconds,
                with.milliseconds);
    const std::string fault = validate(named.problem, with.solution);
    if (!fault.empty()) std::printf("%s\n", fault.c_str());
    return fault.empty();
}

}  // namespace

int main(int argc, char** argv) {
    std::int64_t steps = Options().steps;
    if (argc > 1) steps = std::atoll(argv[1]);
    std::vector<cairn::bench::NamedProblem> problems;
    for (int i = 2; i < argc; ++i) problems.push_back(cairn::bench::read_minimalloc(argv[i]));
    if (problems.empty()) problems = cairn::bench::crowded_problems();
    std::printf("%lld steps\n%-16s %6s %12s %12s %12s %8s %8s %9s %9s\n", static_cast<long long>(steps), "problem",
                "buffers", "live bytes", "capacity", "height", "without", "with", "ms", "ms");
    bool valid = true;
    for (const cairn::bench::NamedProblem& problem : problems) valid = report(problem, steps) && valid;
    return valid ? 0 : 1;
}
