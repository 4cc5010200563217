#include "selection/choose/challenger_covers.hpp"

#include "cairn/cairn.hpp"
#include "tests/selection/choose/bucket_set.hpp"
#include "tests/selection/choose/packed_product_fixture.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace cairn::selection {
namespace {

/// Two products in one source line, as in equal layers, and one in another; then a bucket that has the first alone.
class ChallengerCoversTest : public PackedProductFixture {
protected:
    ChallengerCoversTest() {
        seconds_of = {{3e-3, 1e-3}, {5e-3, 2e-3}};
        Graph graph("g"), other("h");
        for (const char* const name : {"a", "b"}) graph.output(name, product(graph, name, 1));
        graph.output("c", matmul(input(graph, "xc", 2), weight(graph, "wc")));
        other.output("a", product(other, "a", 1));
        programs.add(graph, kernels, costs);
        programs.add(other, kernels, costs, 10);
        options.seconds_per_kept_byte = 0;
        chosen = select(programs.buckets(), options);
    }
    static Tensor input(Graph& graph, const std::string& name, std::int64_t rows) {
        return graph.input(name, DType::f32, {rows, 64});
    }
    static Tensor weight(Graph& graph, const std::string& name) { return graph.weight(name, DType::f32, {64, 64}); }
    static Tensor product(Graph& graph, const std::string& name, std::int64_t rows) {
        return matmul(input(graph, "x" + name, rows), weight(graph, "w" + name));
    }
    /// The kinds of calls in runs, without copies.
    std::vector<CallKindSeconds> products(const Selections& covers) const {
        std::vector<CallKindSeconds> found;
        for (const CallKindSeconds& each : call_kinds_by_time(programs.buckets(), covers))
            if (each.kind.problem.starts_with("matmul")) found.push_back(each);
        return found;
    }

    BucketSet programs;
    Options options;
    Selections chosen;
};

TEST_F(ChallengerCoversTest, CallsOfOneLineAreOneKindInDescendingCost) {
    const std::vector<CallKindSeconds> kinds = products(chosen);
    ASSERT_EQ(kinds.size(), 3U);
    EXPECT_EQ(kinds[0].kind.bucket, 1);
    EXPECT_NEAR(kinds[0].seconds, 10e-3, 1e-4);  // 1 ms, ten times as often
    EXPECT_EQ(kinds[1].kind.bucket, 0);
    EXPECT_NEAR(kinds[1].seconds, 2e-3, 1e-4);  // a and b, or c
    EXPECT_NEAR(kinds[2].seconds, 2e-3, 1e-4);
    EXPECT_NE(kinds[1].kind.where, kinds[2].kind.where);
    for (const CallKindSeconds& each : kinds)
        EXPECT_NE(each.kind.where.find("challenger_covers_test.cpp:"), std::string::npos);
}

TEST_F(ChallengerCoversTest, WithoutAKindAllItsCallsUseAlternatives) {
    const std::vector<CallKindSeconds> kinds = products(chosen);
    for (const CallKindSeconds& without : kinds) {
        const std::optional<Selections> challenger =
            cheapest_covers_under({{without.kind}, {}}, chosen, programs.buckets(), options);
        ASSERT_TRUE(challenger);
        const double more = without.kind.bucket == 1                                   ? 20e-3
                            : without.kind.problem.find("f32[1,") != std::string::npos ? 4e-3
                                                                                       : 3e-3;
        EXPECT_NEAR(challenger->cost - chosen.cost, more, 1e-4);
        std::set<CallKind> left;
        for (const CallKindSeconds& each : call_kinds_by_time(programs.buckets(), *challenger)) left.insert(each.kind);
        EXPECT_FALSE(left.contains(without.kind));
        for (const CallKindSeconds& each : kinds) EXPECT_EQ(left.contains(each.kind), each.kind != without.kind);
        EXPECT_EQ(challenger->memo, chosen.memo);
        for (std::size_t b = 0; b < 2; ++b)
            EXPECT_EQ(digest_of(challenger->buckets[b]) == digest_of(chosen.buckets[b]),
                      static_cast<int>(b) != without.kind.bucket);
    }
}

// A record made from a graph file, which has no lines, holds for the same graph in a program, and the reverse.
TEST_F(ChallengerCoversTest, AnUnknownLineIsAnyLine) {
    for (CallKindSeconds without : products(chosen)) {
        const std::string where = std::exchange(without.kind.where, {});
        const std::optional<Selections> challenger =
            cheapest_covers_under({{without.kind}, {}}, chosen, programs.buckets(), options);
        ASSERT_TRUE(challenger);
        EXPECT_GT(challenger->cost, chosen.cost);
        for (const CallKindSeconds& each : products(*challenger))
            EXPECT_FALSE(each.kind.bucket == without.kind.bucket && each.kind.kernel == without.kind.kernel &&
                         each.kind.problem == without.kind.problem)
                << where;
    }
}

TEST_F(ChallengerCoversTest, WithoutAllKindsOfAValueThereIsNoCover) {
    std::vector<CallKind> kinds;
    for (int round = 0; round < 20; ++round) {
        const std::optional<Selections> challenger =
            cheapest_covers_under({kinds, {}}, chosen, programs.buckets(), options);
        if (!challenger) return;
        for (const CallKindSeconds& each : call_kinds_by_time(programs.buckets(), *challenger))
            if (each.kind.bucket == 0) kinds.push_back(each.kind);
    }
    FAIL() << "there is always another one";
}

TEST_F(ChallengerCoversTest, OnlyPermittedKindsAreUsedInTheirBuckets) {
    const CallKind packed = products(chosen)[1].kind;
    const Selections stored = *cheapest_covers_under({{packed}, {}}, chosen, programs.buckets(), options);
    CoverConstraints terms;
    for (const CallKindSeconds& each : call_kinds_by_time(programs.buckets(), stored))
        if (each.kind.bucket == 0) terms.only.push_back({0, "whichever", each.kind.problem, each.kind.where});
    const std::optional<Selections> same = cheapest_covers_under(terms, chosen, programs.buckets(), options);
    ASSERT_TRUE(same);
    EXPECT_EQ(same->path, stored.path);
    // Without a call that they allow there is no cover.
    terms.only.pop_back();
    EXPECT_FALSE(cheapest_covers_under(terms, chosen, programs.buckets(), options));
    terms = {{}, {{1, "", "exp | f32[] -> f32[]", ""}}};
    EXPECT_FALSE(cheapest_covers_under(terms, chosen, programs.buckets(), options));
}

TEST_F(ChallengerCoversTest, ALineOfAnotherProgramIsNotFound) {
    CallKind kind = products(chosen)[0].kind;
    kind.where = "elsewhere.cpp:1";
    const std::optional<Selections> same = cheapest_covers_under({{kind}, {}}, chosen, programs.buckets(), options);
    ASSERT_TRUE(same);
    EXPECT_EQ(same->path, chosen.path);
}

TEST(CallKind, RoundTripsThroughText) {
    for (const CallKind& kind : {CallKind{0, "k@1", "linear | f32[T,64] -> f32[T,64] where T in 1..8", "model.cpp:31"},
                                 CallKind{12, "cpu.x@2", "exp | f32[] -> f32[]", ""}})
        EXPECT_EQ(parse_call_kind(to_string(kind)), kind) << to_string(kind);
    for (const char* const text : {"", "0", "0 | k", "0 | k | p", "x | k | p | w", "1x | k | p | w", " | k | p | w"})
        EXPECT_EQ(parse_call_kind(text), std::nullopt) << text;
}

}  // namespace
}  // namespace cairn::selection
