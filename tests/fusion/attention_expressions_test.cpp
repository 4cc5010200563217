#include "tests/fusion/expressions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cairn::test::attention_expressions {
namespace {

using T = const Tensor&;
using Mask = std::function<Tensor(const Tensors&)>;
constexpr double lowest = std::numeric_limits<float>::lowest();

// q [2,H,T,4], k and v [2,H,past+T,4], keys [2,past+T].
Tensors operands(Graph& g) {
    const Dim t = g.symbol("T", 1, 3), past = g.symbol("past", 0, 3), s = past + t;
    return {g.input("q", DType::f32, {2, 3, t, 4}), g.input("k", DType::f32, {2, 3, s, 4}),
            g.input("v", DType::f32, {2, 3, s, 4}), g.input("keys", DType::boolean, {2, s})};
}

Graph graph_of(T x) { return Graph(x.graph()); }
Tensor zero(const Tensors& t) { return graph_of(t[0]).constant(DType::f32, 0.0); }
Dim queries(const Tensors& t) { return t[0].dim(2); }
Dim keys(const Tensors& t) { return t[1].dim(2); }

// The parts of which an expression is composed.
struct Scores {
    const char* text;
    Tensor (*build)(T q, T k);
};
Tensor flipped(T k) { return swap_axes(k, -1, -2); }
const Scores scores[] = {
    {"q@k' * 0.5", [](T q, T k) { return matmul(q, flipped(k)) * 0.5; }},
    {"q@k' / 2", [](T q, T k) { return matmul(q, flipped(k)) / std::sqrt(4.0); }},
    {"(q * 0.5)@k'", [](T q, T k) { return matmul(q * 0.5, flipped(k)); }},
    {"q@(k / 2)'", [](T q, T k) { return matmul(q, flipped(k / 2)); }},
    {"(q*0.70710678)@(k*0.70710678)'", [](T q, T k) { return matmul(q * 0.70710678, flipped(k * 0.70710678)); }},
    {"q@(0.5 k')", [](T q, T k) { return matmul(q, 0.5 * flipped(k)); }},
};
struct Weights {
    const char* text;
    Tensor (*build)(T s);
};
const Weights weights[] = {
    {"softmax", [](T s) { return softmax(s); }},
    {"exp/broadcast(sum)",
     [](T s) {
         const Tensor e = exp(s - broadcast(max_reduce(s, {-1}, true), s.shape()));
         return e / broadcast(sum(e, {-1}, true), s.shape());
     }},
    {"exp*(1/sum)",
     [](T s) {
         const Tensor e = exp(s + -unsqueeze(max_reduce(s, {-1}), -1));
         return e * (1 / sum(e, {-1}, true));
     }},
    {"pow",
     [](T s) {
         const Tensor e = exp(-(max_reduce(s, {-1}, true) - s));
         return pow(sum(e, {-1}, true), -1) * e;
     }},
};

Tensor attend(const Tensors& t, const Scores& score, const Mask& mask, const Weights& weight) {
    const Tensor s = score.build(t[0], t[1]);
    return matmul(weight.build(mask ? where(mask(t), s, lowest) : s), t[2]);
}

TEST(Expressions, Attention) {
    const Family family{"attention",
                        operands,
                        "attention causal=(0) scale=0.5 (q, k, v)",
                        {{"scores + 1 for one key", "attention causal=(0) pairs=(1) scale=0.5 (q, k, v, %5)"},
                         {"tanh of scores", "attention causal=(0) softcap=1 scale=0.5 (q, k, v)"}}};
    std::vector<Expression> found;
    for (const Scores& score : scores)
        for (const Weights& weight : weights)
            found.push_back({std::string(weight.text) + " of " + score.text,
                             [score, weight](const Tensors& t) { return attend(t, score, nullptr, weight); }});
    expect_found(family, found);

    const auto s = [](const Tensors& t) { return matmul(t[0], flipped(t[1])) * 0.5; };
    const auto e = [s](const Tensors& t) { return exp(s(t) - max_reduce(s(t), {-1}, true)); };
    const auto with = [](Tensor w, const Tensors& t) { return matmul(w, t[2]); };
    expect_missed(
        family,
        {
            {"k and v swapped halfway",
             [s](const Tensors& t) { return matmul(softmax(s(t)), t[1] + t[2] * 0.1) * 1.5; }},
            {"scale 0.5 and 1.001 in turn",
             [](const Tensors& t) { return matmul(softmax(1.001 * matmul(t[0], flipped(t[1]))) * 0.5, exp(t[2])); }},
            {"scale after softmax",
             [](const Tensors& t) { return matmul(softmax(matmul(t[0], flipped(t[1]))) * 0.5, t[2]); }},
            {"scale on v", [](const Tensors& t) { return matmul(softmax(matmul(t[0], flipped(t[1]))), t[2]) * 0.5; }},
            {"scale on v inside", [](const Tensors& t) { return -matmul(softmax(matmul(t[0], flipped(t[1]))), t[2]); }},
            {"softmax over queries", [s, with](const Tensors& t) { return with(softmax(s(t), -2), t); }},
            {"softmax over heads", [s, with](const Tensors& t) { return with(softmax(s(t), 1), t); }},
            {"no softmax", [s, with](const Tensors& t) { return with(s(t), t); }},
            {"exp without sum", [=](const Tensors& t) { return with(e(t), t); }},
            {"sum + 1e-3", [=](const Tensors& t) { return with(e(t) / (sum(e(t), {-1}, true) + 1e-3), t); }},
            {"sum over queries", [=](const Tensors& t) { return with(e(t) / sum(e(t), {-2}, true), t); }},
            {"max over queries",
             [s, with](const Tensors& t) {
                 const Tensor e = exp(s(t) - max_reduce(s(t), {-2}, true));
                 return with(e / sum(e, {-1}, true), t);
             }},
            {"scores + 1 for one key",
             [s, with](const Tensors& t) {
                 return with(softmax(s(t) + cast(reshape(t[3], {2, 1, 1, keys(t)}), DType::f32)), t);
             }},
            {"scores squared", [s, with](const Tensors& t) { return with(softmax(s(t) * s(t)), t); }},
            {"tanh of scores", [s, with](const Tensors& t) { return with(softmax(tanh(s(t))), t); }},
            {"scores in f16",
             [s, with](const Tensors& t) { return with(softmax(cast(cast(s(t), DType::f16), DType::f32)), t); }},
            {"softmax in f16",
             [s, with](const Tensors& t) { return with(cast(softmax(cast(s(t), DType::f16)), DType::f32), t); }},
            {"dropout by half", [s, with](const Tensors& t) { return with(softmax(s(t)) * 0.999, t); }},
            {"softmax + 1e-3", [s, with](const Tensors& t) { return with(softmax(s(t)) + 1e-3, t); }},
            {"log_softmax", [s, with](const Tensors& t) { return with(log_softmax(s(t)), t); }},
            {"residual", [s, with](const Tensors& t) { return with(softmax(s(t)), t) + t[0]; }},
            {"heads joined", [s, with](const Tensors& t) { return swap_axes(with(softmax(s(t)), t), 1, 2); }},
        });
}

// Query i of T sees keys up to past + i: rows count queries from `start`, columns count keys.
Dim past(const Tensors& t) { return keys(t) - queries(t); }
Tensor rows(const Tensors& t, const Dim& start, DType dtype = DType::i32) {
    return unsqueeze(iota(graph_of(t[0]), queries(t), dtype, start), 1);
}
Tensor columns(const Tensors& t, const Dim& start = 0, DType dtype = DType::i32) {
    return iota(graph_of(t[0]), keys(t), dtype, start);
}
Tensor number(const Tensors& t, const Dim& value) { return graph_of(t[0]).constant(DType::i32, value); }

const std::pair<const char*, Mask> causal_masks[] = {
    {"rows >= columns",
     [](const Tensors& t) {
         return reshape(iota(graph_of(t[0]), queries(t), DType::i32, past(t)), {queries(t), 1}) >= columns(t);
     }},
    {"columns <= rows", [](const Tensors& t) { return columns(t) <= rows(t, past(t)); }},
    {"columns < rows + 1", [](const Tensors& t) { return columns(t) < rows(t, past(t)) + 1; }},
    {"rows > columns - 1", [](const Tensors& t) { return rows(t, past(t)) > columns(t) - 1; }},
    {"rows + 1 > columns", [](const Tensors& t) { return rows(t, past(t) + 1) > columns(t); }},
    {"not (columns > rows)", [](const Tensors& t) { return !(columns(t) > rows(t, past(t))); }},
    {"i + past >= j", [](const Tensors& t) { return rows(t, 0) + number(t, past(t)) >= columns(t); }},
    {"i >= j - past", [](const Tensors& t) { return rows(t, 0) >= columns(t) - number(t, past(t)); }},
    {"i >= iota from -past", [](const Tensors& t) { return rows(t, 0) >= columns(t, queries(t) - keys(t)); }},
    {"j - i <= past", [](const Tensors& t) { return columns(t) - rows(t, 0) <= number(t, past(t)); }},
    {"0 <= i + past - j", [](const Tensors& t) { return 0 <= rows(t, past(t)) - columns(t); }},
    {"-j >= -(i + past)", [](const Tensors& t) { return -columns(t) >= -rows(t, past(t)); }},
    {"i + past >= j in i64",
     [](const Tensors& t) { return rows(t, past(t), DType::i64) >= columns(t, 0, DType::i64); }},
    {"i + past cast to i64",
     [](const Tensors& t) { return cast(rows(t, past(t)), DType::i64) >= columns(t, 0, DType::i64); }},
};

TEST(Expressions, CausalAttention) {
    const Family family{
        "attention",
        operands,
        "attention causal=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v)",
        {{"strictly before", "attention causal=(0) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %11)"},
         {"one further", "attention causal=(0) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %11)"},
         {"from the first key", "attention causal=(0) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %11)"},
         {"keys after", "attention causal=(0) window=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v)"},
         {"anti-causal", "attention causal=(0) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %11)"},
         {"equal", "attention causal=(0) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %11)"},
         {"two past", "attention causal=(0) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %11)"},
         {"2 rows", "attention causal=(0) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %13)"},
         {"window of two", "attention causal=(1) window=(2) scale=0.5 masked_score=-3.4028235e+38 (q, k, v)"},
         {"or the first key", "attention causal=(0) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %14)"},
         {"branches swapped",
          "attention causal=(0) pairs=(1) hides=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %11)"},
         {"added weak mask", "attention causal=(0) pairs=(1) scale=0.5 (q, k, v, %10)"},
         {"added 1 too", "attention causal=(0) pairs=(1) scale=0.5 (q, k, v, %10)"},
         {"float rows in f16", "attention causal=(0) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %17)"}}};
    std::vector<Expression> found;
    for (const auto& [text, mask] : causal_masks) {
        found.push_back({text, [m = mask](const Tensors& t) { return attend(t, scores[0], m, weights[0]); }});
        found.push_back({std::string("not, swapped: ") + text, [m = mask](const Tensors& t) {
                             const Tensor s = matmul(t[0] * 0.5, flipped(t[1]));
                             return matmul(softmax(where(!m(t), lowest, s)), t[2]);
                         }});
    }
    found.push_back({"added mask", [](const Tensors& t) {
                         const Tensor mask =
                             where(causal_masks[0].second(t), graph_of(t[0]).constant(DType::f32, 0.0), lowest);
                         return matmul(softmax(matmul(t[0], flipped(t[1])) * 0.5 + mask), t[2]);
                     }});
    found.push_back({"the composite", [](const Tensors& t) {
                         return attention(t[0], t[1], t[2], {.causal = true, .scale = {}, .masked_score = {}});
                     }});
    expect_found(family, found);

    const auto masked = [](const Mask& mask) {
        return [mask](const Tensors& t) { return attend(t, scores[0], mask, weights[0]); };
    };
    const auto s = [](const Tensors& t) { return matmul(t[0], flipped(t[1])) * 0.5; };
    const Mask right = causal_masks[0].second;
    expect_missed(
        family,
        {
            {"strictly before", masked([](const Tensors& t) { return rows(t, past(t)) > columns(t); })},
            {"one further", masked([](const Tensors& t) { return rows(t, past(t) + 1) >= columns(t); })},
            {"from the first key", masked([](const Tensors& t) { return rows(t, 0) >= columns(t); })},
            {"keys after", masked([](const Tensors& t) { return rows(t, past(t)) <= columns(t); })},
            {"anti-causal", masked([](const Tensors& t) { return !(rows(t, past(t)) >= columns(t)); })},
            {"equal", masked([](const Tensors& t) { return rows(t, past(t)) == columns(t); })},
            {"two past", masked([](const Tensors& t) { return rows(t, 2 * past(t)) >= columns(t); })},
            {"2 rows", masked([](const Tensors& t) { return 2 * rows(t, past(t)) >= columns(t); })},
            {"window of two", masked([](const Tensors& t) {
                 return rows(t, past(t)) >= columns(t) && rows(t, past(t) - 1) <= columns(t);
             })},
            {"or the first key",
             masked([](const Tensors& t) { return rows(t, past(t)) >= columns(t) || columns(t) == 0; })},
            {"branches swapped",
             [=](const Tensors& t) { return matmul(softmax(where(right(t), lowest, s(t))), t[2]); }},
            {"mask after softmax", [=](const Tensors& t) { return matmul(where(right(t), softmax(s(t)), 0), t[2]); }},
            {"mask before the scale",
             [=](const Tensors& t) { return matmul(softmax(where(right(t), s(t), lowest / 2) * 2), t[2] * 2); }},
            {"added weak mask",
             [=](const Tensors& t) { return matmul(softmax(s(t) + where(right(t), zero(t), -4)), t[2]); }},
            {"added 1 too",
             [=](const Tensors& t) { return matmul(softmax(s(t) + where(right(t), zero(t) + 1, lowest)), t[2]); }},
            {"where the score is",
             [=](const Tensors& t) { return matmul(softmax(where(s(t) >= 0, s(t), lowest)), t[2]); }},
            {"other scores hidden",
             [=](const Tensors& t) { return matmul(softmax(where(right(t), s(t), -s(t))), t[2]); }},
            {"max over queries",
             [=](const Tensors& t) {
                 const Tensor m = where(right(t), s(t), lowest), e = exp(m - max_reduce(m, {-2}, true));
                 return matmul(e / sum(e, {-1}, true), t[2]);
             }},
            {"sum before masking",
             [=](const Tensors& t) {
                 const Tensor m = where(right(t), s(t), lowest), e = exp(m - max_reduce(m, {-1}, true));
                 return matmul(e / sum(exp(s(t)), {-1}, true), t[2]);
             }},
            {"float rows in f16", masked([](const Tensors& t) {
                 return cast(rows(t, past(t)), DType::f16) + 0.5 >= cast(columns(t), DType::f16) * 2;
             })},
        });
}

// Keys up to 2 positions before its own are in each query's window: i - j < 3, with positions counted from either end.
const std::pair<const char*, Mask> windows[] = {
    {"i - j < 3", [](const Tensors& t) { return rows(t, past(t)) - columns(t) < 3; }},
    {"i - j <= 2", [](const Tensors& t) { return rows(t, past(t)) - columns(t) <= 2; }},
    {"3 > i - j", [](const Tensors& t) { return 3 > rows(t, past(t)) - columns(t); }},
    {"j > i - 3", [](const Tensors& t) { return columns(t) > rows(t, past(t)) - 3; }},
    {"j >= i - 2", [](const Tensors& t) { return columns(t) >= rows(t, past(t)) - 2; }},
    {"j + 3 > i", [](const Tensors& t) { return columns(t) + 3 > rows(t, past(t)); }},
    {"j from 3 > i", [](const Tensors& t) { return columns(t, 3) > rows(t, past(t)); }},
    {"i from past - 2 <= j", [](const Tensors& t) { return rows(t, past(t) - 2) <= columns(t); }},
    {"not (i - j >= 3)", [](const Tensors& t) { return !(rows(t, past(t)) - columns(t) >= 3); }},
    {"not (j <= i - 3)", [](const Tensors& t) { return !(columns(t) <= rows(t, past(t)) - 3); }},
    {"j - i > -3", [](const Tensors& t) { return columns(t) - rows(t, past(t)) > -3; }},
    {"i + past - 2 <= j", [](const Tensors& t) { return rows(t, 0) + number(t, past(t) - 2) <= columns(t); }},
    {"-2 <= j - (i + past)", [](const Tensors& t) { return -2 <= columns(t) - rows(t, past(t)); }},
    {"i - j < 3 in i64", [](const Tensors& t) { return rows(t, past(t), DType::i64) - columns(t, 0, DType::i64) < 3; }},
};
Mask both(const Mask& a, const Mask& b) {
    return [=](const Tensors& t) { return a(t) && b(t); };
}

TEST(Expressions, AttentionWithinAWindow) {
    const auto masked_by_pairs = [](const std::string& hides) {
        return "attention causal=(0) pairs=(1)" + hides + " scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %15)";
    };
    const auto within = [](int keys) {
        return "attention causal=(1) window=(" + std::to_string(keys) +
               ") scale=0.5 masked_score=-3.4028235e+38 (q, k, v)";
    };
    const Family family{
        "attention",
        operands,
        within(3),
        {{"i - j < 2", within(2)},
         {"i - j < 4", within(4)},
         {"i - j <= 3", within(4)},
         {"j > i - 4", within(4)},
         {"a window of one", within(1)},
         {"far wider than the keys", within(2147483647)},
         {"beyond 31 bits", "attention causal=(1) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %17)"},
         {"the window alone", "attention causal=(0) window=(3) scale=0.5 masked_score=-3.4028235e+38 (q, k, v)"},
         {"either side of the query",
          "attention causal=(0) pairs=(1) window=(3) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %15)"},
         {"two windows",
          "attention causal=(1) pairs=(1) window=(3) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %22)"},
         {"the farther keys", "attention causal=(1) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %14)"},
         {"the two keys after three",
          "attention causal=(0) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %16)"},
         {"from the first key", "attention causal=(1) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %14)"},
         {"every other key", "attention causal=(1) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %16)"},
         {"as many keys as queries",
          "attention causal=(1) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %16)"},
         {"causal or within", masked_by_pairs("")},
         {"not both", masked_by_pairs(" hides=(1)")},
         {"exactly three before",
          "attention causal=(1) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %14)"},
         {"an added weak mask", "attention causal=(0) pairs=(1) scale=0.5 (q, k, v, %14)"}}};
    const Mask causal = causal_masks[0].second;
    const auto masked = [](const Mask& mask) {
        return [mask](const Tensors& t) { return attend(t, scores[0], mask, weights[0]); };
    };
    std::vector<Expression> found;
    for (const auto& [text, window] : windows) {
        found.push_back({text, masked(both(causal, window))});
        found.push_back({std::string("then causal: ") + text, masked(both(window, causal_masks[1].second))});
    }
    found.push_back({"hidden where either hides", [=](const Tensors& t) {
                         const Tensor hidden = columns(t) > rows(t, past(t)) || rows(t, past(t)) - columns(t) > 2;
                         return matmul(softmax(where(hidden, lowest, matmul(t[0], flipped(t[1])) * 0.5)), t[2]);
                     }});
    found.push_back({"one mask inside the other", [=](const Tensors& t) {
                         const Tensor s = matmul(t[0], flipped(t[1])) * 0.5;
                         return matmul(softmax(where(causal(t), where(windows[0].second(t), s, lowest), lowest)), t[2]);
                     }});
    found.push_back({"added mask", [=](const Tensors& t) {
                         const Tensor mask = where(both(causal, windows[3].second)(t), zero(t), lowest);
                         return matmul(softmax(matmul(t[0], flipped(t[1])) * 0.5 + mask), t[2]);
                     }});
    found.push_back(
        {"the composite", [](const Tensors& t) { return attention(t[0], t[1], t[2], {.causal = true, .window = 3}); }});
    expect_found(family, found);

    const auto with = [=](auto window) {
        return masked([=](const Tensors& t) { return causal(t) && window(rows(t, past(t)), columns(t), t); });
    };
    const auto s = [](const Tensors& t) { return matmul(t[0], flipped(t[1])) * 0.5; };
    using N = const Tensors&;
    expect_missed(
        family,
        {{"i - j < 2", with([](T i, T j, N) { return i - j < 2; })},
         {"i - j < 4", with([](T i, T j, N) { return i - j < 4; })},
         {"i - j <= 3", with([](T i, T j, N) { return i - j <= 3; })},
         {"j > i - 4", with([](T i, T j, N) { return j > i - 4; })},
         {"a window of one", with([](T i, T j, N) { return i - j < 1; })},
         {"far wider than the keys", with([](T i, T j, N) { return i - j < 2147483647; })},
         {"beyond 31 bits", masked([=](N t) {
              return causal(t) && rows(t, past(t), DType::i64) - columns(t, 0, DType::i64) < std::int64_t{2147483648};
          })},
         {"the window alone", masked(windows[0].second)},
         {"either side of the query", masked([](N t) {
              const Tensor apart = rows(t, past(t)) - columns(t);
              return apart < 3 && apart > -3;
          })},
         {"two windows", with([](T i, T j, N) { return i - j < 3 && j - i < 3 && 2 * i - j < 3; })},
         {"the farther keys", with([](T i, T j, N) { return i - j > 3; })},
         {"the two keys after three", masked([](N t) {
              const Tensor apart = columns(t) - rows(t, past(t));
              return apart > 3 && apart < 6;
          })},
         {"from the first key", with([](T, T j, N) { return j < 3; })},
         {"every other key", with([](T i, T j, N) { return i - 2 * j < 3; })},
         {"as many keys as queries", with([](T i, T j, N t) { return i - j < number(t, queries(t)); })},
         {"causal or within", masked([=](N t) { return causal(t) || windows[0].second(t); })},
         {"not both", masked([=](N t) { return !(causal(t) && windows[0].second(t)); })},
         {"exactly three before", with([](T i, T j, N) { return i - j != 3; })},
         {"an added weak mask",
          [=](N t) { return matmul(softmax(s(t) + where(causal(t) && windows[0].second(t), zero(t), -4)), t[2]); }},
         {"a window after the softmax",
          [=](N t) { return matmul(where(windows[0].second(t), softmax(where(causal(t), s(t), lowest)), 0), t[2]); }},
         {"another score outside of the window", [=](N t) {
              return matmul(softmax(where(causal(t), where(windows[0].second(t), s(t), -4), lowest)), t[2]);
          }}});
}

TEST(Expressions, AttentionWithAKeyMask) {
    const Family family{
        "attention",
        operands,
        "attention causal=(0) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, keys)",
        {{"branches swapped", "attention causal=(0) hides=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, keys)"},
         {"mask of the first row of the batch",
          "attention causal=(0) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %8)"},
         {"or causal", "attention causal=(0) pairs=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, %13)"},
         {"added weak mask", "attention causal=(0) pairs=(1) scale=0.5 (q, k, v, %7)"},
         {"added 1 too", "attention causal=(0) pairs=(1) scale=0.5 (q, k, v, %7)"},
         {"added ones", "attention causal=(0) pairs=(1) scale=0.5 (q, k, v, %5)"}}};
    const std::pair<const char*, Mask> masks[] = {
        {"[B,1,1,S]",
         [](const Tensors& t) {
             return reshape(t[3], {2, 1, 1, keys(t)});
         }},
        {"unsqueezed twice", [](const Tensors& t) { return unsqueeze(unsqueeze(t[3], 1), 1); }},
        {"not not",
         [](const Tensors& t) {
             return !!reshape(t[3], {2, 1, 1, keys(t)});
         }},
        {"broadcast",
         [](const Tensors& t) {
             return broadcast(reshape(t[3], {2, 1, 1, keys(t)}), {2, 3, queries(t), keys(t)});
         }},
    };
    std::vector<Expression> found;
    for (const auto& [text, mask] : masks)
        for (const Scores& score : scores)
            found.push_back({std::string(text) + ", " + score.text,
                             [m = mask, score](const Tensors& t) { return attend(t, score, m, weights[0]); }});
    expect_found(family, found);

    const auto s = [](const Tensors& t) { return matmul(t[0], flipped(t[1])) * 0.5; };
    const auto key = [](const Tensors& t) { return reshape(t[3], {2, 1, 1, keys(t)}); };
    const auto masked = [=](const Tensors& t) { return where(key(t), s(t), lowest); };
    const auto of_masked = [=](Tensor (*build)(T m)) {
        return [=](const Tensors& t) { return matmul(build(masked(t)), t[2]); };
    };
    const auto of_scores = [](auto build) { return [=](const Tensors& t) { return matmul(softmax(build(t)), t[2]); }; };
    expect_missed(
        family,
        {
            {"branches swapped", of_scores([=](const Tensors& t) { return where(key(t), lowest, s(t)); })},
            {"mask of the first row of the batch", of_scores([=](const Tensors& t) {
                 return where(reshape(slice(t[3], 0, 0, 1), {1, 1, 1, keys(t)}), s(t), lowest);
             })},
            {"mask of queries", of_scores([=](const Tensors& t) {
                 return where(reshape(slice(t[3], 1, 0, queries(t)), {2, 1, queries(t), 1}), s(t), lowest);
             })},
            {"or a score above 0",
             of_scores([=](const Tensors& t) { return where(key(t) || s(t) >= 0, s(t), lowest); })},
            {"and a score above 0",
             of_scores([=](const Tensors& t) { return where(key(t) && s(t) >= 0, s(t), lowest); })},
            {"or causal",
             of_scores([=](const Tensors& t) { return where(key(t) || causal_masks[0].second(t), s(t), lowest); })},
            {"added weak mask", of_scores([=](const Tensors& t) { return s(t) + where(key(t), zero(t), -4); })},
            {"added 1 too", of_scores([=](const Tensors& t) { return s(t) + where(key(t), zero(t) + 1, lowest); })},
            {"added ones", of_scores([=](const Tensors& t) { return s(t) + cast(key(t), DType::f32); })},
            {"times the mask", of_scores([=](const Tensors& t) { return s(t) * cast(key(t), DType::f32); })},
            {"negated scores hidden", of_scores([=](const Tensors& t) { return where(key(t), s(t), -s(t)); })},
            {"hidden by the row's least",
             of_scores([=](const Tensors& t) { return where(key(t), s(t), -max_reduce(-s(t), {-1}, true)); })},
            {"cubes of masked scores in the exponent", of_masked([](T m) {
                 const Tensor e = exp(m * m * m - max_reduce(m, {-1}, true));
                 return e / sum(e, {-1}, true);
             })},
            {"mask after softmax", [=](const Tensors& t) { return matmul(where(key(t), softmax(s(t)), 0), t[2]); }},
            {"mask after it too",
             [=](const Tensors& t) { return matmul(where(key(t), softmax(masked(t)), 0.1), t[2]); }},
            {"sum before masking",
             [=](const Tensors& t) {
                 const Tensor m = masked(t), top = max_reduce(m, {-1}, true);
                 return matmul(exp(m - top) / sum(exp(s(t) - top), {-1}, true), t[2]);
             }},
            {"softmax over queries", of_masked([](T m) { return softmax(m, -2); })},
            {"softmax over heads", of_masked([](T m) { return softmax(m, 1); })},
            {"sum + 1e-3", of_masked([](T m) {
                 const Tensor e = exp(m - max_reduce(m, {-1}, true));
                 return e / (sum(e, {-1}, true) + 1e-3);
             })},
            {"0.999 of the weights", of_masked([](T m) { return softmax(m) * 0.999; })},
            {"log_softmax", of_masked([](T m) { return log_softmax(m); })},
            {"scores in f16", of_masked([](T m) { return softmax(cast(cast(m, DType::f16), DType::f32)); })},
            {"residual", [=](const Tensors& t) { return matmul(softmax(masked(t)), t[2]) + t[0]; }},
        });
}

TEST(Expressions, AttentionMaskedByInfinity) {
    for (const bool is_added : {false, true}) {
        Graph g("g");
        const Tensors t = operands(g);
        const Tensor s = matmul(t[0], flipped(t[1])) * 0.5, visible = causal_masks[0].second(t);
        const double hidden = -std::numeric_limits<double>::infinity();
        const Tensor masked =
            is_added ? s + where(visible, g.constant(DType::f32, 0.0), hidden) : where(visible, s, hidden);
        g.output("y", matmul(softmax(masked), t[2]));
        const Proposed matches = proposed(g);
        const fusion::Match* match = match_at_output(matches, "attention");
        ASSERT_NE(match, nullptr) << is_added;
        EXPECT_EQ(summary(matches, *match), "attention causal=(1) scale=0.5 masked_score=-inf (q, k, v)");
    }
}

TEST(Expressions, CausalAttentionWithAKeyMask) {
    const Family family{"attention", operands,
                        "attention causal=(1) scale=0.5 masked_score=-3.4028235e+38 (q, k, v, keys)"};
    const auto key = [](const Tensors& t) { return reshape(t[3], {2, 1, 1, keys(t)}); };
    std::vector<Expression> found;
    for (const auto& [text, mask] : causal_masks) {
        found.push_back({std::string(text) + " and keys", [m = mask, key](const Tensors& t) {
                             return attend(
                                 t, scores[0], [&](const Tensors& u) { return m(u) && key(u); }, weights[0]);
                         }});
        found.push_back({std::string(text) + " within keys", [m = mask, key](const Tensors& t) {
                             const Tensor s = matmul(t[0], flipped(t[1])) * 0.5;
                             return matmul(softmax(where(key(t), where(m(t), s, lowest), lowest)), t[2]);
                         }});
    }
    expect_found(family, found);
}

TEST(Expressions, GroupedHeads) {
    const auto grouped = [](Graph& g) {
        const Dim t = g.symbol("T", 1, 3);
        return Tensors{g.input("q", DType::f32, {2, 6, t, 4}), g.input("k", DType::f32, {2, 2, t, 4}),
                       g.input("v", DType::f32, {2, 2, t, 4})};
    };
    const Family family{"attention",
                        grouped,
                        "attention causal=(0) scale=0.5 (q, k, v)",
                        {{"tanh of scores", "attention causal=(0) softcap=1 scale=0.5 (q, k, v)"}}};
    std::vector<Expression> found;
    for (const Scores& score : scores)
        for (const Weights& weight : weights)
            found.push_back({std::string(weight.text) + " of " + score.text, [score, weight](const Tensors& t) {
                                 const Dim n = t[0].dim(2);
                                 const Tensor q = reshape(t[0], {2, 2, 3, n, 4}), k = reshape(t[1], {2, 2, 1, n, 4}),
                                              v = reshape(t[2], {2, 2, 1, n, 4});
                                 return reshape(matmul(weight.build(score.build(q, k)), v), {2, 6, n, 4});
                             }});
    expect_found(family, found);

    struct Grouped {
        Tensor q, k, v;
    };
    const auto form = [](auto build) {
        return [=](const Tensors& t) {
            const Dim n = t[0].dim(2);
            const Grouped of{reshape(t[0], {2, 2, 3, n, 4}), reshape(t[1], {2, 2, 1, n, 4}),
                             reshape(t[2], {2, 2, 1, n, 4})};
            return reshape(build(of), {2, 6, n, 4});
        };
    };
    const auto s = [](const Grouped& of) { return matmul(of.q, flipped(of.k)) * 0.5; };
    const auto e = [=](const Grouped& of) { return exp(s(of) - max_reduce(s(of), {-1}, true)); };
    const auto other_heads = [](T x) { return concat({slice(x, 1, 1, 2), slice(x, 1, 0, 1)}, 1); };
    const auto interleaved = [](const Tensors& t) {
        const Dim n = t[0].dim(2);
        return transpose(reshape(t[0], {2, 3, 2, n, 4}), {0, 2, 1, 3, 4});
    };
    expect_missed(
        family,
        {
            {"interleaved groups",
             [=](const Tensors& t) {
                 const Dim n = t[0].dim(2);
                 const Tensor k = reshape(t[1], {2, 2, 1, n, 4}), v = reshape(t[2], {2, 2, 1, n, 4});
                 return reshape(matmul(softmax(matmul(interleaved(t), flipped(k)) * 0.5), v), {2, 6, n, 4});
             }},
            {"result interleaved",
             [=](const Tensors& t) {
                 const Dim n = t[0].dim(2);
                 const Tensor q = reshape(t[0], {2, 2, 3, n, 4}), k = reshape(t[1], {2, 2, 1, n, 4}),
                              v = reshape(t[2], {2, 2, 1, n, 4});
                 return reshape(swap_axes(matmul(softmax(matmul(q, flipped(k)) * 0.5), v), 1, 2), {2, 6, n, 4});
             }},
            {"values of other heads",
             form([=](const Grouped& of) { return matmul(softmax(s(of)), other_heads(of.v)); })},
            {"keys of other heads", form([=](const Grouped& of) {
                 return matmul(softmax(matmul(of.q, flipped(other_heads(of.k))) * 0.5), of.v);
             })},
            {"values of the first head",
             form([=](const Grouped& of) { return matmul(softmax(s(of)), slice(of.v, 1, 0, 1)); })},
            {"keys of the first head", form([=](const Grouped& of) {
                 return matmul(softmax(matmul(of.q, flipped(slice(of.k, 1, 0, 1))) * 0.5), of.v);
             })},
            {"softmax over a group", form([=](const Grouped& of) { return matmul(softmax(s(of), 2), of.v); })},
            {"softmax over key heads", form([=](const Grouped& of) { return matmul(softmax(s(of), 1), of.v); })},
            {"softmax over queries", form([=](const Grouped& of) { return matmul(softmax(s(of), -2), of.v); })},
            {"sum over the group", form([=](const Grouped& of) {
                 return matmul(e(of) / sum(e(of), {2, -1}, true), of.v);
             })},
            {"max over queries", form([=](const Grouped& of) {
                 const Tensor shifted = exp(s(of) - max_reduce(s(of), {-2}, true));
                 return matmul(shifted / sum(shifted, {-1}, true), of.v);
             })},
            {"sum + 1e-3",
             form([=](const Grouped& of) { return matmul(e(of) / (sum(e(of), {-1}, true) + 1e-3), of.v); })},
            {"mean for sum", form([=](const Grouped& of) { return matmul(e(of) / mean(e(of), {-1}, true), of.v); })},
            {"no softmax", form([=](const Grouped& of) { return matmul(s(of), of.v); })},
            {"log_softmax", form([=](const Grouped& of) { return matmul(log_softmax(s(of)), of.v); })},
            {"0.999 of the weights", form([=](const Grouped& of) { return matmul(softmax(s(of)) * 0.999, of.v); })},
            {"scale after softmax",
             form([=](const Grouped& of) { return matmul(softmax(matmul(of.q, flipped(of.k))) * 0.5, of.v); })},
            {"scores squared", form([=](const Grouped& of) { return matmul(softmax(s(of) * s(of)), of.v); })},
            {"tanh of scores", form([=](const Grouped& of) { return matmul(softmax(tanh(s(of))), of.v); })},
            {"scores in f16",
             form([=](const Grouped& of) { return matmul(softmax(cast(cast(s(of), DType::f16), DType::f32)), of.v); })},
            {"residual", form([=](const Grouped& of) { return matmul(softmax(s(of)), of.v) + of.q; })},
            {"negated", form([=](const Grouped& of) { return -matmul(softmax(s(of)), of.v); })},
        });
}

TEST(Expressions, KeysTransposedInOneStepAreFound) {
    Graph g("g");
    const Dim t = g.symbol("T", 2, 5);
    const Tensor q = g.input("q", DType::f32, {2, t, 12}), k = g.input("k", DType::f32, {2, t, 12}),
                 v = g.input("v", DType::f32, {2, t, 12});
    const auto heads = [&](T x) { return transpose(reshape(x, {2, t, 3, 4}), {0, 2, 1, 3}); };
    const Tensor scores_of = matmul(heads(q), transpose(reshape(k, {2, t, 3, 4}), {0, 2, 3, 1}));
    g.output("y", matmul(softmax(scores_of * 0.5), heads(v)));
    const Proposed matches = proposed(g);
    EXPECT_NE(match_at_output(matches, "attention"), nullptr);
    EXPECT_EQ(fault_in_matches(matches, 3), "");
}

}  // namespace
}  // namespace cairn::test::attention_expressions
