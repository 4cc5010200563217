#include "cairn/composites.hpp"
#include "tests/fuse/tile_check.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

/// Operands that are results of other ops: movement of sums and products goes inward in the normal form, so no form of
/// the operand itself stands under it.
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

void expect_attention(const std::vector<Case>& cases, const std::string& tile) {
    for (const Case& c : cases) {
        Graph g("g");
        g.output("y", c.build(g));
        const Proposed tiles = proposed(g);
        const fuse::Tile* found = tile_at_output(tiles, "attention");
        ASSERT_NE(found, nullptr) << c.text;
        const std::string text = summary(tiles, *found);
        EXPECT_EQ(text.substr(0, text.find(" (%")), tile) << c.text;
        std::string operands;
        for (const ir::NodeId id : found->inputs)
            operands += (operands.empty() ? "" : " ") + to_string(tiles.graph->node(id).shape);
        EXPECT_EQ(operands, c.operands) << c.text;
        EXPECT_EQ(tiles_fault(tiles, 5), "") << c.text;
    }
}

const char* const equal_heads = "[2,6,T,4] [2,6,T,4] [2,6,T,4]";

TEST(Search, AttentionOfResults) {
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

}  // namespace
}  // namespace cairn::test
