#include "cairn/composites.hpp"
#include "tests/fusion/match_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

/// Operands that are results of other ops: in the normal form, movement of sums and products is pushed down, so that
/// the form of the operand itself is not contained.
namespace cairn::test {
namespace {

using T = const Tensor&;

Tensor input(Graph& g, const char* name, Shape shape) { return g.input(name, DType::f32, std::move(shape)); }
Tensor weight(Graph& g, const char* name, Shape shape) { return g.weight(name, DType::f32, std::move(shape)); }

/// [2, T, heads * 4] to [2, heads, T, 4].
Tensor split_heads(T x, std::int64_t heads) { return transpose(reshape(x, {2, x.dim(1), heads, 4}), {0, 2, 1, 3}); }

/// q [2,H,T,4], k and v [2,G,T,4], and positions [T].
struct Heads {
    Tensor q, k, v, positions;
};
Heads heads_of(Graph& g, std::int64_t key_heads = 6) {
    const Dim t = g.symbol("T", 1, 4);
    return {input(g, "q", {2, 6, t, 4}), input(g, "k", {2, key_heads, t, 4}), input(g, "v", {2, key_heads, t, 4}),
            iota(g, t)};
}

struct Case {
    const char* text;
    std::function<Tensor(Graph&)> build;
    std::string operands;  ///< their shapes
};

void expect_attention(const std::vector<Case>& cases, const std::string& match) {
    for (const Case& c : cases) {
        Graph g("g");
        g.output("y", c.build(g));
        const Proposed matches = proposed(g);
        const fusion::Match* found = match_at_output(matches, "attention");
        ASSERT_NE(found, nullptr) << c.text;
        const std::string text = summary(matches, *found);
        EXPECT_EQ(text.substr(0, text.rfind(" (")), match) << c.text;
        std::string operands;
        for (const ir::NodeId id : found->inputs)
            operands += (operands.empty() ? "" : " ") + to_string(matches.graph->node(id).shape);
        EXPECT_EQ(operands, c.operands) << c.text;
        EXPECT_EQ(fault_in_matches(matches, 5), "") << c.text;
    }
}

const char* const equal_heads = "[2,6,T,4] [2,6,T,4] [2,6,T,4]";

TEST(EmbeddingSearch, AttentionOfComputedOperands) {
    const auto normed = [](Graph& g, T x, const char* name) { return rms_norm(x, weight(g, name, {4})); };
    expect_attention(
        {
            {"rope",
             [](Graph& g) {
                 const auto [q, k, v, p] = heads_of(g);
                 return attention(rope(q, p), rope(k, p), v);
             },
             equal_heads},
            {"rope of q",
             [](Graph& g) {
                 const auto [q, k, v, p] = heads_of(g);
                 return attention(rope(q, p), k, exp(v));
             },
             equal_heads},
            {"rope of k",
             [](Graph& g) {
                 const auto [q, k, v, p] = heads_of(g);
                 return attention(exp(q), rope(k, p), v);
             },
             equal_heads},
            {"norms",
             [=](Graph& g) {
                 const auto [q, k, v, p] = heads_of(g);
                 return attention(normed(g, q, "a"), normed(g, k, "b"), exp(v));
             },
             equal_heads},
            {"rope of norms",
             [=](Graph& g) {
                 const auto [q, k, v, p] = heads_of(g);
                 return attention(rope(normed(g, q, "a"), p), rope(normed(g, k, "b"), p), v);
             },
             equal_heads},
            {"sums",
             [](Graph& g) {
                 const auto [q, k, v, p] = heads_of(g);
                 return attention(q + exp(q), k + exp(k), v + exp(v));
             },
             equal_heads},
            {"sums of three",
             [](Graph& g) {
                 const auto [q, k, v, p] = heads_of(g);
                 return attention(q + exp(q) + tanh(q), k + exp(k) - tanh(k), v + exp(v) + tanh(v));
             },
             equal_heads},
            {"biased projections",
             [](Graph& g) {
                 const Dim t = g.symbol("T", 1, 4);
                 const Tensor x = input(g, "x", {2, t, 10});
                 const auto project = [&](const char* w, const char* b) {
                     return split_heads(linear(x, weight(g, w, {10, 24}), weight(g, b, {24})), 6);
                 };
                 return attention(project("wq", "bq"), project("wk", "bk"), project("wv", "bv"));
             },
             equal_heads},
            {"biases added to heads",
             [](Graph& g) {
                 const auto [q, k, v, p] = heads_of(g);
                 return attention(q + weight(g, "a", {4}), k + weight(g, "b", {6, 1, 4}), v + weight(g, "c", {4}));
             },
             equal_heads},
        },
        "attention causal=(0) scale=0.5");
}

TEST(EmbeddingSearch, AttentionInOtherLayouts) {
    expect_attention(
        {
            {"heads after queries",
             [](Graph& g) {
                 const Dim t = g.symbol("T", 1, 4);
                 const auto heads = [&](const char* name) {
                     return transpose(input(g, name, {2, t, 6, 4}), {0, 2, 1, 3});
                 };
                 return attention(heads("q"), heads("k"), heads("v"));
             },
             equal_heads},
            {"scaled before",
             [](Graph& g) {
                 const auto [q, k, v, p] = heads_of(g);
                 return matmul(softmax(matmul(rope(q, p) * 0.5, swap_axes(rope(k, p), -1, -2))), v);
             },
             equal_heads},
            {"heads and batch in one axis",
             [](Graph& g) {
                 const Dim t = g.symbol("T", 1, 4);
                 const auto side = [&](const char* name) { return input(g, name, {12, t, 4}); };
                 return matmul(softmax(matmul(side("q"), swap_axes(side("k"), -1, -2)) * 0.5), side("v"));
             },
             "[12,T,4] [12,T,4] [12,T,4]"},
            {"one head",
             [](Graph& g) {
                 const Dim t = g.symbol("T", 1, 4);
                 const auto side = [&](const char* name) { return input(g, name, {t, 4}); };
                 return matmul(softmax(matmul(side("q"), swap_axes(side("k"), -1, -2)) * 0.5), side("v"));
             },
             "[T,4] [T,4] [T,4]"},
            {"narrow values",
             [](Graph& g) {
                 const auto [q, k, v, p] = heads_of(g);
                 return attention(q, rope(k, p), slice(v, -1, 0, 3));
             },
             "[2,6,T,4] [2,6,T,4] [2,6,T,3]"},
            {"one key head",
             [](Graph& g) {
                 const auto [q, k, v, p] = heads_of(g, 1);
                 return attention(rope(q, p), rope(k, p), v);
             },
             "[2,6,T,4] [2,1,T,4] [2,1,T,4]"},
            {"groups",
             [](Graph& g) {
                 const auto [q, k, v, p] = heads_of(g, 2);
                 return attention(rope(q, p), rope(k, p), v);
             },
             "[2,6,T,4] [2,2,T,4] [2,2,T,4]"},
            {"repeated key heads",
             [](Graph& g) {
                 const auto [q, k, v, p] = heads_of(g, 2);
                 const Dim t = q.dim(2);
                 const auto repeated = [&](T x) {
                     return reshape(broadcast(unsqueeze(x, 2), {2, 2, 3, t, 4}), {2, 6, t, 4});
                 };
                 return attention(rope(q, p), repeated(rope(k, p)), repeated(v));
             },
             equal_heads},
        },
        "attention causal=(0) scale=0.5");
}

TEST(EmbeddingSearch, AttentionWithMasks) {
    const auto with = [](std::function<Tensor(Graph&, const Heads&)> masked) {
        return [=](Graph& g) {
            const Heads h = heads_of(g);
            return matmul(softmax(masked(g, h)), h.v);
        };
    };
    const auto scores = [](const Heads& h) { return matmul(h.q, swap_axes(h.k, -1, -2)) * 0.5; };
    const auto within = [](const Heads& h) {
        const Tensor rows = unsqueeze(h.positions, -1);
        return rows >= h.positions && rows - h.positions < 2;
    };
    expect_attention({{"sliding window",
                       with([=](Graph&, const Heads& h) { return where(within(h), scores(h), -1e9); }), equal_heads}},
                     "attention causal=(1) window=(2) scale=0.5 masked_score=-1e+09");
    expect_attention({{"of a batch and its pairs", with([=](Graph& g, const Heads& h) {
                           const Dim t = h.q.dim(2);
                           return where(g.input("m", DType::boolean, {2, 1, t, t}), scores(h), -1e9);
                       }),
                       std::string(equal_heads) + " [2,1,T,T]"},
                      {"of a batch and its keys", with([=](Graph& g, const Heads& h) {
                           return where(g.input("m", DType::i64, {2, 1, 1, h.q.dim(2)}) != 0, scores(h), -1e9);
                       }),
                       std::string(equal_heads) + " [2,1,1,T]"}},
                     "attention causal=(0) pairs=(1) scale=0.5 masked_score=-1e+09");
    expect_attention({{"a bias of each head", with([=](Graph& g, const Heads& h) {
                           return scores(h) + input(g, "b", {6, h.q.dim(2), h.q.dim(2)});
                       }),
                       std::string(equal_heads) + " [6,T,T]"},
                      {"a bias of keys", with([=](Graph& g, const Heads& h) {
                           return scores(h) + input(g, "b", {2, 1, 1, h.q.dim(2)});
                       }),
                       std::string(equal_heads) + " [2,1,1,T]"}},
                     "attention causal=(0) pairs=(1) scale=0.5");
}

// Two masks hide different keys. In a row with nothing visible, keys hidden by one mask outweigh keys hidden by both,
// because the second mask is also added to hidden scores. -inf added twice is -inf.
TEST(EmbeddingSearch, TwoAddedMasksMergeOnlyIfTheyDoNotAddUp) {
    for (const double hidden : {-1e30, -3.4028234663852886e38, -std::numeric_limits<double>::infinity()}) {
        Graph g("g");
        const auto [q, k, v, positions] = heads_of(g);
        const Dim t = q.dim(2);
        const Tensor keep = g.input("keep", DType::boolean, {2, t}), none = g.constant(DType::f32, 0.0);
        const Tensor s = matmul(q, swap_axes(k, -1, -2)) * 0.5 +
                         where(unsqueeze(positions, -1) >= positions, none, hidden) +
                         where(reshape(keep, {2, 1, 1, t}), none, hidden);
        g.output("y", matmul(softmax(s), v));
        const Proposed matches = proposed(g);
        const fusion::Match* match = match_at_output(matches, "attention");
        ASSERT_NE(match, nullptr) << hidden;
        EXPECT_TRUE(summary(matches, *match)
                        .starts_with(std::isinf(hidden)
                                         ? "attention causal=(1) scale=0.5 masked_score=-inf (q, k, v, keep)"
                                         : "attention causal=(1) pairs=(1) adds_to_hidden=(1) scale=0.5 "))
            << summary(matches, *match);
        for (std::uint64_t seed = 1; seed <= 8; ++seed) EXPECT_EQ(fault_in_matches(matches, seed), "") << hidden;
    }
}

}  // namespace
}  // namespace cairn::test
