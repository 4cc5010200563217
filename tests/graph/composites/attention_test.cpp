#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/graph/composites/composite_values.hpp"

namespace cairn::test {
namespace {

struct Case {
    std::int64_t batch = 2, heads = 4, key_heads = 4, queries = 3, keys = 5, size = 6, out = 2;
    AttentionOptions options{};
    Numbers mask{};  // [batch, keys]; empty: none
};

std::size_t at(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d, std::int64_t B, std::int64_t C,
               std::int64_t D) {
    return static_cast<std::size_t>(((a * B + b) * C + c) * D + d);
}

// The definition, one query at a time.
Numbers by_loops(const Case& n, const Numbers& q, const Numbers& k, const Numbers& v) {
    Numbers result;
    const double scale = n.options.scale.value_or(1 / std::sqrt(static_cast<double>(n.size)));
    for (std::int64_t b = 0; b < n.batch; ++b)
        for (std::int64_t h = 0; h < n.heads; ++h)
            for (std::int64_t t = 0; t < n.queries; ++t) {
                const std::int64_t g = h / (n.heads / n.key_heads);
                Numbers scores;
                for (std::int64_t s = 0; s < n.keys; ++s) {
                    double score = 0;
                    for (std::int64_t d = 0; d < n.size; ++d)
                        score += q[at(b, h, t, d, n.heads, n.queries, n.size)] *
                                 k[at(b, g, s, d, n.key_heads, n.keys, n.size)];
                    score *= scale;
                    if (n.options.softcap) score = *n.options.softcap * std::tanh(score / *n.options.softcap);
                    const std::int64_t own = t + n.keys - n.queries;
                    const bool hidden = (n.options.causal && s > own) ||
                                        (n.options.window && s <= own - *n.options.window) ||
                                        (!n.mask.empty() && n.mask[static_cast<std::size_t>(b * n.keys + s)] == 0);
                    scores.push_back(hidden ? n.options.masked_score.value_or(std::numeric_limits<double>::lowest())
                                            : score);
                }
                const double most = *std::max_element(scores.begin(), scores.end());
                double total = 0;
                for (double& score : scores) total += score = std::exp(score - most);
                for (std::int64_t o = 0; o < n.out; ++o) {
                    double sum = 0;
                    for (std::int64_t s = 0; s < n.keys; ++s)
                        sum +=
                            scores[static_cast<std::size_t>(s)] / total * v[at(b, g, s, o, n.key_heads, n.keys, n.out)];
                    result.push_back(sum);
                }
            }
    return result;
}

void expect_definition(const Case& n) {
    Trial trial;
    const Dim batch = trial.symbol("B", 1, 4, n.batch), queries = trial.symbol("T", 1, 8, n.queries),
              keys = trial.symbol("S", 1, 8, n.keys);
    const auto numbers = [](std::int64_t count, unsigned seed) {
        return some_numbers(static_cast<std::size_t>(count), seed);
    };
    const Numbers q = numbers(n.batch * n.heads * n.queries * n.size, 1),
                  k = numbers(n.batch * n.key_heads * n.keys * n.size, 2),
                  v = numbers(n.batch * n.key_heads * n.keys * n.out, 3);
    const Tensor tq =
        trial.input("q", DType::f64, {batch, n.heads, queries, n.size}, {n.batch, n.heads, n.queries, n.size}, q);
    const Tensor tk =
        trial.input("k", DType::f64, {batch, n.key_heads, keys, n.size}, {n.batch, n.key_heads, n.keys, n.size}, k);
    const Tensor tv =
        trial.input("v", DType::f64, {batch, n.key_heads, keys, n.out}, {n.batch, n.key_heads, n.keys, n.out}, v);
    const Tensor result =
        n.mask.empty()
            ? attention(tq, tk, tv, n.options)
            : attention(tq, tk, tv, trial.input("mask", DType::boolean, {batch, keys}, {n.batch, n.keys}, n.mask),
                        n.options);
    EXPECT_EQ(to_string(result.shape()), "[B," + std::to_string(n.heads) + ",T," + std::to_string(n.out) + "]");
    const interpreter::Value value = trial.value_of(result);
    const Numbers expected = by_loops(n, q, k, v);
    ASSERT_EQ(value.data.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (std::isnan(expected[i]))
            EXPECT_TRUE(std::isnan(value.data[i])) << i;
        else
            EXPECT_NEAR(value.data[i], expected[i], 1e-14) << i;
    }
}

const Numbers padding = {1, 1, 1, 0, 0, 0, 1, 1, 1, 1};

TEST(Attention, Full) { expect_definition({}); }
TEST(Attention, CausalWithPast) { expect_definition({.options = {.causal = true}}); }
TEST(Attention, CausalWithoutPast) { expect_definition({.queries = 5, .options = {.causal = true}}); }
TEST(Attention, FirstQueriesSeeNoKeyIfThereAreFewerKeys) {
    expect_definition({.queries = 7, .options = {.causal = true}});
}
TEST(Attention, KeyMask) { expect_definition({.mask = padding}); }
TEST(Attention, CausalWithKeyMask) { expect_definition({.options = {.causal = true}, .mask = padding}); }
TEST(Attention, GroupedHeads) { expect_definition({.key_heads = 2, .options = {.causal = true}, .mask = padding}); }
TEST(Attention, OneKeyHead) { expect_definition({.key_heads = 1}); }
TEST(Attention, GivenScale) { expect_definition({.options = {.scale = 0.3}}); }
TEST(Attention, OneQuery) { expect_definition({.queries = 1, .options = {.causal = true}}); }
TEST(Attention, GivenMaskedScore) { expect_definition({.options = {.masked_score = -0.5}, .mask = padding}); }
TEST(Attention, InfiniteMaskedScoreGivesNaNIfAllKeysAreMasked) {
    expect_definition({.options = {.masked_score = -std::numeric_limits<double>::infinity()},
                       .mask = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1}});
}

TEST(Attention, CappedScores) {
    expect_definition({.options = {.softcap = 0.5}});
    expect_definition({.options = {.causal = true, .scale = 3, .softcap = 1.25}, .mask = padding});
    expect_definition({.key_heads = 2, .options = {.softcap = 50}, .mask = padding});
}

TEST(Attention, AWindowOfTheLastKeys) {
    for (const std::int64_t window : {1, 2, 4, 5, 100}) {
        expect_definition({.options = {.causal = true, .window = window}});
        expect_definition({.key_heads = 2, .options = {.window = window, .masked_score = -3}, .mask = padding});
        expect_definition({.queries = 5, .keys = 3, .options = {.causal = true, .window = window, .masked_score = -1}});
    }
}

TEST(Attention, LayersShareOneCausalMask) {
    Graph g;
    const Dim t = g.symbol("T", 1, 8);
    const Tensor a = g.input("a", DType::f32, {1, 2, t, 4}), b = g.input("b", DType::f32, {1, 2, t, 4});
    attention(a, a, a, {.causal = true});
    attention(b, b, b, {.causal = true});
    const std::string text = to_string(g);
    EXPECT_EQ(text.find("iota"), text.rfind("iota")) << "with S = T rows and columns count alike";
    EXPECT_EQ(text.find("= ge"), text.rfind("= ge"));
}

TEST(Attention, ASymbolicHeadSizeNeedsAScale) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {1, 2, 3, g.symbol("D", 1, 8)});
    EXPECT_THROW(attention(x, x, x), Error);
    EXPECT_EQ(to_string(attention(x, x, x, {.scale = 1}).shape()), "[1,2,3,D]");
}

}  // namespace
}  // namespace cairn::test
