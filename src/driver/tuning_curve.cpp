#include "driver/tuning_curve.hpp"

#include "autotune/policy/trial_record.hpp"
#include "autotune/policy/tuning_progress.hpp"
#include "device/context_impl.hpp"

#include <optional>
#include <string>
#include <utility>

namespace cairn::driver {

std::vector<TuningPoint> tuning_of(const Stages& stages, const std::vector<PreparedBucket>& buckets,
                                   const selection::Selections& covers, const Context& context,
                                   const selection::Options& select_options, double seconds) {
    const selection::CostModel& costs = stages.costs();
    if (costs.timings == nullptr || !select_options.search) return {};
    const TimingEnvironment& environment = selection::environment_of_programs(costs);
    const std::vector<selection::Bucket> seen = selection_buckets(buckets);
    const std::string question = "tuning of " + to_string(autotune::name_of(seen, covers, select_options));
    std::vector<TuningPoint> points = stages.curve();
    if (points.empty() || points.back().measured == 0) {
        const std::optional<Choice> known = costs.timings->find_choice(question, environment, costs.policy);
        return known ? autotune::parse_points(known->answer) : std::vector<TuningPoint>();
    }
    const double expected = selection::seconds_of(seen, covers);
    points.push_back({seconds, expected, points.back().measured});
    Choice choice;
    choice.answer = autotune::to_string(points);
    choice.ratio = choice.low = choice.high = expected / points.front().expected;
    choice.samples = static_cast<int>(points.back().measured);
    context.impl()->timings->record_choice(question, environment, costs.policy, choice);
    return points;
}

}  // namespace cairn::driver
