#include "fusion/match_all.hpp"

#include "bench/graph_families.hpp"
#include "rewrite/alternatives/expand.hpp"
#include "rewrite/simplify/simplify.hpp"
#include "tests/fusion/match_check.hpp"
#include "tests/fusion/random_layers.hpp"
#include "tests/graph/ir/random_graph.hpp"
#include "tests/rewrite/alternatives/random_model.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace cairn::bench {

void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

}  // namespace cairn::bench

namespace cairn::test {
namespace {

const fusion::Patterns& all_patterns() {
    static const fusion::Patterns patterns = fusion::patterns_of(definitions(), fusion::max_axes);
    return patterns;
}

/// A graph prepared for pattern matching, as in a compile.
struct Matched {
    explicit Matched(const Graph& graph)
        : expansion(alternatives::expand(*simplify::simplify(*graph.data()).graph, {})) {}
    fusion::Matcher matcher() const { return {*expansion.graph, expansion.classes, all_patterns()->patterns}; }

    alternatives::Expansion expansion;
};

/// The number of nodes at which definitions were searched, the others being found as repetitions. Expects the same
/// matches as a search at each node.
std::size_t expect_matches_of_each_node(const Graph& graph) {
    const Matched matched(graph);
    fusion::Matcher each = matched.matcher(), all = matched.matcher();
    const auto found = fusion::match_all(all);
    for (ir::NodeId id = 0; id < found.size(); ++id) {
        std::vector<fusion::Match> wanted;
        each.match_at(id, wanted);
        EXPECT_EQ(fusion::to_string(found[id]), fusion::to_string(wanted)) << "%" << id;
    }
    return all.searches();
}

class MatchAllFamilies : public testing::TestWithParam<bench::Family> {};

TEST_P(MatchAllFamilies, FindsTheMatchesOfEachNode) { expect_matches_of_each_node(bench::build(GetParam(), 600)); }

INSTANTIATE_TEST_SUITE_P(Families, MatchAllFamilies, testing::ValuesIn(bench::families),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(MatchAll, FindsTheMatchesOfEachNodeOfRandomGraphs) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        SCOPED_TRACE(seed);
        expect_matches_of_each_node(random_graph(seed, {.steps = 60}));
        expect_matches_of_each_node(random_model(seed));
        if (HasFailure()) break;
    }
}

// The match begins before the repeated sequence.
TEST(MatchAll, FindsMatchesLongerThanARepeatedSequence) {
    Definition sines;
    sines.name = "sines";
    sines.patterns = {"sines | f32[D]"};
    sines.build = [](std::span<const Tensor> x, const Attributes&) {
        Tensor y = x[0];
        for (int i = 0; i < 12; ++i) y = sin(y);
        return std::vector{y};
    };
    Graph graph("g");
    Tensor x = graph.input("x", DType::f32, {4});
    for (int i = 0; i < 20; ++i) x = sin(x);
    graph.output("y", x);
    const fusion::Patterns patterns = fusion::patterns_of({&sines, 1}, 4);
    const fusion::EClasses classes(*graph.data());
    fusion::Matcher matcher(*graph.data(), classes, patterns->patterns);
    const auto found = fusion::match_all(matcher);
    for (std::size_t id = 0; id < found.size(); ++id) EXPECT_EQ(found[id].size(), id < 12 ? 0u : 1u) << id;
}

TEST(MatchAll, FindsTheMatchesOfEachNodeOfRandomLayers) {
    std::size_t search_count = 0, nodes = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        const Graph graph = random_layers(seed, 20);
        search_count += expect_matches_of_each_node(graph);
        nodes += graph.size();
        if (HasFailure()) break;
    }
    EXPECT_LT(search_count, nodes);
}

// Independent of the number of layers that follow.
TEST(MatchAll, SearchesOnlyTheFirstLayers) {
    const auto search_count = [](int nodes) {
        Graph graph("g");
        bench::layered(graph, graph.input("x", DType::f32, {8, 16}), nodes);
        const Matched matched(graph);
        fusion::Matcher matcher = matched.matcher();
        fusion::match_all(matcher);
        return matcher.searches();
    };
    EXPECT_LE(search_count(6000), search_count(2400) + 20);
}

}  // namespace
}  // namespace cairn::test
