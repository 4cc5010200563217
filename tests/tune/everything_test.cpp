#include "tune/everything.hpp"

#include "device/context_parts.hpp"
#include "tests/timing/took.hpp"
#include "tests/tune/fake_bench.hpp"
#include "tests/tune/small_layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace cairn::tune {
namespace {

class Everything : public testing::Test {
protected:
    Everything() {
        for (const select::Bucket& bucket : tuning.selected) bucket.candidates.set_costs(tuning.costs);
    }
    const Graph graph = test::small_layers();
    const Context context;
    test::FakeTuning tuning{graph, context, {{"N", {1}}}};
};

TEST_F(Everything, HasEachCallOnceAndPackingsToo) {
    std::set<std::string> names;
    bool packs = false;
    for (const Rivals& rivals : all_rivals(tuning.selected, tuning.costs, {}))
        for (const Call& call : rivals.calls) {
            EXPECT_TRUE(names.insert(select::name_of_call(*call.kernel, call.problem)).second);
            EXPECT_TRUE(call.time) << "nothing is measured";
            for (const TensorDesc& output : call.problem.outputs) packs = packs || !output.layout.empty();
        }
    EXPECT_TRUE(packs);
    const std::set<std::string> of_plan = calls_of(tuning.selected, tuning.untuned());
    for (const std::string& name : of_plan) EXPECT_TRUE(names.contains(name)) << name;
    EXPECT_GT(names.size(), 2 * of_plan.size());
}

TEST_F(Everything, WhatIsUnknownRunsWhetherItCanWinOrNot) {
    std::vector<Rivals> all = all_rivals(tuning.selected, tuning.costs, {});
    const auto most = std::max_element(
        all.begin(), all.end(), [](const Rivals& a, const Rivals& b) { return a.calls.size() < b.calls.size(); });
    const Call& known = most->calls.back();
    context.parts()->timings->record(known.problem, known.kernel->id, tuning.costs.environment, tuning.costs.policy,
                                     test::took(1e-12));
    const Field field = whole_field_of(*most, tuning.costs);
    EXPECT_EQ(field.to_beat, 1e-12);
    ASSERT_EQ(field.contestants.size(), most->calls.size() - 1);
    double last = 0;
    for (const timing::Contestant& contestant : field.contestants) {
        EXPECT_EQ(contestant.at_least, 0);
        const double expected = select::estimate(*contestant.kernel, *contestant.problem, tuning.costs).seconds;
        EXPECT_GE(expected, last);
        last = expected;
    }
    std::stop_source source;
    source.request_stop();
    EXPECT_THROW(all_rivals(tuning.selected, tuning.costs, source.get_token()), Cancelled);
}

}  // namespace
}  // namespace cairn::tune
