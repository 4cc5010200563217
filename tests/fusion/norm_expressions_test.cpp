#include "tests/fusion/expressions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cairn::test::norm_expressions {
namespace {

using T = const Tensor&;
constexpr double eps = 1e-5;

Tensors operands(Graph& g) {
    return {g.input("x", DType::f32, {g.symbol("N", 1, 5), 3, 6}), g.weight("gamma", DType::f32, {6}),
            g.weight("beta", DType::f32, {6})};
}

Tensor mean_of(T x) { return mean(x, {-1}, true); }
Tensor centred(T x) { return x - mean_of(x); }
Tensor var(T x) { return mean_of(centred(x) * centred(x)); }

// Several expressions of 1 / sqrt(v + eps).
struct Root {
    const char* text;
    Tensor (*build)(T v);
};
const Root roots[] = {
    {"1/sqrt(v + eps)", [](T v) { return 1 / sqrt(v + eps); }},
    {"rsqrt(v + eps)", [](T v) { return rsqrt(v + eps); }},
    {"pow(v + eps, -0.5)", [](T v) { return pow(v + eps, -0.5); }},
    {"1/pow(eps + v, 0.5)", [](T v) { return 1 / pow(eps + v, 0.5); }},
};
struct End {
    const char* text;
    Tensor (*build)(T d, T r, T gamma, T beta);
};
const End ends[] = {
    {"d*r*gamma + beta", [](T d, T r, T gamma, T beta) { return d * r * gamma + beta; }},
    {"beta + gamma*(r*d)", [](T d, T r, T gamma, T beta) { return beta + gamma * (r * d); }},
    {"d*(r*gamma) + beta", [](T d, T r, T gamma, T beta) { return d * (r * gamma) + beta; }},
    {"beta - -d*r*gamma", [](T d, T r, T gamma, T beta) { return beta - -d * r * gamma; }},
    {"gamma and beta as [1,1,D]",
     [](T d, T r, T gamma, T beta) {
         return d * r * reshape(gamma, {1, 1, 6}) + reshape(beta, {1, 1, 6});
     }},
};

TEST(Expressions, LayerNorm) {
    const Family family{"layer_norm",
                        operands,
                        "layer_norm eps=1e-05 (x, gamma, beta)",
                        {{"no beta", "layer_norm eps=1e-05 (x, gamma)"}}};
    std::vector<Expression> found;
    for (const Root& root : roots)
        for (const End& end : ends)
            found.push_back({std::string(end.text) + " with r = " + root.text, [root, end](const Tensors& t) {
                                 return end.build(centred(t[0]), root.build(var(t[0])), t[1], t[2]);
                             }});
    found.push_back(
        {"d / sqrt(v + eps)", [](const Tensors& t) { return centred(t[0]) / sqrt(var(t[0]) + eps) * t[1] + t[2]; }});
    found.push_back({"x*r - mean*r", [](const Tensors& t) {
                         const Tensor r = rsqrt(var(t[0]) + eps);
                         return (t[0] * r - mean_of(t[0]) * r) * t[1] + t[2];
                     }});
    found.push_back({"unsqueeze(variance())", [](const Tensors& t) {
                         return centred(t[0]) * rsqrt(unsqueeze(variance(t[0], {-1}), -1) + eps) * t[1] + t[2];
                     }});
    found.push_back({"sums times 1/6", [](const Tensors& t) {
                         const Tensor d = t[0] - sum(t[0], {-1}, true) * (1.0 / 6);
                         return d * rsqrt(sum(pow(d, 2), {-1}, true) * (1.0 / 6) + eps) * t[1] + t[2];
                     }});
    found.push_back({"reshape for keepdims", [](const Tensors& t) {
                         const Tensor d = t[0] - unsqueeze(mean(t[0], {-1}), -1);
                         return d / unsqueeze(sqrt(mean(d * d, {-1}) + eps), -1) * t[1] + t[2];
                     }});
    expect_found(family, found);

    const auto form = [](Tensor (*build)(T x, T gamma, T beta)) {
        return [build](const Tensors& t) { return build(t[0], t[1], t[2]); };
    };
    expect_missed(
        family,
        {
            {"eps outside the root", form([](T x, T g, T b) { return centred(x) / (sqrt(var(x)) + eps) * g + b; })},
            {"eps on the mean", form([](T x, T g, T b) { return (centred(x) + 0.1) / sqrt(var(x) + eps) * g + b; })},
            {"no root", form([](T x, T g, T b) { return centred(x) / (var(x) + eps) * g + b; })},
            {"square instead of root",
             form([](T x, T g, T b) { return centred(x) / ((var(x) + eps) * (var(x) + eps)) * g + b; })},
            {"cube root", form([](T x, T g, T b) { return centred(x) * pow(var(x) + eps, -0.333) * g + b; })},
            {"x not centred", form([](T x, T g, T b) { return x / sqrt(var(x) + eps) * g + b; })},
            {"variance not centred",
             form([](T x, T g, T b) { return centred(x) / sqrt(mean_of(x * x) + eps) * g + b + x; })},
            {"sum of squares", form([](T x, T g, T b) {
                 return centred(x) / sqrt(sum(centred(x) * centred(x), {-1}, true) + eps) * g + b + g;
             })},
            {"sample variance", form([](T x, T g, T b) {
                 return centred(x) / sqrt(sum(centred(x) * centred(x), {-1}, true) / 5 + eps) * g + b * b;
             })},
            {"mean over the other axis",
             form([](T x, T g, T b) { return (x - mean(x, {-2}, true)) / sqrt(var(x) + eps) * g + b; })},
            {"variance over the other axis", form([](T x, T g, T b) {
                 return centred(x) / sqrt(mean(centred(x) * centred(x), {-2}, true) + eps) * g + b;
             })},
            {"mean over both axes", form([](T x, T g, T b) {
                 return (x - mean(x, {-2, -1}, true)) / sqrt(var(x) + eps) * g + b;
             })},
            {"max for mean",
             form([](T x, T g, T b) { return (x - max_reduce(x, {-1}, true)) / sqrt(var(x) + eps) * g + b; })},
            {"1.001 of the mean",
             form([](T x, T g, T b) { return (x - mean_of(x) * 1.001) / sqrt(var(x) + eps) * g + b; })},
            {"2 d", form([](T x, T g, T b) { return 2 * centred(x) / sqrt(var(x) + eps) * g + b; })},
            {"minus beta", form([](T x, T g, T b) { return centred(x) / sqrt(var(x) + eps) * g - b; })},
            {"plus gamma", form([](T x, T g, T b) { return centred(x) / sqrt(var(x) + eps) + g + b; })},
            {"(d*r + beta)*gamma", form([](T x, T g, T b) { return (centred(x) / sqrt(var(x) + eps) + b) * g; })},
            {"gamma under the root", form([](T x, T g, T b) { return centred(x) / sqrt(var(x) + eps * g) + b; })},
            {"no beta", form([](T x, T g, T) { return centred(x) / sqrt(var(x) + eps) * g; })},
            {"no gamma", form([](T x, T, T b) { return centred(x) / sqrt(var(x) + eps) + b; })},
            {"gamma + 1", form([](T x, T g, T b) { return centred(x) / sqrt(var(x) + eps) * exp(g) * g + b; })},
            {"in f16 between", form([](T x, T g, T b) {
                 return cast(cast(centred(x), DType::f16), DType::f32) / sqrt(var(x) + eps) * g + b;
             })},
            {"variance of x^2", form([](T x, T g, T b) { return centred(x) / sqrt(var(x * x) + eps) * g + b; })},
        });
}

TEST(Expressions, RmsNorm) {
    const Family family{
        "rms_norm", operands, "rms_norm eps=1e-05 (x, gamma)", {{"no gamma", "rms_norm eps=1e-05 (x)"}}};
    struct Squares {
        const char* text;
        Tensor (*build)(T x);
    };
    const Squares squares[] = {
        {"mean(x*x)", [](T x) { return mean_of(x * x); }},
        {"sum(pow(x,2))/6", [](T x) { return sum(pow(x, 2), {-1}, true) / 6; }},
        {"unsqueeze(mean(x*x))", [](T x) { return unsqueeze(mean(x * x, {-1}), -1); }},
    };
    std::vector<Expression> found;
    for (const Squares& square : squares)
        for (const Root& root : roots) {
            const std::string end = std::string(" with ") + root.text + ", v = " + square.text;
            found.push_back({"x*r*gamma" + end, [root, square](const Tensors& t) {
                                 return t[0] * root.build(square.build(t[0])) * t[1];
                             }});
            found.push_back({"gamma*(r*x)" + end, [root, square](const Tensors& t) {
                                 return t[1] * (root.build(square.build(t[0])) * t[0]);
                             }});
        }
    found.push_back(
        {"x / sqrt(v + eps) * gamma", [](const Tensors& t) { return t[0] / sqrt(mean_of(t[0] * t[0]) + eps) * t[1]; }});
    found.push_back({"gamma / (sqrt(v + eps) / x)",
                     [](const Tensors& t) { return t[1] * t[0] / sqrt(mean_of(t[0] * t[0]) + eps); }});
    expect_found(family, found);

    const auto form = [](Tensor (*build)(T x, T gamma)) {
        return [build](const Tensors& t) { return build(t[0], t[1]); };
    };
    expect_missed(family,
                  {
                      {"eps outside", form([](T x, T g) { return x / (sqrt(mean_of(x * x)) + eps) * g; })},
                      {"no root", form([](T x, T g) { return x / (mean_of(x * x) + eps) * g; })},
                      {"times the root", form([](T x, T g) { return x * sqrt(mean_of(x * x) + eps) * g; })},
                      {"pow -0.501", form([](T x, T g) { return x * pow(mean_of(x * x) + eps, -0.501) * g; })},
                      {"sum of squares", form([](T x, T g) { return x / sqrt(sum(x * x, {-1}, true) + eps) * g * g; })},
                      {"over 5", form([](T x, T g) { return x / sqrt(sum(x * x, {-1}, true) / 5 + eps) * (g + 1); })},
                      {"mean of |x|", form([](T x, T g) { return x / sqrt(mean_of(abs(x)) + eps) * g; })},
                      {"mean of x", form([](T x, T g) { return x / sqrt(mean_of(x) + eps) * g; })},
                      {"mean of cubes", form([](T x, T g) { return x / sqrt(mean_of(x * x * x) + eps) * g; })},
                      {"other axis", form([](T x, T g) { return x / sqrt(mean(x * x, {-2}, true) + eps) * g; })},
                      {"both axes", form([](T x, T g) {
                           return x / sqrt(mean(x * x, {-2, -1}, true) + eps) * g;
                       })},
                      {"max", form([](T x, T g) { return x / sqrt(max_reduce(x * x, {-1}, true) + eps) * g; })},
                      {"1.001", form([](T x, T g) { return x / sqrt(mean_of(x * x) + eps) * g * 1.001; })},
                      {"-x", form([](T x, T g) { return -x / sqrt(mean_of(x * x) + eps) * g; })},
                      {"1 / x", form([](T x, T g) { return sqrt(mean_of(x * x) + eps) / x * g; })},
                      {"plus gamma", form([](T x, T g) { return x / sqrt(mean_of(x * x) + eps) + g; })},
                      {"over gamma", form([](T x, T g) { return x / sqrt(mean_of(x * x) + eps) / g; })},
                      {"no gamma", form([](T x, T) { return x / sqrt(mean_of(x * x) + eps); })},
                      {"centred", form([](T x, T g) { return (x - mean_of(x)) / sqrt(mean_of(x * x) + eps) * g; })},
                      {"in f16 between", form([](T x, T g) {
                           return x * cast(cast(rsqrt(mean_of(x * x) + eps), DType::f16), DType::f32) * g;
                       })},
                      {"square of x above", form([](T x, T g) { return x * x / sqrt(mean_of(x * x) + eps) * g; })},
                  });
}

}  // namespace
}  // namespace cairn::test::norm_expressions
