#include "apps/cli/report_data.hpp"

#include "apps/cli/problem_ops.hpp"
#include "apps/cli/run_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace cairn::cli {
namespace {

using Calls = std::map<std::pair<std::string, std::string>, int>;

Calls calls_of(const ExplainedBucket& bucket) {
    Calls calls;
    for (const ExplainedInstruction& each : bucket.instructions) ++calls[{each.chosen.kernel, each.chosen.problem}];
    return calls;
}

Calls calls_of(const std::vector<PathStep>& steps) {
    Calls calls;
    for (const PathStep& step : steps) ++calls[{step.kernel, step.problem}];
    return calls;
}

/// True if `all` contains each call of `some`: a program has copies that are not steps of its path.
bool among(const Calls& some, const Calls& all) {
    return std::all_of(some.begin(), some.end(), [&](const auto& call) {
        const auto found = all.find(call.first);
        return found != all.end() && found->second >= call.second;
    });
}

/// The steps of the bucket with index `number`, in the order of the path.
std::vector<PathStep> steps_of_bucket(const Path& path, std::size_t number) {
    std::vector<PathStep> found;
    std::vector<std::string> seen;
    for (PathStep& step : path.steps()) {
        if (std::find(seen.begin(), seen.end(), step.bucket) == seen.end()) seen.push_back(step.bucket);
        if (seen.size() == number + 1 && seen[number] == step.bucket) found.push_back(std::move(step));
    }
    return found;
}

/// Searches the cheapest paths for `least_by_sums` and `runner_up`: paths before the selected one cost less by summed
/// times, those after it do not.
void find_other_paths(const Paths& alternatives, ReportData& study, const std::stop_token& stop) {
    constexpr int max_paths = 256;
    const Calls chosen = calls_of(study.run_bucket());
    int visited = 0;
    bool after_selected = false;
    PathRange range = alternatives.cheapest_first();
    for (auto path = range.begin(); path != range.end() && visited++ < max_paths; ++path) {
        if (stop.stop_requested()) throw Cancelled("explain");
        AlternativePath other{steps_of_bucket(*path, study.bucket), 0, path->kept_bytes()};
        if (among(calls_of(other.steps), chosen)) {
            after_selected = true;
            continue;
        }
        if (!after_selected && study.least_by_sums) continue;
        for (const PathStep& step : other.steps) other.seconds += step.at_bind ? 0 : step.seconds;
        (after_selected ? study.runner_up : study.least_by_sums) = std::move(other);
        if (after_selected) return;
    }
    // The selected path was not found, so the paths after it are unknown.
}

/// What decided against the paths that cost less.
std::string decision_in(const ExplainedBucket& bucket) {
    for (const ExplainedValue& value : bucket.values)
        for (const ExplainedAlternative& alternative : value.alternatives)
            if (!alternative.decided_by.empty() && alternative.slower) return alternative.decided_by;
    return {};
}

}  // namespace

/// The bucket whose ranges contain these sizes.
std::size_t bucket_at(const Explanation& why, const std::vector<std::pair<std::string, std::int64_t>>& sizes) {
    const auto holds = [&](const ExplainedBucket& bucket) {
        return std::all_of(bucket.ranges.begin(), bucket.ranges.end(), [&](const ExplainedBucket::Range& range) {
            return std::any_of(sizes.begin(), sizes.end(), [&](const auto& size) {
                return size.first == range.symbol && range.low <= size.second && size.second <= range.high;
            });
        });
    };
    const auto found = std::find_if(why.buckets.begin(), why.buckets.end(), holds);
    return found == why.buckets.end() ? 0 : static_cast<std::size_t>(found - why.buckets.begin());
}

std::vector<const ExplainedInstruction*> ReportData::instructions() const {
    std::vector<const ExplainedInstruction*> all;
    for (const ExplainedInstruction& each : run_bucket().instructions)
        if (!each.at_bind) all.push_back(&each);
    return all;
}

std::vector<double> ReportData::seconds() const {
    std::vector<double> all(instructions().size(), 0);
    if (profile.size() == all.size())
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = profile[i].seconds;
    return all;
}

double ReportData::expected_scale() const {
    double expected = 0, took = 0;
    for (const InstructionProfile& each : profile) expected += each.expected_seconds, took += each.seconds;
    return expected > 0 && took > 0 ? took / expected : 1;
}

ReportData collect_report_data(const Graph& graph, const Context& context, const Options& options,
                               CompiledGraph& compiled, Explanation why, std::vector<TunePoint> tuning,
                               const std::stop_token& stop) {
    ReportData study;
    study.graph = graph.name();
    study.how = {{"threads", std::to_string(context.threads())},
                 {"features", to_string(context.features())},
                 {"times", options.mode},
                 {"tolerance", options.tolerance},
                 {"version", std::string(version())}};
    study.why = std::move(why);
    for (const ExplainedBucket& bucket : study.why.buckets)
        for (const ExplainedInstruction& each : bucket.instructions)
            if (!study.groups.contains(each.chosen.problem))
                study.groups[each.chosen.problem] = problem_ops(each.chosen.problem, context);
    study.tuning = std::move(tuning);
    const RunInputs run_inputs(graph, options);
    run_inputs.apply_to(compiled, {}, stop);
    study.sizes = run_inputs.sizes_text();
    study.bucket = bucket_at(study.why, run_inputs.sizes());
    study.run_seconds = run_inputs.time(compiled, stop);
    run_inputs.run(compiled, stop, true);
    study.profile = compiled.profile();
    std::vector<std::pair<std::string_view, std::int64_t>> sizes(run_inputs.sizes().begin(), run_inputs.sizes().end());
    study.memory = compiled.memory(sizes);
    CompileOptions compile_with = compile_options(options);
    if (compile_with.mode != Mode::off && compile_with.mode != Mode::replay)
        compile_with.mode = Mode::cached;  // the first compile has measured
    compile_with.stop = stop;
    find_other_paths(paths(graph, context, compile_with), study, stop);
    if (study.least_by_sums) study.decided_by = decision_in(study.run_bucket());
    return study;
}

}  // namespace cairn::cli
