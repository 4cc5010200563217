#include "tests/fusion/expressions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cairn::test::softmax_expressions {
namespace {

using T = const Tensor&;

Tensors one(Graph& g) { return {g.input("x", DType::f32, {g.symbol("N", 1, 5), 3, 6})}; }

Expression of(std::string text, Tensor (*build)(T)) {
    return {std::move(text), [build](const Tensors& t) { return build(t[0]); }};
}

struct Named {
    const char* text;
    Tensor (*build)(T);
};

// Maximum and sum of the last axis, by keepdims or by a reshape.
Tensor top(T x) { return max_reduce(x, {-1}, true); }
Tensor total(T x) { return sum(x, {-1}, true); }
Tensor top_later(T x) { return unsqueeze(max_reduce(x, {-1}), -1); }
Tensor total_later(T x) { return unsqueeze(sum(x, {-1}), -1); }

const Named shifted[] = {
    {"x - max", [](T x) { return x - top(x); }},
    {"x + -max", [](T x) { return x + -top(x); }},
    {"-(max - x)", [](T x) { return -(top(x) - x); }},
    {"x - unsqueeze(max)", [](T x) { return x - top_later(x); }},
    {"x - broadcast(max)", [](T x) { return x - broadcast(top(x), x.shape()); }},
};
const Named normalised[] = {
    {"e / sum", [](T e) { return e / total(e); }},
    {"e * (1 / sum)", [](T e) { return e * (1 / total(e)); }},
    {"e * pow(sum, -1)", [](T e) { return pow(total(e), -1) * e; }},
    {"e / unsqueeze(sum)", [](T e) { return e / total_later(e); }},
    {"e / reshape(sum)",
     [](T e) {
         return e / reshape(total_later(e), {e.dim(0), 3, 1});
     }},
};

TEST(Expressions, Softmax) {
    const Family family{"softmax",
                        one,
                        "softmax axis=(-1) (x)",
                        {{"other axis", "softmax axis=(-2) (x)"},
                         {"first axis", "softmax axis=(-3) (x)"},
                         {"max over the other axis", "softmax axis=(-1) (%2)"},
                         {"sum over the other axis", "softmax axis=(-2) (%2)"},
                         {"x * max", "softmax axis=(-1) (%2)"}}};
    std::vector<Expression> found;
    for (const Named& a : shifted)
        for (const Named& b : normalised)
            found.push_back({std::string(b.text) + " with e = exp(" + a.text + ")",
                             [a, b](const Tensors& t) { return b.build(exp(a.build(t[0]))); }});
    expect_found(family, found);
    expect_missed(family, {
                              of("other axis", [](T x) { return softmax(x, -2); }),
                              of("first axis", [](T x) { return softmax(x, 0); }),
                              of("max over the other axis",
                                 [](T x) {
                                     const Tensor e = exp(x - max_reduce(x, {-2}, true));
                                     return e / total(e);
                                 }),
                              of("sum over the other axis",
                                 [](T x) {
                                     const Tensor e = exp(x - top(x));
                                     return e / sum(e, {-2}, true);
                                 }),
                              of("sum over both axes",
                                 [](T x) {
                                     const Tensor e = exp(x - top(x));
                                     return e / sum(e, {-2, -1}, true);
                                 }),
                              of("no max above", [](T x) { return exp(x) / total(exp(x - top(x))); }),
                              of("x * max",
                                 [](T x) {
                                     const Tensor e = exp(x * top(x));
                                     return e / total(e);
                                 }),
                              of("max - x",
                                 [](T x) {
                                     const Tensor e = exp(top(x) - x);
                                     return e / total(e);
                                 }),
                              of("|x| - max",
                                 [](T x) {
                                     const Tensor e = exp(abs(x) - top(abs(x)));
                                     return e / total(e) + x;
                                 }),
                              of("1.001 (x - max)",
                                 [](T x) {
                                     const Tensor e = exp(1.001 * (x - top(x)));
                                     return e / total(e);
                                 }),
                              of("sum of another",
                                 [](T x) {
                                     const Tensor e = exp(x - top(x));
                                     return e / total(exp(x));
                                 }),
                              of("2x - max",
                                 [](T x) {
                                     const Tensor e = exp(2 * x - top(x));
                                     return e / total(e);
                                 }),
                              of("1.001 of x - max",
                                 [](T x) {
                                     const Tensor e = exp(1.001 * x - 1.001 * top(x)) * 2;
                                     return e / (total(e) + 1e-3);
                                 }),
                              of("sum + 1e-3",
                                 [](T x) {
                                     const Tensor e = exp(x - top(x));
                                     return e / (total(e) + 1e-3);
                                 }),
                              of("1.001 e / sum",
                                 [](T x) {
                                     const Tensor e = exp(x - top(x));
                                     return 1.001 * e / total(e);
                                 }),
                              of("mean",
                                 [](T x) {
                                     const Tensor e = exp(x - top(x));
                                     return e / mean(e, {-1}, true);
                                 }),
                              of("e * sum",
                                 [](T x) {
                                     const Tensor e = exp(x - top(x));
                                     return e * total(e);
                                 }),
                              of("sum / e",
                                 [](T x) {
                                     const Tensor e = exp(x - top(x));
                                     return total(e) / e;
                                 }),
                              of("e^2 / sum",
                                 [](T x) {
                                     const Tensor e = exp(x - top(x));
                                     return e * e / total(e);
                                 }),
                              of("root of the sum",
                                 [](T x) {
                                     const Tensor e = exp(x - top(x));
                                     return e / sqrt(total(e));
                                 }),
                              of("in f16 between",
                                 [](T x) {
                                     const Tensor e = cast(cast(exp(x - top(x)), DType::f16), DType::f32);
                                     return e / total(e);
                                 }),
                              of("log", [](T x) { return log(softmax(x)); }),
                              of("tanh(x)",
                                 [](T x) {
                                     const Tensor e = tanh(x - top(x));
                                     return e / total(e);
                                 }),
                          });
}

const Named logarithm[] = {
    {"s - log(sum)", [](T s) { return s - log(total(exp(s))); }},
    {"s + -log(sum)", [](T s) { return s + -log(total(exp(s))); }},
    {"-(log(sum) - s)", [](T s) { return -(log(total(exp(s))) - s); }},
    {"s - unsqueeze(log(sum))", [](T s) { return s - unsqueeze(log(sum(exp(s), {-1})), -1); }},
};

TEST(Expressions, LogSoftmax) {
    const Family family{"log_softmax",
                        one,
                        "log_softmax axis=(-1) (x)",
                        {{"other axis", "log_softmax axis=(-2) (x)"},
                         {"first axis", "log_softmax axis=(-3) (x)"},
                         {"sum over the other axis", "log_softmax axis=(-2) (%2)"},
                         {"max over the other axis", "log_softmax axis=(-1) (%2)"}}};
    std::vector<Expression> found;
    for (const Named& a : shifted)
        for (const Named& b : logarithm)
            found.push_back({std::string(b.text) + " with s = " + a.text,
                             [a, b](const Tensors& t) { return b.build(a.build(t[0])); }});
    found.push_back(of("x - (max + log(sum))", [](T x) { return x - (top(x) + log(total(exp(x - top(x))))); }));
    expect_found(family, found);
    expect_missed(family, {
                              of("other axis", [](T x) { return log_softmax(x, -2); }),
                              of("first axis", [](T x) { return log_softmax(x, 0); }),
                              of("no shift inside", [](T x) { return x - top(x) - log(total(exp(x))); }),
                              of("no shift outside", [](T x) { return x - log(total(exp(x - top(x)))); }),
                              of("+ log",
                                 [](T x) {
                                     const Tensor s = x - top(x);
                                     return s + log(total(exp(s)));
                                 }),
                              of("2 log",
                                 [](T x) {
                                     const Tensor s = x - top(x);
                                     return s - 2 * log(total(exp(s)));
                                 }),
                              of("0.999 log",
                                 [](T x) {
                                     const Tensor s = x - top(x);
                                     return s - 0.999 * log(total(exp(s)));
                                 }),
                              of("2s",
                                 [](T x) {
                                     const Tensor s = x - top(x);
                                     return 2 * s - log(total(exp(s)));
                                 }),
                              of("exp(-s)",
                                 [](T x) {
                                     const Tensor s = x - top(x);
                                     return s - log(total(exp(-s)));
                                 }),
                              of("exp(2s)",
                                 [](T x) {
                                     const Tensor s = x - top(x);
                                     return s - log(total(exp(2 * s)));
                                 }),
                              of("sum over the other axis",
                                 [](T x) {
                                     const Tensor s = x - top(x);
                                     return s - log(sum(exp(s), {-2}, true));
                                 }),
                              of("max over the other axis",
                                 [](T x) {
                                     const Tensor s = x - max_reduce(x, {-2}, true);
                                     return s - log(total(exp(s)));
                                 }),
                              of("sum over both axes",
                                 [](T x) {
                                     const Tensor s = x - top(x);
                                     return s - log(sum(exp(s), {-2, -1}, true));
                                 }),
                              of("mean",
                                 [](T x) {
                                     const Tensor s = x - top(x);
                                     return s - log(mean(exp(s), {-1}, true));
                                 }),
                              of("log(sum + 1e-3)",
                                 [](T x) {
                                     const Tensor s = x - top(x);
                                     return s - log(total(exp(s)) + 1e-3);
                                 }),
                              of("sum of logs",
                                 [](T x) {
                                     const Tensor s = x - top(x);
                                     return s - total(log(exp(s) + 1));
                                 }),
                              of("sqrt",
                                 [](T x) {
                                     const Tensor s = x - top(x);
                                     return s - sqrt(total(exp(s)));
                                 }),
                              of("max of x^2",
                                 [](T x) {
                                     const Tensor s = x - top(x * x);
                                     return s - log(total(exp(s))) + x;
                                 }),
                              of("in f16 between",
                                 [](T x) {
                                     const Tensor s = x - top(x);
                                     return s - cast(log(cast(total(exp(s)), DType::f16)), DType::f32);
                                 }),
                              of("product",
                                 [](T x) {
                                     const Tensor s = x - top(x);
                                     return s * log(total(exp(s)));
                                 }),
                          });
}

const Named summed[] = {
    {"sum", [](T x) { return total(x); }},
    {"unsqueeze(sum)", [](T x) { return total_later(x); }},
    {"sum(2x)/2", [](T x) { return total(2 * x) / 2; }},
    {"-sum(-x)", [](T x) { return -total(-x); }},
};
const Named over_six[] = {
    {"/6", [](T s) { return s / 6; }},
    {"*(1/6)", [](T s) { return s * (1.0 / 6); }},
    {"*0.16666667", [](T s) { return 0.16666667 * s; }},
    {"/3/2", [](T s) { return s / 3 / 2; }},
    {"*0.5*0.33333334", [](T s) { return s * 0.5 * 0.33333334; }},
};

TEST(Expressions, Mean) {
    const Family family{"mean",
                        one,
                        "mean axes=(-1) keepdims=(1) (x)",
                        {{"other axis", "mean axes=(-2) keepdims=(1) (x)"},
                         {"both axes", "mean axes=(-2,-1) keepdims=(1) (x)"},
                         {"in another shape", "mean axes=(-1) keepdims=(0) (x)"}}};
    std::vector<Expression> found;
    for (const Named& a : summed)
        for (const Named& b : over_six)
            found.push_back(
                {std::string(a.text) + b.text, [a, b](const Tensors& t) { return b.build(a.build(t[0])); }});
    found.push_back(of("sum(x/6)", [](T x) { return total(x / 6); }));
    expect_found(family, found);
    expect_missed(family,
                  {
                      of("sum", [](T x) { return total(x); }),
                      of("/5", [](T x) { return total(x) / 5; }),
                      of("/6.006", [](T x) { return total(x) / 6.006; }),
                      of("/7", [](T x) { return total(x) / 7; }),
                      of("*6", [](T x) { return total(x) * 6; }),
                      of("/3", [](T x) { return total(x) / 3; }),
                      of("-mean", [](T x) { return total(x) / -6; }),
                      of("other axis", [](T x) { return mean(x, {-2}, true); }),
                      of("other axis over 6", [](T x) { return sum(x, {-2}, true) / 6; }),
                      of("both axes",
                         [](T x) {
                             return mean(x, {-2, -1}, true);
                         }),
                      of("both axes over 6",
                         [](T x) {
                             return sum(x, {-2, -1}, true) / 6;
                         }),
                      of("max", [](T x) { return top(x) / 6; }),
                      of("sum/6 + 1e-3", [](T x) { return total(x) / 6 + 1e-3; }),
                      of("root", [](T x) { return sqrt(total(x) / 6); }),
                      of("square", [](T x) { return total(x) * total(x) / 6; }),
                      of("6/sum", [](T x) { return 6 / total(x); }),
                      of("in f16 between", [](T x) { return cast(cast(total(x), DType::f16), DType::f32) / 6; }),
                      of("in another shape", [](T x) { return sum(x, {-1}) / 6; }),
                      of("x - mean", [](T x) { return x - total(x) / 6; }),
                      of("five of six", [](T x) { return tanh(total(slice(x, -1, 0, 5)) / 6); }),
                  });
}

const Named deviation[] = {
    {"x - mean", [](T x) { return x - mean(x, {-1}, true); }},
    {"x - sum*(1/6)", [](T x) { return x - total(x) * (1.0 / 6); }},
    {"x + -mean", [](T x) { return x + -mean(x, {-1}, true); }},
    {"mean - x", [](T x) { return mean(x, {-1}, true) - x; }},
    {"x - unsqueeze(mean)", [](T x) { return x - unsqueeze(mean(x, {-1}), -1); }},
};
const Named mean_square[] = {
    {"mean(d*d)", [](T d) { return mean(d * d, {-1}, true); }},
    {"mean(pow(d,2))", [](T d) { return mean(pow(d, 2), {-1}, true); }},
    {"sum(pow(d,2))*(1/6)", [](T d) { return total(pow(d, 2)) * (1.0 / 6); }},
    {"sum(d*d/6)", [](T d) { return total(d * d / 6); }},
    {"unsqueeze(mean(d*d))", [](T d) { return unsqueeze(mean(d * d, {-1}), -1); }},
};

TEST(Expressions, Variance) {
    const Family family{"variance",
                        one,
                        "variance axes=(-1) keepdims=(1) (x)",
                        {{"other axis", "variance axes=(-2) keepdims=(1) (x)"},
                         {"both axes", "variance axes=(-2,-1) keepdims=(1) (x)"},
                         {"in another shape", "variance axes=(-1) keepdims=(0) (x)"}}};
    std::vector<Expression> found;
    for (const Named& a : deviation)
        for (const Named& b : mean_square)
            found.push_back({std::string(b.text) + " with d = " + a.text,
                             [a, b](const Tensors& t) { return b.build(a.build(t[0])); }});
    expect_found(family, found);
    static const auto dev = [](T x) { return x - mean(x, {-1}, true); };
    expect_missed(family, {
                              of("sample variance", [](T x) { return total(dev(x) * dev(x)) / 5; }),
                              of("sum of squares", [](T x) { return total(dev(x) * dev(x)); }),
                              of("/6.006", [](T x) { return total(dev(x) * dev(x)) / 6.006; }),
                              of("plus 1e-3", [](T x) { return mean(dev(x) * dev(x), {-1}, true) + 1e-3; }),
                              of("root", [](T x) { return sqrt(mean(dev(x) * dev(x), {-1}, true)); }),
                              of("of |d|", [](T x) { return mean(abs(dev(x)), {-1}, true); }),
                              of("cube", [](T x) { return mean(pow(dev(x), 3), {-1}, true); }),
                              of("of |x| * d", [](T x) { return mean(abs(x) * dev(x), {-1}, true); }),
                              of("of x * x", [](T x) { return tanh(mean(x * x, {-1}, true)); }),
                              of("half the mean",
                                 [](T x) {
                                     const Tensor d = x - mean(x, {-1}, true) * 0.5;
                                     return mean(d * d, {-1}, true) * 1.5;
                                 }),
                              of("1.001 of the mean",
                                 [](T x) {
                                     const Tensor d = x - mean(x, {-1}, true) * 1.001;
                                     return mean(d * d, {-1}, true);
                                 }),
                              of("x + mean",
                                 [](T x) {
                                     const Tensor d = x + mean(x, {-1}, true);
                                     return mean(d * d, {-1}, true);
                                 }),
                              of("mean of the other axis",
                                 [](T x) {
                                     const Tensor d = x - mean(x, {-2}, true);
                                     return mean(d * d, {-1}, true);
                                 }),
                              of("other axis", [](T x) { return variance(x, {-2}, true); }),
                              of("squares over the other axis", [](T x) { return mean(dev(x) * dev(x), {-2}, true); }),
                              of("both axes",
                                 [](T x) {
                                     return variance(x, {-2, -1}, true);
                                 }),
                              of("max for mean",
                                 [](T x) {
                                     const Tensor d = x - top(x);
                                     return mean(d * d, {-1}, true);
                                 }),
                              of("sum for mean",
                                 [](T x) {
                                     const Tensor d = x - total(x);
                                     return mean(d * d, {-1}, true);
                                 }),
                              of("in f16 between",
                                 [](T x) {
                                     const Tensor d = cast(cast(dev(x), DType::f16), DType::f32);
                                     return mean(d * d, {-1}, true) + x;
                                 }),
                              of("negative", [](T x) { return -variance(x, {-1}, true); }),
                              of("in another shape", [](T x) { return variance(x, {-1}, false); }),
                          });
}

}  // namespace
}  // namespace cairn::test::softmax_expressions
