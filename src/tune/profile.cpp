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

struct Call {
    Problem problem;  ///< at constant sizes
    const Kernel* kernel;
};

/// The unmeasured calls of what was chosen, dearest first, each once.
std::vector<Call> unknown_calls(std::span<const select::Bucket> buckets, const select::Selections& selections,
                                const select::CostSource& costs, std::set<std::string>& seen) {
    struct Unknown {
        double most;
        Call call;
    };
    std::vector<Unknown> unknown;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const auto sizes = select::representative_sizes(*buckets[b].graph.symbols());
        for (const auto& [goal, candidate] : selections.buckets[b].chosen) {
            if (candidate.estimate.measured) continue;
            for (Problem& sized : select::at_each(*candidate.problem, sizes))
                if (const auto one = select::estimate(*candidate.kernel, sized, costs);
                    !one.measured && seen.insert(candidate.kernel->id + ' ' + to_string(sized)).second)
                    unknown.push_back({one.high * buckets[b].weight, {std::move(sized), candidate.kernel}});
        }
    }
    std::stable_sort(unknown.begin(), unknown.end(),
                     [](const Unknown& a, const Unknown& b) { return a.most > b.most; });
    std::vector<Call> calls;
    for (Unknown& one : unknown) calls.push_back(std::move(one.call));
    return calls;
}

Timing failure(std::string note) {
    Timing timing;
    timing.status = TimingStatus::failed;
    timing.note = std::move(note);
    return timing;
}

void count_with(std::span<const select::Bucket> buckets, const select::CostSource& costs) {
    for (const select::Bucket& bucket : buckets) bucket.candidates.set_costs(costs);
}

/// Measures until the budget is spent or nothing is unknown.
Profiled measure_unknown(std::span<const select::Bucket> buckets, const Context& context,
                         const select::CostSource& optimistic, const select::Options& options, const Budget& budget) {
    Profiled result;
    TimingDb& timings = *context.parts()->timings;
    std::set<std::string> seen;
    while (Clock::now() < budget.end) {
        count_with(buckets, optimistic);
        const std::vector<Call> calls = unknown_calls(buckets, select::select(buckets, options), optimistic, seen);
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
            timings.record(problem, kernel->id, optimistic.environment, optimistic.policy, timing);
        }
    }
    return result;
}

}  // namespace

Profiled profile(std::span<const select::Bucket> buckets, const Context& context, const select::CostSource& costs,
                 const select::Options& options, const Budget& budget) {
    select::CostSource optimistic = costs;
    optimistic.optimistic = true;
    const Profiled result = measure_unknown(buckets, context, optimistic, options, budget);
    count_with(buckets, costs);
    return result;
}

}  // namespace cairn::inline v0::tune
