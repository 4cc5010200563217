#include "pipeline/tuning_curve.hpp"

#include "device/context_parts.hpp"
#include "tune/curve.hpp"
#include "tune/standing.hpp"

#include <optional>
#include <string>
#include <utility>

namespace cairn::inline v0 {

std::vector<TuningPoint> tuning_of(const Stages& stages, const std::vector<PreparedBucket>& buckets,
                                   const select::Selections& covers, const Context& context,
                                   const select::Options& select_options, double seconds) {
    const select::CostSource& costs = stages.costs();
    if (costs.timings == nullptr || !select_options.search) return {};
    const TimingEnvironment& environment = select::environment_of_programs(costs);
    const std::vector<select::Bucket> seen = selectable(buckets);
    const std::string question = "tuning of " + to_string(tune::name_of(seen, covers, select_options));
    std::vector<TuningPoint> points = stages.curve();
    if (points.empty() || points.back().measured == 0) {
        const std::optional<Choice> known = costs.timings->find_choice(question, environment, costs.policy);
        return known ? tune::parse_points(known->answer) : std::vector<TuningPoint>();
    }
    const double expected = select::seconds_of(seen, covers);
    points.push_back({seconds, expected, points.back().measured});
    Choice choice;
    choice.answer = tune::to_string(points);
    choice.ratio = choice.low = choice.high = expected / points.front().expected;
    choice.samples = static_cast<int>(points.back().measured);
    context.parts()->timings->record_choice(question, environment, costs.policy, choice);
    return points;
}

}  // namespace cairn::inline v0
