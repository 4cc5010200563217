#include "cairn/cairn.hpp"
#include "runtime/compiled_graph.hpp"
#include "tests/errors/message.hpp"
#include "tests/rewrite/alternatives/random_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <sstream>
#include <thread>

namespace cairn::test {
namespace {

/// Expected time of one run of each bucket according to compile().
double seconds_of(const CompiledGraph& compiled) {
    double seconds = 0;
    for (const runtime::BucketProgram& bucket : runtime::parse_program_set(compiled.program()).buckets)
        for (const program::Instruction& instruction : bucket.program.run) seconds += instruction.seconds;
    return seconds;
}

TEST(Paths, TheCheapestIsSelectedByCompile) {
    const Context context;
    int same = 0, exact = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const Graph graph = random_model(seed);
        const CompiledGraph chosen = compile(graph, context);
        const Paths all_paths = paths(graph, context);
        if (!all_paths.is_exact()) continue;  // the cheapest one may have been dropped
        ++exact;
        const Path cheapest = all_paths.cheapest();
        const CompiledGraph made = cheapest.compile();
        EXPECT_NEAR(seconds_of(made), seconds_of(chosen), 1e-9 * seconds_of(chosen)) << seed;
        EXPECT_NEAR(cheapest.seconds(), seconds_of(chosen), 1e-9 * seconds_of(chosen)) << seed;
        same += made.program() == chosen.program() && made.explain() == chosen.explain();
    }
    EXPECT_GT(exact, 30);
    EXPECT_GT(4 * same, 3 * exact) << "others cost the same";
}

/// relu(x w + b) and its sum over rows, for N rows.
Graph small_graph() {
    Graph g("small");
    const Tensor x = g.input("x", DType::f32, {g.symbol("N", 1, 64), 3});
    const Tensor y = relu(matmul(x, g.weight("w", DType::f32, {3, 2})) + g.weight("b", DType::f32, {2}));
    g.output("y", y);
    g.output("sum", sum(y, {0}));
    return g;
}

/// Only the reference kernels: few paths.
Context plain_context() { return Context({.reference_only = true}); }

std::vector<double> costs_of(PathRange all_paths) {
    std::vector<double> costs;
    for (const Path& path : all_paths) costs.push_back(path.cost());
    return costs;
}

TEST(Paths, EachHasANumberAndARank) {
    const Paths all_paths = paths(small_graph(), plain_context());
    const int count = std::stoi(all_paths.count());
    ASSERT_GT(count, 1);
    ASSERT_LT(count, 10000);
    EXPECT_DOUBLE_EQ(all_paths.log10_count(), std::log10(count));
    EXPECT_TRUE(all_paths.is_exact());
    EXPECT_EQ(all_paths.not_searched(), "");
    std::vector<double> costs;
    std::set<std::vector<int>> found;
    for (int i = 0; i < count; ++i) {
        const Path path = all_paths.at(std::to_string(i));
        ASSERT_EQ(all_paths.rank(path), std::to_string(i));
        costs.push_back(path.cost());
        found.insert(path.choices());
    }
    EXPECT_EQ(found.size(), static_cast<std::size_t>(count)) << "no path has two numbers";
    std::sort(costs.begin(), costs.end());
    EXPECT_EQ(costs_of(all_paths.cheapest_first()), costs);
    std::reverse(costs.begin(), costs.end());
    EXPECT_EQ(costs_of(all_paths.most_expensive_first()), costs);
    EXPECT_EQ(all_paths.cheapest().cost(), costs.back());
}

// Paths whose costs differ only in the last digits are in the order of cost().
TEST(Paths, CostsAreExactlyOrdered) {
    const Context context;
    int same = 0, several = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const Paths all_paths = paths(random_model(seed), context);
        double last = 0;
        int count = 0;
        for (const Path& current : all_paths.cheapest_first()) {
            if (++count > 1000) break;
            const double cost = current.cost();
            ASSERT_GE(cost, last) << seed << ", path " << count;
            same += cost == last;
            last = cost;
        }
        several += count > 100;
        last = std::numeric_limits<double>::infinity();
        for (const Path& current : all_paths.most_expensive_first()) {
            if (--count < 0) break;
            ASSERT_LE(current.cost(), last) << seed;
            last = current.cost();
        }
    }
    EXPECT_GT(several, 20);
    EXPECT_GT(same, 0) << "some cost the same";
}

