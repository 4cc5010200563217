#include "tune/profile.hpp"

#include "cairn/tuning.hpp"
#include "device/context_parts.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace cairn::inline v0::tune {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_until(Clock::time_point end) { return std::chrono::duration<double>(end - Clock::now()).count(); }

/// The unmeasured calls of a selection, dearest first, each once.
std::vector<std::pair<Problem, const Kernel*>> unknown_calls(const select::Selection& selection,
                                                             const std::vector<std::int64_t>& sizes,
                                                             std::set<std::string>& seen) {
    std::vector<const select::Candidate*> unknown;
    for (const select::Choice& choice : selection.chosen)
        if (!choice.candidate.estimate.measured) unknown.push_back(&choice.candidate);
    std::stable_sort(unknown.begin(), unknown.end(),
                     [](const auto* a, const auto* b) { return a->estimate.high > b->estimate.high; });
    std::vector<std::pair<Problem, const Kernel*>> calls;
    for (const select::Candidate* candidate : unknown) {
        Problem sized = at_sizes(*candidate->problem, sizes);
        if (seen.insert(candidate->kernel->id + ' ' + to_string(sized)).second)
            calls.emplace_back(std::move(sized), candidate->kernel);
    }
    return calls;
}

Timing failure(std::string note) {
    Timing timing;
    timing.status = TimingStatus::failed;
    timing.note = std::move(note);
    return timing;
}

}  // namespace

Profiled profile(const ir::GraphData& graph, const std::vector<fuse::Tile>& tiles, const Context& context,
                 select::CostSource costs, const std::set<std::string>& resident, const select::Options& options,
                 const Budget& budget) {
    Profiled result;
    TimingDb& timings = *context.parts()->timings;
    costs.timings = &timings;
    costs.optimistic = true;
    const std::vector<std::int64_t> sizes = select::representative_sizes(*graph.symbols());
    std::set<std::string> seen;
    while (Clock::now() < budget.end) {
        std::set<std::string> tried = resident;
        select::Candidates candidates(graph, context.kernels(), context.isa(), costs, options.packed, tried,
                                      options.stop);
        const auto calls = unknown_calls(select::select(graph, tiles, candidates, options), sizes, seen);
        if (calls.empty()) {
            result.complete = true;
            break;
        }
        std::int64_t done = 0;
        for (const auto& [problem, kernel] : calls) {
            if (budget.stop.stop_requested()) throw Cancelled("tune");
            const double left = seconds_until(budget.end);
            if (left <= 0) return result;
            if (budget.progress)
                budget.progress({"tune", done++, static_cast<std::int64_t>(calls.size()), kernel->id, left});
            Timing timing;
            try {
                MeasureOptions measure_options;
                measure_options.max_seconds = std::min(measure_options.max_seconds, left);
                measure_options.stop = budget.stop;
                timing = measure(problem, kernel->id, context, measure_options);
                ++result.measured;
            } catch (const Cancelled&) { throw; } catch (const std::exception& error) {
                timing = failure(error.what());
                ++result.failed;
            } catch (...) {
                timing = failure("it threw what is no std::exception");
                ++result.failed;
            }
            timings.record(problem, kernel->id, costs.environment, costs.policy, timing);
        }
    }
    return result;
}

}  // namespace cairn::inline v0::tune
