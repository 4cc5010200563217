#include "autotune/policy/exhaustive_tasks.hpp"

#include "device/context_impl.hpp"
#include "tests/autotune/database/took.hpp"
#include "tests/autotune/policy/fake_measurer.hpp"
#include "tests/autotune/policy/small_layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace cairn::autotune {
namespace {

class ExhaustiveTasksTest : public testing::Test {
protected:
    ExhaustiveTasksTest() {
        for (const selection::Bucket& bucket : tuning.selected) bucket.candidates.set_costs(tuning.costs);
    }
    const Graph graph = test::small_layers();
    const Context context;
    test::FakeTuning tuning{graph, context, {{"N", {1}}}};
};

TEST_F(ExhaustiveTasksTest, ContainsEachCallAndPackingOnce) {
    std::set<std::string> names;
    bool packs = false;
    for (const TuningTask& task : exhaustive_tasks(tuning.selected, tuning.costs, {}))
        for (const CandidateCall& call : task.calls) {
            EXPECT_TRUE(names.insert(selection::call_key(*call.kernel, call.problem)).second);
            EXPECT_TRUE(call.time) << "nothing is measured";
            for (const TensorDesc& output : call.problem.outputs) packs = packs || !output.layout.empty();
        }
    EXPECT_TRUE(packs);
    const std::set<std::string> of_plan = calls_of(tuning.selected, tuning.untuned());
    for (const std::string& name : of_plan) EXPECT_TRUE(names.contains(name)) << name;
    EXPECT_GT(names.size(), 2 * of_plan.size());
}

TEST_F(ExhaustiveTasksTest, MeasuresAllUnknownCalls) {
    std::vector<TuningTask> all = exhaustive_tasks(tuning.selected, tuning.costs, {});
    const auto most = std::max_element(all.begin(), all.end(), [](const TuningTask& a, const TuningTask& b) {
        return a.calls.size() < b.calls.size();
    });
    const CandidateCall& known = most->calls.back();
    context.impl()->timings->record(known.problem, known.kernel->id, tuning.costs.environment, tuning.costs.policy,
                                    test::took(1e-12));
    const CandidateSet candidate_set = all_candidates_of(*most, tuning.costs);
    EXPECT_EQ(candidate_set.incumbent_seconds, 1e-12);
    ASSERT_EQ(candidate_set.candidates.size(), most->calls.size() - 1);
    double last = 0;
    for (const autotune::BenchmarkCandidate& candidate : candidate_set.candidates) {
        EXPECT_EQ(candidate.lower_bound, 0);
        const double expected = selection::estimate(*candidate.kernel, *candidate.problem, tuning.costs).seconds;
        EXPECT_GE(expected, last);
        last = expected;
    }
    std::stop_source source;
    source.request_stop();
    EXPECT_THROW(exhaustive_tasks(tuning.selected, tuning.costs, source.get_token()), Cancelled);
}

}  // namespace
}  // namespace cairn::autotune
