#include "cairn/cairn.hpp"
#include "device/context_parts.hpp"
#include "tests/tune/fake_bench.hpp"
#include "tune/profile.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace cairn::tune {
namespace {

using test::FakeBench, test::FakeTuning;

Graph layers() {
    Graph g("layers");
    const Dim n = g.symbol("N", 1, 64);
    Tensor x = g.input("x", DType::f32, {n, 64});
    for (int layer = 0; layer < 2; ++layer) {
        const std::string name = std::to_string(layer);
        const Tensor wide =
            gelu(linear(layer_norm(x, g.weight("g" + name, DType::f32, {64}), g.weight("b" + name, DType::f32, {64})),
                        g.weight("w" + name, DType::f32, {64, 96}), g.weight("v" + name, DType::f32, {96})));
        x = x + linear(wide, g.weight("u" + name, DType::f32, {96, 64}));
    }
    g.output("y", softmax(x));
    return g;
}

struct Tuned {
    Profiled profiled;
    double untuned = 0, tuned = 0, best = 0, spent = 0;  // seconds of runs, and of the tune
    double stored = 0;                                   // of runs, as the tuned program counts them
    std::size_t rows = 0;
};

Tuned tuned(const Graph& graph, std::uint64_t seed, double seconds) {
    const Context context;
    FakeTuning tuning(graph, context, {{"N", {1}}});
    FakeBench bench(tuning.costs, seed);
    Tuned result;
    result.untuned = tuning.seconds(tuning.untuned(), bench);
    result.profiled = profile(tuning.selected, context, tuning.costs, tuning.options, {seconds, {}, {}}, bench.bench());
    const select::Selections chosen = tuning.choose();
    result.tuned = tuning.seconds(chosen, bench);
    for (std::size_t b = 0; b < tuning.selected.size(); ++b)
        result.stored += tuning.selected[b].weight * chosen.buckets[b].seconds;
    result.best = tuning.seconds(tuning.best(bench), bench);
    result.spent = bench.now();
    result.rows = context.parts()->timings->size();
    return result;
}

TEST(Cut, ATuneThatIsCutAnywhereIsNeverWorseThanNone) {
    const Graph graph = layers();
    int gained = 0, cuts = 0;
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        const Tuned whole = tuned(graph, seed, 1e6);
        EXPECT_TRUE(whole.profiled.complete);
        EXPECT_LE(whole.tuned, whole.untuned);
        EXPECT_LE(whole.tuned, whole.best * 1.03) << "but for what is too close to tell";
        EXPECT_NEAR(whole.stored, whole.tuned, 1e-6 * whole.tuned) << "all of it was measured";
        for (int part = 0; part < 10; ++part, ++cuts) {
            const Tuned cut = tuned(graph, seed, whole.spent * part / 10);
            EXPECT_LE(cut.tuned, cut.untuned * (1 + 1e-9)) << "seed " << seed << ", cut at " << part << " of 10";
            EXPECT_GE(cut.tuned, whole.best * (1 - 1e-9));
            EXPECT_LE(cut.spent, whole.spent * part / 10 + 1.1);
            EXPECT_EQ(cut.profiled.complete, false);
            gained += cut.tuned < cut.untuned;
        }
        std::printf("seed %d: untuned %.3g s, tuned %.3g s by %zu times in %d measurements\n", static_cast<int>(seed),
                    whole.untuned, whole.tuned, whole.rows, whole.profiled.measured);
    }
    EXPECT_GE(gained, cuts / 2) << "what was measured is used";
}

TEST(Hanging, AKernelThatDoesNotReturnIsToldOfAndCountsAsFailed) {
    std::mutex mutex;
    std::string said;
    ContextOptions options;
    options.log = [&](LogLevel, std::string_view line) {
        const std::scoped_lock lock(mutex);
        said += line;
    };
    Kernel sleepy;
    sleepy.id = "my.exp@1";
    sleepy.definition = "exp";
    sleepy.accepts = [](const Problem&) -> Refusal { return {}; };
    sleepy.cost = [](const Problem&) { return Cost{0, 1, 1}; };
    sleepy.run = [](const Args&, Team&) { std::this_thread::sleep_for(std::chrono::milliseconds(300)); };
    options.extra.kernels = {sleepy};
    const Context context(options);
    Graph g("exp");
    g.output("y", exp(g.input("x", DType::f32, {4})));
    FakeTuning tuning(g, context, {});
    const Bench bench = bench_of(context);
    Budget budget{100, {}, {}, 0.05};
    std::optional<TimingStatus> meanwhile;
    const Bench looking{[&](std::span<const timing::Contestant> contestants, const timing::ContestOptions& given) {
                            auto result = bench.contest(contestants, given);
                            for (const timing::Contestant& each : contestants)
                                if (each.kernel->id == sleepy.id)
                                    if (const auto row = context.parts()->timings->find(
                                            *each.problem, sleepy.id, tuning.costs.environment, tuning.costs.policy))
                                        meanwhile = row->status;
                            return result;
                        },
                        bench.now};
    profile(tuning.selected, context, tuning.costs, tuning.options, budget, looking);
    const std::scoped_lock lock(mutex);
    EXPECT_NE(said.find("tune: my.exp@1 did not return within 0.05 s on exp | f32[4] -> f32[4]"), std::string::npos)
        << said;
    EXPECT_EQ(meanwhile, TimingStatus::failed) << "were the process ended now, the next would know";
}

}  // namespace
}  // namespace cairn::tune
