#include "select/rivals.hpp"

#include "cairn/cairn.hpp"
#include "tests/select/programs.hpp"
#include "tests/select/two_forms.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace cairn::select {
namespace {

/// Two products in one line, as equal layers have them, and one in another; then a bucket that has the first alone.
class Rivals : public TwoForms {
protected:
    Rivals() {
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
    /// The kinds of what runs call, but for copies.
    std::vector<KindSeconds> products(const Selections& covers) const {
        std::vector<KindSeconds> found;
        for (const KindSeconds& each : kinds_of(programs.buckets(), covers))
            if (each.kind.problem.starts_with("matmul")) found.push_back(each);
        return found;
    }

    Programs programs;
    Options options;
    Selections chosen;
};

TEST_F(Rivals, CallsOfOneLineAreOneKindDearestFirst) {
    const std::vector<KindSeconds> kinds = products(chosen);
    ASSERT_EQ(kinds.size(), 3U);
    EXPECT_EQ(kinds[0].kind.bucket, 1);
    EXPECT_NEAR(kinds[0].seconds, 10e-3, 1e-4);  // 1 ms, ten times as often
    EXPECT_EQ(kinds[1].kind.bucket, 0);
    EXPECT_NEAR(kinds[1].seconds, 2e-3, 1e-4);  // a and b, or c
    EXPECT_NEAR(kinds[2].seconds, 2e-3, 1e-4);
    EXPECT_NE(kinds[1].kind.where, kinds[2].kind.where);
    for (const KindSeconds& each : kinds) EXPECT_NE(each.kind.where.find("rivals_test.cpp:"), std::string::npos);
}

TEST_F(Rivals, WithoutAKindAllItsCallsAreMadeInAnotherWay) {
    const std::vector<KindSeconds> kinds = products(chosen);
    for (const KindSeconds& without : kinds) {
        const std::optional<Selections> rival = cheapest_on({{without.kind}, {}}, chosen, programs.buckets(), options);
        ASSERT_TRUE(rival);
        const double more = without.kind.bucket == 1                                   ? 20e-3
                            : without.kind.problem.find("f32[1,") != std::string::npos ? 4e-3
                                                                                       : 3e-3;
        EXPECT_NEAR(rival->cost - chosen.cost, more, 1e-4);
        std::set<Kind> left;
        for (const KindSeconds& each : kinds_of(programs.buckets(), *rival)) left.insert(each.kind);
        EXPECT_FALSE(left.contains(without.kind));
        for (const KindSeconds& each : kinds) EXPECT_EQ(left.contains(each.kind), each.kind != without.kind);
        EXPECT_EQ(rival->memo, chosen.memo);
        for (std::size_t b = 0; b < 2; ++b)
            EXPECT_EQ(digest_of(rival->buckets[b]) == digest_of(chosen.buckets[b]),
                      static_cast<int>(b) != without.kind.bucket);
    }
}

TEST_F(Rivals, WithoutAllKindsOfAValueThereAreNone) {
    std::vector<Kind> kinds;
    for (int round = 0; round < 20; ++round) {
        const std::optional<Selections> rival = cheapest_on({kinds, {}}, chosen, programs.buckets(), options);
        if (!rival) return;
        for (const KindSeconds& each : kinds_of(programs.buckets(), *rival))
            if (each.kind.bucket == 0) kinds.push_back(each.kind);
    }
    FAIL() << "there is always another one";
}

TEST_F(Rivals, OnlyWhatOthersAskForIsAskedForInTheirBuckets) {
    const Kind packed = products(chosen)[1].kind;
    const Selections stored = *cheapest_on({{packed}, {}}, chosen, programs.buckets(), options);
    Terms terms;
    for (const KindSeconds& each : kinds_of(programs.buckets(), stored))
        if (each.kind.bucket == 0) terms.only.push_back({0, "whichever", each.kind.problem, each.kind.where});
    const std::optional<Selections> same = cheapest_on(terms, chosen, programs.buckets(), options);
    ASSERT_TRUE(same);
    EXPECT_EQ(same->path, stored.path);
    // And without what they ask for there is nothing.
    terms.only.pop_back();
    EXPECT_FALSE(cheapest_on(terms, chosen, programs.buckets(), options));
    terms = {{}, {{1, "", "exp | f32[] -> f32[]", ""}}};
    EXPECT_FALSE(cheapest_on(terms, chosen, programs.buckets(), options));
}

TEST_F(Rivals, ALineOfAnotherProgramIsNotFound) {
    Kind kind = products(chosen)[0].kind;
    kind.where = "elsewhere.cpp:1";
    const std::optional<Selections> same = cheapest_on({{kind}, {}}, chosen, programs.buckets(), options);
    ASSERT_TRUE(same);
    EXPECT_EQ(same->path, chosen.path);
}

TEST(Kind, TextAndBack) {
    for (const Kind& kind : {Kind{0, "k@1", "linear | f32[T,64] -> f32[T,64] where T in 1..8", "model.cpp:31"},
                             Kind{12, "cpu.x@2", "exp | f32[] -> f32[]", ""}})
        EXPECT_EQ(parse_kind(to_string(kind)), kind) << to_string(kind);
    for (const char* const text : {"", "0", "0 | k", "0 | k | p", "x | k | p | w", "1x | k | p | w", " | k | p | w"})
        EXPECT_EQ(parse_kind(text), std::nullopt) << text;
}

}  // namespace
}  // namespace cairn::select