TEST(Paths, UseAllKernels) {
    const Paths all_paths = paths(small_graph(), Context());
    std::set<std::string> in_paths, in_programs;
    for (std::uint64_t seed = 0; seed < 200; ++seed)
        for (const PathStep& step : all_paths.sample(seed).steps()) in_paths.insert(step.kernel);
    EXPECT_TRUE(in_paths.contains("cpu.reference.matmul@1")) << "not on any cheapest path";
    EXPECT_GT(in_paths.size(), 10U);
}

TEST(Paths, ASampleIsDeterminedByItsSeed) {
    const Paths all_paths = paths(small_graph(), plain_context());
    std::mt19937_64 random(7), again(7);
    EXPECT_EQ(all_paths.sample(random), all_paths.sample(7));
    std::set<std::string> drawn;
    for (int i = 0; i < 100; ++i) {
        random = again;
        const Path path = all_paths.sample(again);
        ASSERT_EQ(path, all_paths.sample(random));
        ASSERT_EQ(random, again) << "the caller's own generator goes on";
        drawn.insert(all_paths.rank(path));
    }
    EXPECT_GT(drawn.size(), 1U);
}

TEST(Paths, TheTimeOfAPathIsTheSumOfItsSteps) {
    const Paths all_paths = paths(small_graph(), Context(), {.splits = {{"N", {1, 8}, {100, 10, 1}}}});
    const std::map<std::string, double> weights = {{"N-1-1", 100}, {"N-2-8", 10}, {"N-9-64", 1}};
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const Path path = all_paths.sample(seed);
        double seconds = 0, once = 0;
        std::set<std::string> buckets;
        for (const PathStep& step : path.steps()) {
            (step.at_bind ? once : seconds) += step.seconds * (step.at_bind ? 1 : weights.at(step.bucket));
            buckets.insert(step.bucket);
            EXPECT_FALSE(step.measured);
            EXPECT_TRUE(step.where.starts_with("paths_test.cpp:")) << step.where;
        }
        EXPECT_EQ(buckets.size(), 3U);
        EXPECT_NEAR(path.seconds(), seconds, 1e-12 * seconds);
        EXPECT_GE(path.kept_bytes(), 24 + 8) << "the weights, in one form or more";
        EXPECT_NEAR(path.cost(), seconds + 1e-3 * once + 1e-9 * (path.kept_bytes() - 8), 1e-9 * path.cost())
            << "the bias has one form, and no price";
    }
}

TEST(Paths, EachBucketHasAProgramInAPath) {
    const Context context;
    const Paths all_paths = paths(small_graph(), context, {.splits = {{"N", {1, 8}}}});
    const std::vector<float> x = {1, 2, 3, 4, 5, 6}, w = {1, -1, 2, 0, 0, 3}, b = {1, 0};
    for (const Path& path : {all_paths.cheapest(), all_paths.sample(1), *all_paths.most_expensive_first().begin()}) {
        CompiledGraph compiled = path.compile();
        EXPECT_EQ(runtime::parse_program_set(compiled.program()).buckets.size(), 3U);
        compiled.bind([&](std::string_view name) {
            return name == "w" ? InputView{w.data(), DType::f32, {3, 2}} : InputView{b.data(), DType::f32, {2}};
        });
        compiled.set("x", x, {2, 3});
        compiled.run();
        EXPECT_EQ(std::vector<float>(compiled.output("y").as<float>().begin(), compiled.output("y").as<float>().end()),
                  (std::vector<float>{6, 8, 15, 14}));
        compiled.set("x", std::span(x).first(3), {1, 3});
        compiled.run();
        EXPECT_EQ(compiled.output("sum").as<float>()[1], 8);
    }
}

TEST(Paths, AGraphWithoutOpsHasOnePath) {
    Graph g;
    g.output("y", g.input("x", DType::f32, {2}));
    const Paths all_paths = paths(g, Context());
    EXPECT_EQ(all_paths.count(), "1");
    EXPECT_EQ(all_paths.log10_count(), 0);
    EXPECT_EQ(costs_of(all_paths.cheapest_first()), std::vector<double>{0});
    const Path path = all_paths.at("0");
    EXPECT_EQ(path, all_paths.sample(3));
    EXPECT_TRUE(path.steps().empty());
    CompiledGraph compiled = path.compile();
    compiled.set("x", {3.0f, 4.0f});
    compiled.run();
    EXPECT_EQ(compiled.output("y").as<float>()[1], 4);
}

