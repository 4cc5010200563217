#include "tests/fusion/hand_written_expressions.hpp"
#include "tests/fusion/match_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace cairn::test {
namespace {

using T = const Tensor&;

constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor Q(Graph& g) { return g.input("q", DType::f32, {2, 8, 7, 64}); }
Tensor K(Graph& g, int heads = 8) { return g.input("k", DType::f32, {2, heads, 7, 64}); }
Tensor V(Graph& g, int heads = 8) { return g.input("v", DType::f32, {2, heads, 7, 64}); }
Tensor kt(T k) { return swap_axes(k, -1, -2); }
Tensor sm(T s) {
    const Tensor e = exp(s - max_reduce(s, {-1}, true));
    return e / sum(e, {-1}, true);
}
Tensor S(Graph& g) { return matmul(Q(g), kt(K(g))) * 0.125; }
Tensor row_numbers(Graph& g) { return reshape(iota(g, 7), {7, 1}); }

TEST(HandWrittenExpressions, AttentionScores) {
    expect_match("attention", "scale after", [](Graph& g) { return matmul(sm(matmul(Q(g), kt(K(g))) * 0.125), V(g)); });
    expect_match("attention", "scale on q", [](Graph& g) { return matmul(sm(matmul(Q(g) * 0.125, kt(K(g)))), V(g)); });
    expect_match("attention", "scale on k", [](Graph& g) { return matmul(sm(matmul(Q(g), kt(K(g) * 0.125))), V(g)); });
    expect_match("attention", "scale^.5 on both", [](Graph& g) {
        double s = std::sqrt(0.125);
        return matmul(sm(matmul(Q(g) * s, kt(K(g) * s))), V(g));
    });
    expect_match("attention", "divide by 8", [](Graph& g) { return matmul(sm(matmul(Q(g), kt(K(g))) / 8), V(g)); });
    expect_match("attention", "divide by sqrt(d) tensor const", [](Graph& g) {
        return matmul(sm(matmul(Q(g), kt(K(g))) / sqrt(g.constant(DType::f32, 64.0))), V(g));
    });
    expect_match("attention", "no scale", [](Graph& g) { return matmul(sm(matmul(Q(g), kt(K(g)))), V(g)); });
    expect_match("attention", "no max subtraction", [](Graph& g) {
        auto e = exp(matmul(Q(g), kt(K(g))) * 0.125);
        return matmul(e / sum(e, {-1}, true), V(g));
    });
    expect_match("attention", "late normalisation (e@v)/sum", [](Graph& g) {
        auto s = matmul(Q(g), kt(K(g))) * 0.125;
        auto e = exp(s - max_reduce(s, {-1}, true));
        return matmul(e, V(g)) / sum(e, {-1}, true);
    });
    expect_match("attention", "3-D [BH,T,D] heads folded", [](Graph& g) {
        auto q = g.input("q", DType::f32, {16, 7, 64}), k = g.input("k", DType::f32, {16, 7, 64}),
             v = g.input("v", DType::f32, {16, 7, 64});
        return matmul(sm(matmul(q, kt(k)) * 0.125), v);
    });
    expect_match("attention", "2-D single head", [](Graph& g) {
        auto q = g.input("q", DType::f32, {7, 64}), k = g.input("k", DType::f32, {7, 64}),
             v = g.input("v", DType::f32, {7, 64});
        return matmul(sm(matmul(q, kt(k)) * 0.125), v);
    });
    expect_match("attention", "from [B,T,H,D] transposes", [](Graph& g) {
        auto x = g.input("x", DType::f32, {2, 7, 3 * 512});
        auto h = [&](int i) {
            return transpose(reshape(slice(x, -1, 512 * i, 512 * (i + 1)), {2, 7, 8, 64}), {0, 2, 1, 3});
        };
        return reshape(transpose(matmul(sm(matmul(h(0), kt(h(1))) * 0.125), h(2)), {0, 2, 1, 3}), {2, 7, 512});
    });
    expect_match("attention", "k transposed {0,2,3,1}", [](Graph& g) {
        auto x = g.input("x", DType::f32, {2, 7, 8, 64}), z = g.input("z", DType::f32, {2, 7, 8, 64});
        return matmul(sm(matmul(transpose(x, {0, 2, 1, 3}), transpose(z, {0, 2, 3, 1})) * 0.125), V(g));
    });
}

TEST(HandWrittenExpressions, AttentionMasks) {
    expect_match("attention", "causal where(r>=c,s,lowest)", [&](Graph& g) {
        return matmul(sm(where(row_numbers(g) >= iota(g, 7), S(g), -3.4028234663852886e38)), V(g));
    });
    expect_match("attention", "causal where(r>=c,s,-inf)",
                 [&](Graph& g) { return matmul(sm(where(row_numbers(g) >= iota(g, 7), S(g), -infinity)), V(g)); });
    expect_match("attention", "causal where(r>=c,s,-1e9)",
                 [&](Graph& g) { return matmul(sm(where(row_numbers(g) >= iota(g, 7), S(g), -1e9)), V(g)); });
    expect_match("attention", "causal where(r<c,-1e4,s)",
                 [&](Graph& g) { return matmul(sm(where(row_numbers(g) < iota(g, 7), -1e4, S(g))), V(g)); });
    expect_match("attention", "causal s + where(r>=c,0,-inf)", [&](Graph& g) {
        return matmul(sm(S(g) + where(row_numbers(g) >= iota(g, 7), g.constant(DType::f32, 0.0), -infinity)), V(g));
    });
    expect_match("attention", "causal s + where(r>=c,0,-1e9)", [&](Graph& g) {
        return matmul(sm(S(g) + where(row_numbers(g) >= iota(g, 7), g.constant(DType::f32, 0.0), -1e9)), V(g));
    });
    expect_match("attention", "causal s + (1-mask)*-1e9", [&](Graph& g) {
        auto m = cast(row_numbers(g) >= iota(g, 7), DType::f32);
        return matmul(sm(S(g) + (1 - m) * -1e9), V(g));
    });
    expect_refused("attention", "causal GPT-2: s*m - 1e10*(1-m)", "is not computed here", [&](Graph& g) {
        auto m = cast(row_numbers(g) >= iota(g, 7), DType::f32);
        return matmul(sm(S(g) * m - 1e10 * (1 - m)), V(g));
    });
    expect_match("attention", "causal constant bool table", [&](Graph& g) {
        std::vector<double> t;
        for (int i = 0; i < 7; ++i)
            for (int j = 0; j < 7; ++j) t.push_back(j <= i);
        return matmul(sm(where(g.constant(DType::boolean, {7, 7}, t), S(g), -infinity)), V(g));
    });
    expect_match("attention", "causal constant float table -inf", [&](Graph& g) {
        std::vector<double> t;
        for (int i = 0; i < 7; ++i)
            for (int j = 0; j < 7; ++j) t.push_back(j <= i ? 0 : -infinity);
        return matmul(sm(S(g) + g.constant(DType::f32, {7, 7}, t)), V(g));
    });
    expect_match("attention", "causal iota float compare", [&](Graph& g) {
        return matmul(sm(where(reshape(iota(g, 7, DType::f32), {7, 1}) >= iota(g, 7, DType::f32), S(g), -infinity)),
                      V(g));
    });
    expect_match("attention", "causal mask weight tensor (GPT-2 buffer)", [&](Graph& g) {
        auto m = g.weight("bias", DType::boolean, {1, 1, 7, 7});
        return matmul(sm(where(m, S(g), -infinity)), V(g));
    });
    expect_match("attention", "input additive mask f32[B,1,1,S] (HF)", [&](Graph& g) {
        auto m = g.input("m", DType::f32, {2, 1, 1, 7});
        return matmul(sm(S(g) + m), V(g));
    });
    expect_match("attention", "input additive bias f32[1,H,T,S] (T5/ALiBi)", [&](Graph& g) {
        auto m = g.input("m", DType::f32, {1, 8, 7, 7});
        return matmul(sm(S(g) + m), V(g));
    });
    expect_match("attention", "key mask bool [B,S]", [&](Graph& g) {
        auto m = g.input("m", DType::boolean, {2, 7});
        return matmul(sm(where(reshape(m, {2, 1, 1, 7}), S(g), -infinity)), V(g));
    });
    expect_match("attention", "key mask i64 [B,S] ==0 -> -inf", [&](Graph& g) {
        auto m = g.input("m", DType::i64, {2, 7});
        return matmul(sm(where(reshape(m, {2, 1, 1, 7}) == 0, -infinity, S(g))), V(g));
    });
    expect_match("attention", "key mask f32 (1-m)*lowest (HF BERT)", [&](Graph& g) {
        auto m = g.input("m", DType::f32, {2, 7});
        return matmul(sm(S(g) + (1 - reshape(m, {2, 1, 1, 7})) * -3.4028234663852886e38), V(g));
    });
    expect_match("attention", "key mask f32 (1-m)*-10000", [&](Graph& g) {
        auto m = g.input("m", DType::f32, {2, 7});
        return matmul(sm(S(g) + (1 - reshape(m, {2, 1, 1, 7})) * -10000), V(g));
    });
    expect_match("attention", "bool mask [B,1,T,S]", [&](Graph& g) {
        auto m = g.input("m", DType::boolean, {2, 1, 7, 7});
        return matmul(sm(where(m, S(g), -infinity)), V(g));
    });
    expect_refused("attention", "multiplicative mask after softmax, renorm", "is not computed here", [&](Graph& g) {
        auto m = g.input("m", DType::f32, {2, 1, 1, 7});
        auto p = sm(S(g)) * m;
        return matmul(p / sum(p, {-1}, true), V(g));
    });
    expect_match("attention", "sliding window r>=c && r-c<4", [&](Graph& g) {
        auto r = row_numbers(g), c = iota(g, 7);
        return matmul(sm(where(r >= c && (r - c) < 4, S(g), -infinity)), V(g));
    });
    expect_refused("attention", "attention sink / extra logit", "is not computed here", [&](Graph& g) {
        auto s = S(g);
        auto m = max(max_reduce(s, {-1}, true), 0);
        auto e = exp(s - m);
        return matmul(e / (sum(e, {-1}, true) + exp(-m)), V(g));
    });
}

// Gemma 2: layers with a window alternate with layers without.
TEST(HandWrittenExpressions, EachLayerHasItsOwnWindow) {
    const std::vector<std::int64_t> windows{4, 0, 4, 0, 2, 0, 4};
    Graph g("layers");
    Tensor x = Q(g);
    const Tensor apart = row_numbers(g) - iota(g, 7);
    for (const std::int64_t window : windows) {
        const std::string layer = std::to_string(g.data()->nodes().size());
        const Tensor k = g.input("k" + layer, DType::f32, {2, 8, 7, 64}),
                     v = g.input("v" + layer, DType::f32, {2, 8, 7, 64});
        const Tensor seen = window == 0 ? apart >= 0 : apart >= 0 && apart < window;
        x = matmul(sm(where(seen, matmul(x, kt(k)) * 0.125, -infinity)), v);
    }
    g.output("y", x);
    const Proposed matches = proposed(g);
    std::vector<std::int64_t> found;
    for (const fusion::Match& match : matches.matches)
        if (match.definition == "attention")
            found.push_back(match.attributes.has("window") ? match.attributes.integer("window") : 0);
    EXPECT_EQ(found, windows);
    EXPECT_EQ(fault_in_matches(matches, 11), "");
}

Tensor masked(Graph& g, T s, int mask) {
    switch (mask) {
        case 1: return where(row_numbers(g) >= iota(g, 7), s, -infinity);
        case 2: return where(g.input("m", DType::boolean, {2, 1, 1, 7}), s, -1e9);
        case 3: return where(g.input("m", DType::boolean, {2, 1, 7, 7}), -infinity, s);
        case 4: return s + g.input("m", DType::f32, {2, 1, 1, 7});
        case 5: return s + g.input("m", DType::f32, {7, 7});
        case 6: return where(row_numbers(g) >= iota(g, 7), s + g.input("m", DType::f32, {2, 1, 1, 7}), -1e9);
        case 7: return where(row_numbers(g) >= iota(g, 7) && g.input("m", DType::boolean, {2, 1, 1, 7}), s, -1e9);
        default: return s;
    }
}
constexpr int masks = 8;

// Gemma 2: the cap is between the scores and the mask.
TEST(HandWrittenExpressions, AttentionWithCappedScores) {
    for (int mask = 0; mask < masks; ++mask)
        for (const int heads : {1, 4, 8})
            expect_match("attention", "softcap, heads " + std::to_string(heads) + ", mask " + std::to_string(mask),
                         [&](Graph& g) {
                             const auto each = [&](T x) { return heads == 4 ? repeat(x, 2, 1) : x; };
                             const Tensor s = matmul(Q(g), kt(each(K(g, heads)))) * 0.125;
                             return matmul(sm(masked(g, tanh(s / 30) * 30, mask)), each(V(g, heads)));
                         });
    expect_match("attention", "by the composite, heads in five axes", [](Graph& g) {
        AttentionOptions options;
        options.causal = true;
        options.softcap = 50;
        return attention(Q(g), K(g, 2), V(g, 2), options);
    });
    expect_refused("attention", "another cap behind", "", [](Graph& g) {
        const Tensor s = S(g);
        return matmul(sm(tanh(s / 30) * 30 + tanh(s / 20)), V(g));
    });
}

// T5, ALiBi: a bias for each head plus a mask; no node holds their sum.
TEST(HandWrittenExpressions, AttentionWithABiasAndAMask) {
    for (int mask = 1; mask < masks; ++mask)
        for (const bool of_keys : {false, true})
            for (const int heads : {1, 4, 8})
                expect_match("attention",
                             "bias, heads " + std::to_string(heads) + ", mask " + std::to_string(mask) +
                                 (of_keys ? " ALiBi" : ""),
                             [&](Graph& g) {
                                 const auto each = [&](T x) { return heads == 4 ? repeat(x, 2, 1) : x; };
                                 const Tensor bias = g.input("bias", DType::f32, {1, 8, of_keys ? 1 : 7, 7});
                                 const Tensor s = matmul(Q(g), kt(each(K(g, heads)))) * 0.125;
                                 return matmul(sm(masked(g, s + bias, mask)), each(V(g, heads)));
                             });
    expect_match("attention", "T5: no scale", [](Graph& g) {
        const Tensor bias = g.input("bias", DType::f32, {1, 8, 7, 7}), mask = g.input("m", DType::f32, {2, 1, 1, 7});
        return matmul(sm(matmul(Q(g), kt(K(g))) + bias + mask), V(g));
    });
    expect_match("attention", "T5: (1 - m) * lowest", [](Graph& g) {
        const Tensor bias = g.input("bias", DType::f32, {1, 8, 7, 7}), m = g.input("m", DType::f32, {2, 1, 1, 7});
        return matmul(sm(S(g) + bias + (1 - m) * -3.4028234663852886e38), V(g));
    });
    expect_match("attention", "heads in five axes", [](Graph& g) {
        const Tensor q = g.input("q", DType::f32, {2, 4, 2, 7, 64}), k = g.input("k", DType::f32, {2, 4, 1, 7, 64}),
                     v = g.input("v", DType::f32, {2, 4, 1, 7, 64});
        const Tensor bias = g.input("bias", DType::f32, {1, 4, 2, 7, 7});
        return matmul(sm(matmul(q, kt(k)) * 0.125 + bias + g.input("m", DType::f32, {2, 1, 1, 1, 7})), v);
    });
}

TEST(HandWrittenExpressions, AttentionHeads) {
    for (const int mask : {0, 1, 2, 3, 4})
        for (const bool is_added_axis : {false, true})
            expect_match("attention", "GQA, heads in groups, mask " + std::to_string(mask), [=](Graph& g) {
                const Tensor x = g.input("x", DType::f32, {2, 7, 32}), w = g.weight("w", DType::f32, {32, 512});
                const Tensor q = transpose(reshape(matmul(x, w), {2, 7, 4, 2, 64}), {0, 2, 3, 1, 4});
                const auto one_a_group = [&](const char* name) {
                    return is_added_axis ? unsqueeze(g.input(name, DType::f32, {2, 4, 7, 64}), 2)
                                         : g.input(name, DType::f32, {2, 4, 1, 7, 64});
                };
                const Tensor k = one_a_group("k"), v = one_a_group("v");
                Tensor s = matmul(q, kt(k)) * 0.125;
                if (mask == 1) s = where(row_numbers(g) >= iota(g, 7), s, -infinity);
                if (mask == 2) s = where(reshape(g.input("m", DType::boolean, {2, 7}), {2, 1, 1, 1, 7}), s, -1e9);
                if (mask == 3) s = s + g.input("m", DType::f32, {2, 1, 1, 7, 7});
                if (mask == 4) s = s + g.input("m", DType::f32, {7, 7});
                return matmul(sm(s), v);
            });
    // One query head for each key head, and one key head for all, in five axes.
    for (int mask = 0; mask < masks; ++mask)
        for (const int groups : {1, 8})
            expect_match(
                "attention", "5 axes, groups " + std::to_string(groups) + ", mask " + std::to_string(mask),
                [=](Graph& g) {
                    const Tensor q = g.input("q", DType::f32, {2, groups, 8 / groups, 7, 64}),
                                 k = g.input("k", DType::f32, {2, groups, 1, 7, 64}),
                                 v = g.input("v", DType::f32, {2, groups, 1, 7, 64});
                    const auto of_keys = [&](DType dtype) {
                        return reshape(g.input("m", dtype, {2, 7}), {2, 1, 1, 1, 7});
                    };
                    const Tensor s = matmul(q, kt(k)) * 0.125, past = row_numbers(g) >= iota(g, 7);
                    switch (mask) {
                        case 1: return matmul(sm(where(past, s, -infinity)), v);
                        case 2: return matmul(sm(where(of_keys(DType::boolean), s, -1e9)), v);
                        case 3: return matmul(sm(where(of_keys(DType::boolean), -1e9, s)), v);
                        case 4: return matmul(sm(s + of_keys(DType::f32)), v);
                        case 5: return matmul(sm(s + g.input("m", DType::f32, {7, 7})), v);
                        case 6: return matmul(sm(where(past && of_keys(DType::boolean), s, -1e9)), v);
                        case 7: return matmul(sm(where(g.input("m", DType::boolean, {2, 1, 1, 7, 7}), s, -1e9)), v);
                        default: return matmul(sm(s), v);
                    }
                });
    expect_match("attention", "GQA repeat_kv (broadcast+reshape)", [](Graph& g) {
        auto rep = [&](T k) {
            return reshape(broadcast(reshape(k, {2, 4, 1, 7, 64}), {2, 4, 2, 7, 64}), {2, 8, 7, 64});
        };
        return matmul(sm(matmul(Q(g), kt(rep(K(g, 4)))) * 0.125), rep(V(g, 4)));
    });
    expect_match("attention", "GQA grouped 5-D", [](Graph& g) {
        auto q = reshape(Q(g), {2, 4, 2, 7, 64});
        auto k = reshape(K(g, 4), {2, 4, 1, 7, 64}), v = reshape(V(g, 4), {2, 4, 1, 7, 64});
        return reshape(matmul(sm(matmul(q, kt(k)) * 0.125), v), {2, 8, 7, 64});
    });
    expect_match("attention", "GQA gather heads", [](Graph& g) {
        std::vector<double> ix{0, 0, 1, 1, 2, 2, 3, 3};
        auto i = g.constant(DType::i32, {8}, ix);
        return matmul(sm(matmul(Q(g), kt(gather(K(g, 4), i, 1))) * 0.125), gather(V(g, 4), i, 1));
    });
    expect_match("attention", "GQA concat repeat_interleave", [](Graph& g) {
        auto rep = [&](T k) {
            std::vector<Tensor> p;
            for (int h = 0; h < 4; h++) {
                auto s = slice(k, 1, h, h + 1);
                p.push_back(s);
                p.push_back(s);
            }
            return concat(std::span<const Tensor>(p), 1);
        };
        return matmul(sm(matmul(Q(g), kt(rep(K(g, 4)))) * 0.125), rep(V(g, 4)));
    });
    expect_match("attention", "GQA q folded to [B,G,R*T,D]", [](Graph& g) {
        auto q = reshape(Q(g), {2, 4, 14, 64});
        return reshape(matmul(sm(matmul(q, kt(K(g, 4))) * 0.125), V(g, 4)), {2, 8, 7, 64});
    });
    expect_match("attention", "MQA broadcast heads",
                 [](Graph& g) { return matmul(sm(matmul(Q(g), kt(K(g, 1))) * 0.125), V(g, 1)); });
    // The same code for all groups of heads, also for one key head and for as many as query heads.
    for (const int heads : {1, 2, 8})
        for (const bool causal : {false, true})
            expect_match("attention", "GQA in 5 axes, key heads " + std::to_string(heads) + (causal ? ", causal" : ""),
                         [&](Graph& g) {
                             const Tensor q = reshape(Q(g), {2, heads, 8 / heads, 7, 64});
                             const Tensor k = unsqueeze(K(g, heads), 2), v = unsqueeze(V(g, heads), 2);
                             Tensor scores = matmul(q, kt(k)) * 0.125;
                             const Tensor row = unsqueeze(iota(g, 7), -1);
                             if (causal) scores = where(row >= iota(g, 7), scores, -1e9);
                             return reshape(matmul(sm(scores), v), {2, 8, 7, 64});
                         });
    expect_match("attention", "decode T=1 q [2,8,1,64]", [](Graph& g) {
        auto q = g.input("q1", DType::f32, {2, 8, 1, 64});
        return matmul(sm(matmul(q, kt(K(g))) * 0.125), V(g));
    });
    expect_match("attention", "decode T=1 B=1 H=1", [](Graph& g) {
        auto q = g.input("q1", DType::f32, {1, 8, 1, 64}), k = g.input("k1", DType::f32, {1, 8, 9, 64}),
             v = g.input("v1", DType::f32, {1, 8, 9, 64});
        return matmul(sm(matmul(q, kt(k)) * 0.125), v);
    });
    expect_match("attention", "bf16 qk, f32 softmax, cast back", [](Graph& g) {
        auto q = g.input("q", DType::bf16, {2, 8, 7, 64}), k = g.input("k", DType::bf16, {2, 8, 7, 64}),
             v = g.input("v", DType::bf16, {2, 8, 7, 64});
        return matmul(cast(sm(cast(matmul(q, kt(k)) * 0.125, DType::f32)), DType::bf16), v);
    });
    expect_match("attention", "v dim 32 != 64", [&](Graph& g) {
        return matmul(sm(S(g)), g.input("v", DType::f32, {2, 8, 7, 32}));
    });
    expect_match("attention", "unnamed einsum: (k q^T)^T",
                 [](Graph& g) { return matmul(sm(kt(matmul(K(g), kt(Q(g)))) * 0.125), V(g)); });
    expect_match("attention", "attention + q bias/rope'd q", [](Graph& g) {
        auto p = iota(g, 7);
        return matmul(sm(matmul(rope(Q(g), p), kt(rope(K(g), p))) * 0.125), V(g));
    });
    expect_match("rope", "half split", [](Graph& g) { return rope(Q(g), iota(g, 7)); });
}

// Operands with fewer axes than the composite takes.
TEST(HandWrittenExpressions, AttentionWithAddedAxes) {
    const auto input = [](Graph& g, const char* name, std::int64_t rows, int axes, std::int64_t heads = 8) {
        Shape shape{1, heads, rows, 64};
        shape.erase(shape.begin(), shape.end() - axes);
        Tensor x = g.input(name, DType::f32, shape);
        while (x.rank() < 4) x = unsqueeze(x, 0);
        return x;
    };
    for (const bool causal : {false, true})
        for (int q_axes = 3; q_axes <= 4; ++q_axes)
            for (int k_axes = 3; k_axes <= 4; ++k_axes)
                for (const std::int64_t heads : {1, 4, 8})
                    expect_match("attention", "axes " + std::to_string(q_axes) + std::to_string(k_axes), [&](Graph& g) {
                        return attention(input(g, "q", 7, q_axes), input(g, "k", 9, k_axes, heads),
                                         input(g, "v", 9, k_axes, heads), {.causal = causal});
                    });
    expect_match("attention", "two axes added", [&](Graph& g) {
        return attention(input(g, "q", 7, 2), input(g, "k", 9, 2), input(g, "v", 9, 2), {.causal = true});
    });
    expect_match("attention", "one added behind a split of heads", [](Graph& g) {
        const auto heads = [&](const char* name, std::int64_t rows) {
            return unsqueeze(transpose(reshape(g.input(name, DType::f32, {rows, 512}), {rows, 8, 64}), {1, 0, 2}), 0);
        };
        return attention(heads("q", 7), heads("k", 9), heads("v", 9), {.causal = true});
    });
}

}  // namespace
}  // namespace cairn::test
