#include "autotune/policy/task_priority.hpp"

#include "device/context_impl.hpp"
#include "tests/autotune/database/took.hpp"
#include "tests/autotune/policy/fake_measurer.hpp"
#include "tests/autotune/policy/small_layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace cairn::autotune {
namespace {

TEST(TaskPriority, OrdersCallsByCostAndPossibleGain) {
    const Graph graph = test::small_layers();
    const Context context;
    test::FakeTuning tuning(graph, context, {{"N", {1}}});
    const selection::Selections plan = tuning.untuned();
    std::vector<TuningTask> all =
        unmeasured_tasks(tuning.selected, plan, tuning.costs, context.kernels().definitions, {});
    // All alternatives of one call are known to be slow.
    const auto slow_task = std::max_element(all.begin(), all.end(), [](const TuningTask& a, const TuningTask& b) {
        return a.potential_gain < b.potential_gain;
    });
    for (std::size_t c = 1; c < slow_task->calls.size(); ++c)
        context.impl()->timings->record(slow_task->calls[c].problem, slow_task->calls[c].kernel->id,
                                        tuning.costs.environment, tuning.costs.policy, test::took(1));
    const std::size_t total = all.size();
    const std::vector<TuningTask> before = all;
    const std::size_t first = uncertain_costly_first(all, tuning.selected, plan, tuning.costs);
    ASSERT_EQ(all.size(), total);
    EXPECT_GT(first, 0U);
    EXPECT_LT(first, total);
    std::vector<double> sums(tuning.selected.size());  // nothing is known: all calls are there
    for (const TuningTask& each : all)
        sums[each.bucket] +=
            each.runs * selection::estimate(*each.calls[0].kernel, each.calls[0].problem, tuning.costs).seconds;
    int costly = 0, beatable = 0;
    for (std::size_t i = 0; i < total; ++i) {
        const selection::Estimate chosen =
            selection::estimate(*all[i].calls[0].kernel, all[i].calls[0].problem, tuning.costs);
        bool is_beatable = false;
        for (std::size_t c = 1; c < all[i].calls.size(); ++c)
            is_beatable =
                is_beatable ||
                selection::estimate(*all[i].calls[c].kernel, all[i].calls[c].problem, tuning.costs).low < chosen.high;
        const bool is_costly = all[i].runs * chosen.seconds >= 0.01 * sums[all[i].bucket] * (1 - 1e-12);
        costly += is_costly;
        beatable += is_costly && is_beatable;
        EXPECT_EQ(is_beatable && is_costly, i < first) << to_string(all[i].calls[0].problem);
    }
    EXPECT_LT(beatable, costly) << "the one that was measured";
    // The order is preserved in both parts.
    std::size_t at = 0;
    for (const std::size_t end : {first, total}) {
        std::size_t from = 0;
        for (; at < end; ++at) {
            while (from < total && !(before[from].calls[0].problem == all[at].calls[0].problem &&
                                     before[from].calls[0].kernel == all[at].calls[0].kernel))
                ++from;
            ASSERT_LT(from, total);
        }
    }
}

}  // namespace
}  // namespace cairn::autotune
