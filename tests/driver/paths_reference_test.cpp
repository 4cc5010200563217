#include "cairn/paths.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/graph/ir/reference_results.hpp"
#include "tests/rewrite/alternatives/random_model.hpp"

#include <gtest/gtest.h>

#include <random>

// Every path that the search may choose gives a program that computes the graph.
namespace cairn::test {
namespace {

/// Inputs of a graph and the expected results.
struct Trial {
    interpreter::Inputs inputs;
    ReferenceResults expected;
};

std::vector<Trial> trials_of(const Graph& graph, std::uint64_t seed) {
    std::vector<Trial> trials;
    for (const auto& sizes : random_sizes(*graph.data(), 3, seed)) {
        Trial trial{random_inputs(*graph.data(), sizes, seed + 17), {}};
        try {
            trial.expected = reference_results(*graph.data(), trial.inputs);
        } catch (const Error&) { continue; }
        trials.push_back(std::move(trial));
    }
    return trials;
}

constexpr int sampled = 16, best = 4, worst = 4;

/// Random paths, the cheapest and the most expensive ones.
std::vector<Path> some_of(const Paths& all_paths, std::uint64_t seed) {
    std::vector<Path> chosen;
    std::mt19937_64 random(seed);
    for (int i = 0; i < sampled; ++i) chosen.push_back(all_paths.sample(random));
    for (const Path& path : all_paths.cheapest_first() | std::views::take(best)) chosen.push_back(path);
    for (const Path& path : all_paths.most_expensive_first() | std::views::take(worst)) chosen.push_back(path);
    return chosen;
}

/// Nothing if a kernel cannot prepare.
std::optional<runtime::ProgramSet> program_of(const Path& path) {
    try {
        return runtime::parse_program_set(path.compile().program());
    } catch (const Error& error) {
        EXPECT_NE(std::string_view(error.what()).find(" cannot prepare "), std::string_view::npos) << error.what();
        return std::nullopt;
    }
}

/// Checks some paths and returns the number of paths run.
int check(const Graph& graph, const Paths& all_paths, const Context& context, std::uint64_t seed) {
    EXPECT_EQ(all_paths.is_exact(), all_paths.not_searched().empty());
    const std::vector<Trial> trials = trials_of(graph, seed);
    int runs = 0;
    for (const Path& path : some_of(all_paths, seed)) {
        EXPECT_EQ(all_paths.at(all_paths.rank(path)), path) << seed;
        const auto program = program_of(path);
        if (!program) continue;
        for (const Trial& trial : trials) {
            EXPECT_EQ(difference(CompiledRun(*program, context, trial.inputs).run(trial.inputs), trial.expected), "")
                << "seed " << seed << ", path " << all_paths.rank(path) << '\n'
                << path << to_string(graph);
            ++runs;
        }
        if (testing::Test::HasFailure()) break;
    }
    return runs;
}

// In shards that run in parallel.
constexpr std::uint64_t shards = 15, graphs_each = 10;
class PathsReference : public testing::TestWithParam<std::uint64_t> {};

TEST_P(PathsReference, OfRandomGraphsGiveEqualResults) {
    const Context context;
    int runs = 0;
    for (std::uint64_t seed = GetParam(); seed < shards * graphs_each && !HasFailure(); seed += shards) {
        const Graph graph = random_graph(seed);
        runs += check(graph, paths(graph, context), context, seed);
    }
    EXPECT_GT(runs, static_cast<int>(graphs_each) * sampled);
}

TEST_P(PathsReference, OfModelsWithSeveralExpressionsGiveEqualResults) {
    const Context context;
    int runs = 0;
    for (std::uint64_t seed = GetParam(); seed < shards * graphs_each && !HasFailure(); seed += shards) {
        const Graph graph = random_model(seed);
        runs += check(graph, paths(graph, context), context, seed);
    }
    EXPECT_GT(runs, static_cast<int>(graphs_each) * sampled);
}

INSTANTIATE_TEST_SUITE_P(Shards, PathsReference, testing::Range<std::uint64_t>(0, shards));

TEST(PathsReference, MostModelsHaveExpressionsAndAnExactSearch) {
    const Context context;
    constexpr int all = shards * graphs_each;
    int with_expressions = 0, exact = 0;
    for (int seed = 0; seed < all; ++seed) {
        const Graph graph = random_model(static_cast<std::uint64_t>(seed));
        const Paths all_paths = paths(graph, context);
        with_expressions += paths(graph, context, {.disable = {"expand"}}).count() != all_paths.count();
        exact += all_paths.is_exact();
    }
    EXPECT_GT(with_expressions, all / 2);
    EXPECT_GT(exact, all / 2);
    EXPECT_LT(exact, all) << "a search that is cut is not tried";
}

}  // namespace
}  // namespace cairn::test
