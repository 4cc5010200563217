#include "driver/buckets.hpp"

#include "cairn/cairn.hpp"
#include "graph/ir/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace cairn {
namespace {

using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty;

/// A graph with T and N, and a state that grows by T.
Graph two_sizes() {
    Graph graph("g");
    const Dim t = graph.symbol("T", 1, 32), n = graph.symbol("N", 2, 9);
    const Tensor x = graph.input("x", DType::f32, {t, 4});
    State kept = graph.state("kept", DType::f32, {graph.symbol("past", 0, 63), 4}, 0, 64);
    graph.output("y", sum(kept.append(x), {0}));
    graph.output("z", exp(graph.input("u", DType::f32, {n})));
    return graph;
}

std::vector<std::string> names(const Graph& graph, const std::vector<Split>& splits) {
    std::vector<std::string> all;
    for (const driver::BucketRanges& cut : driver::bucket_ranges_of(*graph.data(), splits))
        all.push_back(driver::bucket_name(cut.ranges));
    return all;
}

std::vector<double> weights(const Graph& graph, const std::vector<Split>& splits) {
    std::vector<double> all;
    for (const driver::BucketRanges& cut : driver::bucket_ranges_of(*graph.data(), splits)) all.push_back(cut.weight);
    return all;
}

std::string fault_of(const Graph& graph, const Split& split) {
    try {
        driver::bucket_ranges_of(*graph.data(), {{split}});
        return {};
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::argument);
        return error.what();
    }
}

TEST(Buckets, RangesAreConsecutiveAndCoverAll) {
    const Graph g = two_sizes();
    EXPECT_THAT(names(g, {}), ElementsAre(""));
    EXPECT_THAT(names(g, {{"T", {1, 12}}}), ElementsAre("T-1-1", "T-2-12", "T-13-32"));
    EXPECT_THAT(names(g, {{"T", {}}}), ElementsAre("T-1-32"));
    EXPECT_THAT(names(g, {{"T", {12}}, {"N", {3}}}),
                ElementsAre("T-1-12_N-2-3", "T-1-12_N-4-9", "T-13-32_N-2-3", "T-13-32_N-4-9"));
}

TEST(Buckets, BoundsOutOfRangeOrRepeatedAddNoBucket) {
    const Graph g = two_sizes();
    EXPECT_THAT(names(g, {{"T", {32}}}), ElementsAre("T-1-32"));
    EXPECT_THAT(names(g, {{"T", {5, 100, 200}}}), ElementsAre("T-1-5", "T-6-32"));
    EXPECT_THAT(names(g, {{"N", {-3, 0, 1, 4, 4}}}), ElementsAre("N-2-4", "N-5-9"));
}

TEST(Buckets, WeightsAreTheSumsOfTheirParts) {
    const Graph g = two_sizes();
    EXPECT_THAT(weights(g, {{"T", {1, 12}}}), ElementsAre(1, 1, 1));
    EXPECT_THAT(weights(g, {{"T", {1, 12}, {100, 10, 2}}}), ElementsAre(100, 10, 2));
    EXPECT_THAT(weights(g, {{"T", {12}, {3, 5}}, {"N", {3}, {7, 11}}}), ElementsAre(21, 33, 35, 55));
    EXPECT_THAT(weights(g, {{"T", {0, 12}, {100, 10, 2}}}), ElementsAre(10, 2)) << "of the parts that are there";
}

TEST(Buckets, WrongSplitsAreRefusedByName) {
    const Graph g = two_sizes();
    EXPECT_THAT(fault_of(g, {"Q", {3}}), HasSubstr("unknown symbol Q"));
    EXPECT_THAT(fault_of(g, {"past", {3}}), HasSubstr("past is a size of state \"kept\" and cannot be split"));
    EXPECT_THAT(fault_of(g, {"T", {12, 3}}), HasSubstr("must ascend"));
    EXPECT_THAT(fault_of(g, {"T", {12}, {1}}), HasSubstr("the split of T makes 2 buckets and has 1 weights"));
    for (const double wrong : {0.0, -1.0, HUGE_VAL, std::nan("")})
        EXPECT_THAT(fault_of(g, {"T", {12}, {1, wrong}}), HasSubstr("a weight of the split of T"));
}

TEST(Buckets, AGraphOfOneSizeHasNoSymbolOfIt) {
    const Graph g = two_sizes();
    const auto symbols_of = [&](const std::vector<Split>& splits, std::size_t cut) {
        const auto bucket = driver::bucket_graph(*g.data(), driver::bucket_ranges_of(*g.data(), splits)[cut].ranges);
        EXPECT_THAT(ir::verify(*bucket), IsEmpty());
        std::vector<std::string> all;
        for (const Symbols::Symbol& symbol : bucket->symbols()->list())
            all.push_back(symbol.name + ' ' + std::to_string(symbol.low) + ' ' + std::to_string(symbol.high));
        return all;
    };
    const std::vector<std::string> whole = symbols_of({}, 0);
    EXPECT_THAT(whole, testing::IsSupersetOf({"T 1 32", "N 2 9"}));
    EXPECT_THAT(symbols_of({{"T", {1}}}, 0), testing::Not(testing::Contains(HasSubstr("T "))));
    EXPECT_EQ(symbols_of({{"T", {1}}}, 0).size(), whole.size() - 1);
    EXPECT_THAT(symbols_of({{"T", {1}}}, 1), testing::Contains("T 2 32"));
}

}  // namespace
}  // namespace cairn
