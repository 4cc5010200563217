#include "tests/fusion/match_check.hpp"

#include "cairn/composites.hpp"
#include "fusion/match.hpp"
#include "graph/ir/print.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

// Sliding windows as written in published models, combined with other masks and with additions to the scores. The
// window becomes the attribute, and all other operands are values of the program.
namespace cairn::test {
namespace {

using T = const Tensor&;

constexpr double infinity = std::numeric_limits<double>::infinity(), lowest = std::numeric_limits<float>::lowest();

/// Heads of queries in groups of two, and the operands combined with the scores.
struct Layer {
    Graph g{"layer"};
    DType dtype = DType::f32;
    Tensor q, k, v, row = reshape(iota(g, 7, DType::i32, 2), {7, 1}), column = iota(g, 9);

    explicit Layer(DType stored) : dtype(stored) {
        q = g.input("q", dtype, {2, 8, 7, 64});
        k = g.input("k", dtype, {2, 4, 9, 64}), v = g.input("v", dtype, {2, 4, 9, 64});
    }
    Tensor scores() { return matmul(q, swap_axes(repeat(k, 2, 1), -1, -2)) * 0.125; }
    Tensor weighted(T weights) { return matmul(weights, repeat(v, 2, 1)); }
    Tensor attended(T scores) { return weighted(softmax(scores)); }
    Tensor zero() { return g.constant(DType::f32, 0.0); }
    Tensor is_seen() { return row >= column && row - column < 4; }
    Tensor padding(const char* name = "padding") {
        return reshape(g.input(name, DType::boolean, {2, 9}), {2, 1, 1, 9});
    }
    Tensor pairs() { return g.input("pairs", DType::boolean, {2, 1, 7, 9}); }
    Tensor bias(std::int64_t rows = 7) { return g.input("bias", DType::f32, {1, 8, rows, 9}); }
};

struct Windowed {
    const char* name;
    const char* attributes;  ///< the attributes before the scale
    std::size_t operands;
    std::function<Tensor(Layer&)> build;
    DType dtype = DType::f32;
};

const std::vector<Windowed>& windowed() {
    static const std::vector<Windowed> all{
        {"Mistral: one boolean mask", "causal=(1) pairs=(1) window=(4)", 4,
         [](Layer& m) { return m.attended(where(m.is_seen() && m.padding(), m.scores(), -infinity)); }},
        {"Mistral: one added mask", "causal=(1) pairs=(1) window=(4)", 4,
         [](Layer& m) { return m.attended(m.scores() + where(m.is_seen() && m.padding(), m.zero(), -infinity)); }},
        {"padding filled into the added window", "causal=(1) pairs=(1) window=(4)", 4,
         [](Layer& m) {
             const Tensor window = where(m.is_seen(), m.zero(), lowest);
             return m.attended(m.scores() + where(m.padding(), lowest, window));
         }},
        {"what is hidden", "causal=(1) pairs=(1) hides=(1) window=(4)", 4,
         [](Layer& m) {
             const Tensor hidden = m.row < m.column || m.row - m.column >= 4 || m.padding();
             return m.attended(where(hidden, -infinity, m.scores()));
         }},
        {"hidden pairs, then the window", "causal=(1) pairs=(1) hides=(1) window=(4)", 4,
         [](Layer& m) { return m.attended(where(m.is_seen(), where(m.pairs(), -infinity, m.scores()), -infinity)); }},
        {"not causal, hidden pairs", "causal=(0) pairs=(1) hides=(1) window=(3)", 4,
         [](Layer& m) { return m.attended(where(m.column < m.row - 2 || m.pairs(), -1e9, m.scores())); }},
        {"Gemma: capped, padding", "causal=(1) pairs=(1) window=(4) softcap=50", 4,
         [](Layer& m) { return m.attended(where(m.is_seen() && m.padding(), tanh(m.scores() / 50) * 50, lowest)); }},
        {"Gemma: capped, hidden", "causal=(1) pairs=(1) hides=(1) window=(4) softcap=50", 4,
         [](Layer& m) { return m.attended(where(m.padding() || !m.is_seen(), lowest, tanh(m.scores() / 50) * 50)); }},
        {"a bias", "causal=(1) pairs=(1) window=(4)", 4,
         [](Layer& m) { return m.attended(where(m.is_seen(), m.scores() + m.bias(), -infinity)); }},
        {"a bias, padding", "causal=(1) pairs=(1) window=(4)", 5,
         [](Layer& m) { return m.attended(where(m.is_seen() && m.padding(), m.scores() + m.bias(), -infinity)); }},
        {"ALiBi, pairs", "causal=(1) pairs=(1) window=(4)", 5,
         [](Layer& m) { return m.attended(where(m.is_seen() && m.pairs(), m.scores() + m.bias(1), -infinity)); }},
        {"a bias, hidden padding", "causal=(1) pairs=(1) hides=(1) window=(4)", 5,
         [](Layer& m) { return m.attended(where(m.padding() || !m.is_seen(), -infinity, m.scores() + m.bias())); }},
        {"a bias, an added mask of keys", "causal=(1) pairs=(1) window=(4)", 5,
         [](Layer& m) {
             const Tensor padding = m.g.input("m", DType::f32, {2, 1, 1, 9});
             return m.attended(where(m.is_seen(), m.scores() + m.bias() + padding, -infinity));
         }},
        {"two added masks", "causal=(1) pairs=(1) window=(4)", 4,
         [](Layer& m) {
             const Tensor window = where(m.is_seen(), m.zero(), -infinity);
             return m.attended(m.scores() + window + where(m.padding(), m.zero(), -infinity));
         }},
        {"an added window, an added mask of keys", "causal=(1) pairs=(1) window=(4)", 4,
         [](Layer& m) {
             const Tensor window = where(m.is_seen(), m.zero(), -infinity);
             return m.attended(m.scores() + window + m.g.input("m", DType::f32, {2, 1, 1, 9}));
         }},
        {"an added mask of keys, an added window", "causal=(1) pairs=(1) window=(4)", 4,
         [](Layer& m) {
             const Tensor window = where(m.is_seen(), m.zero(), -infinity);
             return m.attended(m.scores() + m.g.input("m", DType::f32, {2, 1, 1, 9}) + window);
         }},
        {"a mask added to both", "causal=(1) pairs=(1) window=(4)", 4,
         [](Layer& m) {
             const Tensor window = where(m.is_seen(), m.zero(), -infinity);
             return m.attended(m.scores() + (m.g.input("m", DType::f32, {2, 1, 7, 9}) + window));
         }},
        {"a filled window, then (1 - seen) * lowest", "causal=(1) pairs=(1) window=(4)", 4,
         [](Layer& m) {
             const Tensor seen = m.g.input("m", DType::f32, {2, 1, 1, 9});
             return m.attended(where(m.is_seen(), m.scores(), -infinity) + (1 - seen) * lowest);
         }},
        {"capped, two added", "causal=(1) pairs=(1) window=(4) softcap=50", 4,
         [](Layer& m) {
             const Tensor window = where(m.is_seen(), m.zero(), -infinity);
             return m.attended(tanh(m.scores() / 50) * 50 + window + m.g.input("m", DType::f32, {2, 1, 1, 9}));
         }},
        {"two added, weights by hand", "causal=(1) pairs=(1) window=(4)", 4,
         [](Layer& m) {
             const Tensor window = where(m.is_seen(), m.zero(), -infinity);
             const Tensor s = m.scores() + window + m.g.input("m", DType::f32, {2, 1, 1, 9});
             const Tensor e = exp(s - max_reduce(s, {-1}, true));
             return m.weighted(e / sum(e, {-1}, true));
         }},
        {"a wide softmax", "causal=(1) window=(4) wide_softmax=(1)", 3,
         [](Layer& m) {
             const Tensor hidden = where(m.is_seen(), m.scores(), -infinity);
             return m.weighted(cast(softmax(cast(hidden, DType::f32)), DType::bf16));
         },
         DType::bf16},
    };
    return all;
}

TEST(HandWrittenExpressions, WindowsWithMasksAndBiases) {
    for (const auto& [name, attributes, operands, build, dtype] : windowed()) {
        Layer layer(dtype);
        layer.g.output("y", build(layer));
        const Proposed matches = proposed(layer.g);
        const fusion::Match* const match = match_at_output(matches, "attention");
        ASSERT_NE(match, nullptr) << name << "\n" << ir::print(*matches.graph);
        const std::string found = summary(matches, *match);
        EXPECT_TRUE(found.starts_with("attention " + std::string(attributes) + " scale=0.125 "))
            << name << ": " << found;
        EXPECT_EQ(match->inputs.size(), operands) << name << ": " << found;
        EXPECT_EQ(fault_in_matches(matches, 11), "") << name;
    }
}

}  // namespace
}  // namespace cairn::test
