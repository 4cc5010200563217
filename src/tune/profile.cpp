#include "tune/profile.hpp"

#include "cairn/tuning.hpp"
#include "device/context_parts.hpp"
#include "tune/error.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cairn::inline v0::tune {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_until(Clock::time_point end) { return std::chrono::duration<double>(end - Clock::now()).count(); }

struct Call {
    Problem problem;  ///< at constant sizes
    const Kernel* kernel;
    bool time = false;                     ///< is unknown
    std::optional<Problem> compared = {};  ///< where its error is unknown: what is to be run for it
    double promised = 0;
};

/// What is unknown of a candidate at some sizes.
Call unknown_of(const select::Candidate& candidate, Problem sized, const std::vector<std::int64_t>& sizes,
                const select::CostSource& costs, std::span<const Definition> definitions) {
    const Kernel& kernel = *candidate.kernel;
    Call call{std::move(sized), &kernel};
    call.time = !select::estimate(kernel, call.problem, costs).measured;
    if (candidate.estimate.error == 0 || candidate.estimate.error_measured) return call;
    call.promised = candidate.estimate.error;
    if (!costs.timings->find_error(call.problem, kernel.id, costs.environment))
        call.compared = comparable(kernel, *candidate.problem, sizes, definitions);
    return call;
}

/// The unmeasured calls of what was chosen, dearest first, each once.
std::vector<Call> unknown_calls(std::span<const select::Bucket> buckets, const select::Selections& selections,
                                const select::CostSource& costs, std::span<const Definition> definitions,
                                std::set<std::string>& seen) {
    std::vector<std::pair<double, Call>> unknown;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const auto all_sizes = select::representative_sizes(*buckets[b].graph.symbols());
        for (const auto& [goal, candidate, number] : selections.buckets[b].chosen) {
            const select::Estimate& known = candidate.estimate;
            if (known.measured && (known.error == 0 || known.error_measured)) continue;
            for (const std::vector<std::int64_t>& sizes : all_sizes) {
                Problem sized = at_sizes(*candidate.problem, sizes);
                if (!seen.insert(candidate.kernel->id + ' ' + to_string(sized)).second) continue;
                Call call = unknown_of(candidate, std::move(sized), sizes, costs, definitions);
                if (!call.time && !call.compared) continue;
                const double most = select::estimate(*candidate.kernel, call.problem, costs).high;
                unknown.emplace_back(most * buckets[b].weight, std::move(call));
            }
        }
    }
    std::stable_sort(unknown.begin(), unknown.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Call> calls;
    for (auto& [most, call] : unknown) calls.push_back(std::move(call));
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

Timing timed(const Call& call, const Context& context, double seconds, const Budget& budget) {
    try {
        MeasureOptions options;
        options.max_seconds = std::min(options.max_seconds, seconds);
        options.stop = budget.stop;
        return measure(call.problem, call.kernel->id, context, options);
    } catch (const Cancelled&) { throw; } catch (const std::exception& error) {
        return failure(error.what());
    } catch (...) { return failure("it threw what is no std::exception"); }
}

/// Measures what is unknown of a call, and stores it.
void measure_call(const Call& call, const Context& context, const select::CostSource& costs, double seconds,
                  const Budget& budget, Profiled& result) {
    Context::Parts& parts = *context.parts();
    if (call.time) {
        const Timing timing = timed(call, context, seconds, budget);
        parts.timings->record(call.problem, call.kernel->id, costs.environment, costs.policy, timing);
        const bool is_ok = timing.status == TimingStatus::ok;
        ++(is_ok ? result.measured : result.failed);
        if (!is_ok) return;
    }
    if (!call.compared) return;
    const ErrorFigures figures =
        measure_error(*call.kernel, *call.compared, call.promised, parts.kernels.definitions, parts.pool);
    parts.timings->record_error(call.problem, call.kernel->id, costs.environment, figures);
    ++result.compared;
}

/// Measures until the budget is spent or nothing is unknown.
Profiled measure_unknown(std::span<const select::Bucket> buckets, const Context& context,
                         const select::CostSource& optimistic, const select::Options& options, const Budget& budget) {
    Profiled result;
    std::set<std::string> seen;
    while (Clock::now() < budget.end) {
        count_with(buckets, optimistic);
        const select::Selections selections = select::select(buckets, options);
        const std::vector<Call> calls =
            unknown_calls(buckets, selections, optimistic, context.kernels().definitions, seen);
        if (calls.empty()) {
            result.complete = true;
            break;
        }
        double best = 0;
        for (std::size_t b = 0; b < buckets.size(); ++b) best += buckets[b].weight * selections.buckets[b].seconds;
        std::int64_t done = 0;
        for (const Call& call : calls) {
            if (budget.stop.stop_requested()) throw Cancelled("tune");
            const double left = seconds_until(budget.end);
            if (left <= 0) return result;
            if (budget.progress)
                budget.progress({"tune", done++, static_cast<std::int64_t>(calls.size()), call.kernel->id, left, best});
            measure_call(call, context, optimistic, left, budget, result);
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