TEST(Paths, WithoutASearchThereIsTheOneOfCompile) {
    const CompileOptions options{.disable = {"search"}};
    const Context context;
    const Paths all_paths = paths(small_graph(), context, options);
    EXPECT_EQ(all_paths.count(), "1");
    EXPECT_EQ(all_paths.cheapest().compile().program(), compile(small_graph(), context, options).program());
}

TEST(Paths, OutliveTheirGraphAndContext) {
    std::optional<Path> path;
    std::string before;
    {
        Graph graph = small_graph();
        Paths all_paths = paths(graph, Context());
        path = all_paths.sample(5);
        before = path->compile().program();
        graph.output("later", exp(graph.input("z", DType::f32, {2})));
    }
    EXPECT_EQ(path->compile().program(), before);
}

TEST(Paths, CanBeUsedFromSeveralThreads) {
    const Paths all_paths = paths(small_graph(), Context());
    std::vector<std::string> texts(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < texts.size(); ++t)
        threads.emplace_back([&, t] {
            for (std::uint64_t seed = 0; seed < 8; ++seed) {
                const Path path = all_paths.sample(seed);
                texts[t] += to_string(path) + path.compile().program() + all_paths.rank(path);
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), 1U);
}

TEST(Paths, PrintOneLinePerStep) {
    Graph g("one");
    const Tensor x = g.input("x", DType::f32, {2}), y = exp(x);
    const std::string line = std::to_string(__LINE__ - 1);
    g.output("y", y);
    std::ostringstream out;
    out << paths(g, plain_context(), {.disable = {"elementwise"}}).cheapest();
    const std::string text = out.str();
    EXPECT_EQ(text.substr(text.find(" s in runs")).substr(0, 26), " s in runs, 0 bytes kept\n ");
    EXPECT_NE(text.find("\n  cpu.reference.exp@1 "), std::string::npos) << text;
    EXPECT_NE(text.find(" s estimated | exp | f32[2] -> f32[2] (paths_test.cpp:" + line + ")\n"), std::string::npos)
        << text;
}

TEST(Paths, AStopRequestCancels) {
    std::stop_source source;
    CompileOptions options;
    options.stop = source.get_token();
    std::vector<std::string> phases;
    options.progress = [&](const Progress& progress) { phases.emplace_back(progress.phase); };
    const Path path = paths(small_graph(), Context(), options).cheapest();
    EXPECT_EQ(phases, (std::vector<std::string>{"graph", "simplify", "expand", "fuse", "select"}));
    path.compile();
    EXPECT_EQ(phases.back(), "plan");
    source.request_stop();
    EXPECT_THROW(path.compile(), Cancelled);
    EXPECT_THROW(paths(small_graph(), Context(), options), Cancelled);
    std::stop_source late;
    options.stop = late.get_token();
    options.progress = [&](const Progress& progress) {
        if (progress.phase == "select") late.request_stop();
    };
    EXPECT_THROW(paths(small_graph(), Context(), options), Cancelled);
}

TEST(Paths, CanBeQueriedByProgressDuringTheirCompilation) {
    std::optional<Path> path;
    std::size_t step_count = 0;
    CompileOptions options;
    options.progress = [&](const Progress&) {
        if (path) step_count += path->steps().size();
    };
    path = paths(small_graph(), Context(), options).cheapest();
    path->compile();
    EXPECT_EQ(step_count, 2 * path->steps().size());
}

TEST(Paths, InvalidRanksAreRefused) {
    const Paths all_paths = paths(small_graph(), plain_context());
    const std::string end = " is no number of a path: there are " + all_paths.count() + ", from 0 on";
    for (const std::string& rank : {std::string(), std::string("-1"), std::string("one"), all_paths.count()})
        EXPECT_EQ(message([&] { all_paths.at(rank); }), "[paths] \"" + rank + "\"" + end);
    const Path other = paths(small_graph(), plain_context()).cheapest();
    EXPECT_NE(other, all_paths.cheapest());
    EXPECT_EQ(message([&] { all_paths.rank(other); }), "[paths] the path is one of other Paths");
    EXPECT_EQ(message([] { paths(Graph("empty"), Context()); }), "[compile] graph \"empty\" has no output");
    EXPECT_EQ(message([] { paths(small_graph(), Context(), {.disable = {"magic"}}); }),
              "[compile] there is no stage called \"magic\"");
    EXPECT_THROW(paths(small_graph(), plain_context(), {.memory_limit = 1}).cheapest().compile(), Error);
    PathRange range = all_paths.cheapest_first();
    PathRange::Iterator iterator = range.begin();
    while (iterator != range.end()) ++iterator;
    EXPECT_EQ(message([&] { ++iterator; }), "[paths] the iterator is at the end");
    EXPECT_EQ(message([&] { *iterator; }), "[paths] the iterator is at the end");
    EXPECT_EQ(message([] { *PathRange::Iterator(); }), "[paths] the iterator is at the end");
    EXPECT_EQ(range.begin(), range.end()) << "a range is gone through once";
}

TEST(Paths, MovedFromObjectsAreRefused) {
    Paths all_paths = paths(small_graph(), plain_context());
    Path path = all_paths.cheapest();
    PathRange range = all_paths.cheapest_first();
    const Paths moved_paths = std::move(all_paths);
    const Path path_now = std::move(path);
    PathRange range_now = std::move(range);
    EXPECT_EQ(*range_now.begin(), path_now);
    // NOLINTBEGIN(bugprone-use-after-move)
    for (const auto& use : std::vector<std::function<void()>>{
             [&] { all_paths.count(); }, [&] { all_paths.log10_count(); }, [&] { all_paths.is_exact(); },
             [&] { all_paths.not_searched(); }, [&] { all_paths.cheapest(); }, [&] { all_paths.cheapest_first(); },
             [&] { all_paths.most_expensive_first(); }, [&] { all_paths.at("0"); }, [&] { all_paths.rank(path_now); },
             [&] { all_paths.sample(1); }})
        EXPECT_EQ(message(use), "[paths] the handle is moved-from");
    for (const auto& use : std::vector<std::function<void()>>{
             [&] { path.cost(); }, [&] { path.seconds(); }, [&] { path.kept_bytes(); }, [&] { path.steps(); },
             [&] { path.compile(); }, [&] { to_string(path); }, [&] { moved_paths.rank(path); }})
        EXPECT_EQ(message(use), "[paths] the path is moved-from");
    EXPECT_EQ(message([&] { range.begin(); }), "[paths] the range is moved-from");
    // NOLINTEND(bugprone-use-after-move)
}

TEST(Paths, APathWhoseKernelCannotPrepareIsAnError) {
    Kernel kernel;
    kernel.id = "own.exp@1";
    kernel.definition = "exp";
    kernel.accepts = [](const Problem&) -> Refusal { return {}; };
    kernel.run = [](const Args&, Team&) {};
    kernel.cost = [](const Problem&) { return Cost{1, 1, 1}; };
    kernel.prepare = [](const Problem&, int) -> std::shared_ptr<const void> { throw std::runtime_error("no licence"); };
    Graph g;
    g.output("y", exp(g.input("x", DType::f32, {4})));
    const Paths all_paths = paths(g, Context({.extra = {{}, {}, {kernel}}}), {.disable = {"elementwise"}});
    int refused = 0, made = 0;
    for (const Path& path : all_paths.cheapest_first()) {
        if (path.steps()[0].kernel != kernel.id) {
            path.compile();
            ++made;
            continue;
        }
        EXPECT_EQ(message([&] { path.compile(); }),
                  "[paths] own.exp@1 cannot prepare exp | f32[4] -> f32[4]: its prepare failed: no licence");
        ++refused;
    }
    EXPECT_EQ(refused, 1);
    EXPECT_GT(made, 0);
}

TEST(Paths, UseMeasuredTimesIfTheModeReadsThem) {
    const Context context;
    CompileOptions options;
    options.mode = Mode::normal;
    options.tune_seconds = 20;
    const auto is_measured = [](const PathStep& step) { return step.measured; };
    const std::vector<PathStep> tuned = paths(small_graph(), context, options).cheapest().steps();
    EXPECT_TRUE(std::all_of(tuned.begin(), tuned.end(), is_measured)) << "those of the best paths";
    options.mode = Mode::cached;
    EXPECT_EQ(paths(small_graph(), context, options).cheapest().steps(), tuned);
    EXPECT_FALSE(is_measured(paths(small_graph(), context).cheapest().steps()[0]));
}

}  // namespace
}  // namespace cairn::test
