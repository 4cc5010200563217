#include "cairn/composites.hpp"
#include "tests/fusion/match_check.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

/// Attention masks as written by other programs, and the match each must give; empty for what is no attention.
namespace cairn::test::program_expressions {
namespace {

using T = const Tensor&;
constexpr double infinity = std::numeric_limits<double>::infinity(), lowest = std::numeric_limits<float>::lowest();

struct Expression {
    const char* text;
    /// Applied to the scaled scores [2,3,4,4].
    std::function<Tensor(Graph&, T scores)> masked;
    const char* match;
};

Tensor zero(Graph& g) { return g.constant(DType::f32, 0.0); }
Tensor rows(Graph& g) { return unsqueeze(iota(g, 4), -1); }
Tensor causal(Graph& g) { return rows(g) >= iota(g, 4); }
Tensor mask(Graph& g, DType dtype, Shape shape) { return g.input("mask", dtype, std::move(shape)); }

std::vector<double> triangle(double seen, double hidden) {
    std::vector<double> values;
    for (int row = 0; row < 4; ++row)
        for (int column = 0; column < 4; ++column) values.push_back(column <= row ? seen : hidden);
    return values;
}

const Expression expressions[] = {
    {"none", [](Graph&, T s) { return s + 0; }, "attention causal=(0) scale=0.5 (q, k, v)"},
    {"causal, chosen", [](Graph& g, T s) { return where(causal(g), s, -1e9); },
     "attention causal=(1) scale=0.5 masked_score=-1e+09 (q, k, v)"},
    {"causal, what is hidden chosen", [](Graph& g, T s) { return where(rows(g) < iota(g, 4), -1e4, s); },
     "attention causal=(1) scale=0.5 masked_score=-10000 (q, k, v)"},
    {"causal, added -inf", [](Graph& g, T s) { return s + where(causal(g), zero(g), -infinity); },
     "attention causal=(1) scale=0.5 masked_score=-inf (q, k, v)"},
    {"causal, added -1e9", [](Graph& g, T s) { return s + where(causal(g), zero(g), -1e9); },
     "attention causal=(0) pairs=(1) scale=0.5 (q, k, v, %)"},
    {"causal, ones taken from one", [](Graph& g, T s) { return s + (1 - cast(causal(g), DType::f32)) * -1e9; },
     "attention causal=(0) pairs=(1) scale=0.5 (q, k, v, %)"},
    {"a table of booleans",
     [](Graph& g, T s) {
         return where(g.constant(DType::boolean, {4, 4}, triangle(1, 0)), s, lowest);
     },
     "attention causal=(0) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %)"},
    {"a table of -inf",
     [](Graph& g, T s) {
         return s + g.constant(DType::f32, {4, 4}, triangle(0, -infinity));
     },
     "attention causal=(0) pairs=(1) scale=0.5 (q, k, v, %)"},
    {"a bound buffer",
     [](Graph& g, T s) {
         return where(g.weight("mask", DType::boolean, {1, 1, 4, 4}), s, lowest);
     },
     "attention causal=(0) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, mask)"},
    {"keys",
     [](Graph& g, T s) {
         return where(reshape(mask(g, DType::boolean, {2, 4}), {2, 1, 1, 4}), s, lowest);
     },
     "attention causal=(0) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, mask)"},
    {"keys in place",
     [](Graph& g, T s) {
         return where(mask(g, DType::boolean, {2, 1, 1, 4}), s, lowest);
     },
     "attention causal=(0) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, mask)"},
    {"keys, added",
     [](Graph& g, T s) {
         return s + mask(g, DType::f32, {2, 1, 1, 4});
     },
     "attention causal=(0) pairs=(1) scale=0.5 (q, k, v, mask)"},
    {"keys, ones taken from one",
     [](Graph& g, T s) {
         return s + (1 - reshape(mask(g, DType::f32, {2, 4}), {2, 1, 1, 4})) * lowest;
     },
     "attention causal=(0) pairs=(1) scale=0.5 (q, k, v, %)"},
    {"a bias of each head",
     [](Graph& g, T s) {
         return s + mask(g, DType::f32, {1, 3, 4, 4});
     },
     "attention causal=(0) pairs=(1) scale=0.5 (q, k, v, mask)"},
    {"a bias and causal",
     [](Graph& g, T s) {
         return where(causal(g), s + mask(g, DType::f32, {3, 4, 4}), lowest);
     },
     "attention causal=(1) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, mask)"},
    {"keys and causal",
     [](Graph& g, T s) {
         return where(causal(g) && reshape(mask(g, DType::boolean, {2, 4}), {2, 1, 1, 4}), s, lowest);
     },
     "attention causal=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, mask)"},
    {"scores capped", [](Graph&, T s) { return tanh(s / 30) * 30; },
     "attention causal=(0) softcap=30 scale=0.5 (q, k, v)"},
    {"scores bent", [](Graph&, T s) { return tanh(s / 30) * 20 + s; }, ""},
    {"scores times the mask", [](Graph& g, T s) { return s * cast(causal(g), DType::f32); }, ""},
    {"two added masks",
     [](Graph& g, T s) {
         return s + where(causal(g), zero(g), -1e30) +
                where(reshape(mask(g, DType::boolean, {2, 4}), {2, 1, 1, 4}), zero(g), -1e30);
     },
     "attention causal=(1) pairs=(1) adds_to_hidden=(1) scale=0.5 masked_score=-1e+30 (q, k, v, %)"},
};

// Removes node numbers, which do not matter.
std::string without_numbers(std::string text) {
    for (std::size_t i = text.find('%'); i != text.npos; i = text.find('%', i + 1))
        while (i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9') text.erase(i + 1, 1);
    return text;
}

TEST(ProgramExpressions, OfMasks) {
    for (const Expression& expression : expressions) {
        Graph g("g");
        const auto side = [&](const char* name) { return g.input(name, DType::f32, {2, 3, 4, 4}); };
        const Tensor scores = matmul(side("q"), swap_axes(side("k"), -1, -2)) * 0.5;
        g.output("y", matmul(softmax(expression.masked(g, scores)), side("v")));
        const Proposed matches = proposed(g);
        const fusion::Match* match = match_at_output(matches, "attention");
        EXPECT_EQ(match == nullptr ? "" : without_numbers(summary(matches, *match)), expression.match)
            << expression.text;
        EXPECT_EQ(fault_in_matches(matches, 5), "") << expression.text;
    }
}

}  // namespace
}  // namespace cairn::test::program_expressions
