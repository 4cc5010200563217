#include "cairn/compile.hpp"
#include "cairn/models/gpt2.hpp"
#include "cairn/paths.hpp"
#include "cairn/timing_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace cairn::models {
namespace {

namespace fs = std::filesystem;

/// The shipped timings of this build.
fs::path shipped() { return fs::path(CAIRN_BINARY_DIR) / "share/cairn/shipped_timings.db"; }

/// A Context that no shipped timings cover: its kernels have a build name of their own. The machines of the timings
/// have no tile registers.
Context fresh_machine() {
    ContextOptions options;
    options.tile_registers = false;
    options.shipped_timings = {shipped()};
    options.extra.build = "a build of a test's own";
    return Context(options);
}

TEST(ShippedTimings, AreCompleteAndSmall) {
    const TimingFile seed(shipped(), TimingFile::Use::read);
    const TimingFileInfo info = seed.info();
    EXPECT_TRUE(seed.check().empty());
    EXPECT_GT(info.times, 1000);
    EXPECT_GE(info.environments.size(), 2U) << "threads, or levels of instructions";
    EXPECT_LE(info.bytes, 4U << 20);
    EXPECT_EQ(info.choices, 0);
    EXPECT_EQ(info.rules, 0);
    std::ifstream text(CAIRN_SOURCE_DIR "/shipped_timings/reference.jsonl");
    std::size_t times = 0;
    for (std::string line; std::getline(text, line);) times += line.starts_with("{\"row\":\"time\"");
    EXPECT_EQ(info.times + info.calibrations, static_cast<std::int64_t>(times)) << "all of the text is in it";
}

TEST(ShippedTimings, SelectLargeProductsOfGpt2AtTheFirstStart) {
    using Clock = std::chrono::steady_clock;
    const Context context = fresh_machine();
    CompileOptions options;
    options.splits = {{"T", {1, 12}}};
    const Gpt2Config config;
    const Graph graph = gpt2_graph(config, gpt2_weights(config));
    std::size_t products = 0, expected = 0, all = 0, all_expected = 0;
    double seconds[2] = {};
    for (const bool with : {false, true}) {
        options.mode = with ? Mode::cached : Mode::off;
        const auto begin = Clock::now();
        const CompiledGraph compiled = compile(graph, context, options);
        seconds[with] = std::chrono::duration<double>(Clock::now() - begin).count();
        for (const ExplainedBucket& bucket : compiled.explain().buckets)
            for (const ExplainedInstruction& each : bucket.instructions) {
                EXPECT_FALSE(each.chosen.measured) << "by another machine";
                const bool is_expected = !each.chosen.expected_from.empty();
                EXPECT_TRUE(with || !is_expected);
                if (!with || each.at_bind) continue;
                ++all;
                all_expected += is_expected;
                const bool is_large = each.chosen.problem.find("3072") != std::string::npos ||
                                      each.chosen.problem.find("50257") != std::string::npos;
                if (!each.chosen.problem.starts_with("fused") && !each.chosen.problem.starts_with("matmul")) continue;
                if (!is_large) continue;
                ++products;
                expected += is_expected;
                EXPECT_TRUE(is_expected) << each.chosen.kernel << ' ' << each.chosen.problem;
            }
    }
    std::printf(
        "of %zu large products %zu are expected from shipped timings, of %zu instructions %zu; compiled in %.3g s, "
        "without "
        "a database in %.3g s\n",
        products, expected, all, all_expected, seconds[1], seconds[0]);
    EXPECT_GE(products, 3U * 3) << "in each of the buckets";
    EXPECT_GE(2 * all_expected, all);

    const Path cheapest = paths(graph, context, options).cheapest();
    std::size_t by_seed = 0;
    for (const PathStep& step : cheapest.steps()) by_seed += !step.expected_from.empty();
    EXPECT_GE(2 * by_seed, cheapest.steps().size());
    EXPECT_NE(to_string(cheapest).find(" s expected from "), std::string::npos);
}

}  // namespace
}  // namespace cairn::models
