#include "tests/fusion/expressions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cairn::test::activation_expressions {
namespace {

using T = const Tensor&;

Tensors one(Graph& g) { return {g.input("x", DType::f32, {g.symbol("N", 1, 5), 6})}; }

// An expression of a function of x alone.
Expression of(std::string text, Tensor (*build)(T)) {
    return {std::move(text), [build](const Tensors& t) { return build(t[0]); }};
}

TEST(Expressions, Relu) {
    const Family family{"relu", one, "relu (x)"};
    expect_found(family,
                 {
                     of("max(x, 0)", [](T x) { return max(x, 0); }),
                     of("max(0, x)", [](T x) { return max(0, x); }),
                     of("-min(-x, 0)", [](T x) { return -min(-x, 0); }),
                     of("-min(0, -x)", [](T x) { return -min(0, -x); }),
                     of("-min(x * -1, 0)", [](T x) { return -min(x * -1, 0); }),
                     of("min(-x, 0) * -1", [](T x) { return min(-x, 0) * -1; }),
                     of("where(x < 0, 0, x)", [](T x) { return where(x < 0, 0, x); }),
                     of("where(x <= 0, 0, x)", [](T x) { return where(x <= 0, 0, x); }),
                     of("where(0 > x, 0, x)", [](T x) { return where(0 > x, 0, x); }),
                     of("where(0 >= x, 0, x)", [](T x) { return where(0 >= x, 0, x); }),
                     of("where(!(x < 0), x, 0)", [](T x) { return where(!(x < 0), x, 0); }),
                     of("where(!(x <= 0), x, 0)", [](T x) { return where(!(x <= 0), x, 0); }),
                     of("where(!(0 > x), x, 0)", [](T x) { return where(!(0 > x), x, 0); }),
                     of("where(!(0 >= x), x, 0)", [](T x) { return where(!(0 >= x), x, 0); }),
                     of("max(2x, 0) / 2", [](T x) { return max(2 * x, 0) / 2; }),
                     of("max(x/3, 0) * 3", [](T x) { return max(x / 3, 0) * 3; }),
                     of("0.25 * max(0, 4x)", [](T x) { return 0.25 * max(0, 4 * x); }),
                     of("max(--x, 0)", [](T x) { return max(-(-x), 0); }),
                     of("max(x, 0) of rows", [](T x) { return reshape(max(reshape(x, {-1}), 0), x.shape()); }),
                     of("max(x, 0) of columns", [](T x) { return swap_axes(max(swap_axes(x, 0, 1), 0), 0, 1); }),
                     of("max(x, zeros)",
                        [](T x) { return max(x, broadcast(Graph(x.graph()).constant(DType::f32, 0.0), x.shape())); }),
                 });
    expect_missed(family, {
                              of("min(x, 0)", [](T x) { return min(x, 0); }),
                              of("max(x, 1e-3)", [](T x) { return max(x, 1e-3); }),
                              of("max(x, -1e-3)", [](T x) { return max(x, -1e-3); }),
                              of("tanh(max(x, 0))", [](T x) { return tanh(max(x, 0)); }),
                              of("-max(x, 0)", [](T x) { return -max(x, 0); }),
                              of("max(x, 0.1 x)", [](T x) { return max(x, 0.1 * x); }),
                              of("max(x, -x)", [](T x) { return max(x, -x); }),
                              of("max(x, 0) + 1", [](T x) { return max(x, 0) + 1; }),
                              of("max(x, 0)^2", [](T x) { return max(x, 0) * max(x, 0); }),
                              of("min(max(x, 0), 6)", [](T x) { return min(max(x, 0), 6); }),
                              of("where(x > 0, x, 0): 0 for NaN", [](T x) { return where(x > 0, x, 0); }),
                              of("where(x >= 0, x, 0): 0 for NaN", [](T x) { return where(x >= 0, x, 0); }),
                              of("where(x < 0, x, 0)", [](T x) { return where(x < 0, x, 0); }),
                              of("where(x < 1, 0, x)", [](T x) { return where(x < 1, 0, x); }),
                              of("where(x < 0, 0.1 x, x)", [](T x) { return where(x < 0, 0.1 * x, x); }),
                              of("where(x < 0, 0, 2x)", [](T x) { return where(x < 0, 0, x + x * x); }),
                              of("where(-x < 0, 0, x)", [](T x) { return where(-x < 0, 0, x); }),
                              of("where(x != 0, x, 0)", [](T x) { return where(x != 0, x, 0); }),
                              of("abs(x)", [](T x) { return abs(x); }),
                              of("x * (x > 0)", [](T x) { return x * cast(x > 0, DType::f32); }),
                              of("max(x, 0) in f16", [](T x) { return cast(max(cast(x, DType::f16), 0), DType::f32); }),
                              of("1.001 * max(x, 0)", [](T x) { return max(x, 0) * 1.001; }),
                          });
}

// Several expressions of e^-x, then several of 1 / (1 + e).
struct Named {
    const char* text;
    Tensor (*build)(T);
};
const Named small_exp[] = {
    {"exp(-x)", [](T x) { return exp(-x); }},
    {"exp(x * -1)", [](T x) { return exp(x * -1); }},
    {"exp(0 - x)", [](T x) { return exp(0 - x); }},
    {"1/exp(x)", [](T x) { return 1 / exp(x); }},
    {"pow(exp(x), -1)", [](T x) { return pow(exp(x), -1); }},
};
const Named outer[] = {
    {"1/(1+e)", [](T e) { return 1 / (1 + e); }},
    {"1/(e+1)", [](T e) { return 1 / (e + 1); }},
    {"pow(1+e, -1)", [](T e) { return pow(1 + e, -1); }},
    {"-1/(-1-e)", [](T e) { return -1 / (-1 - e); }},
};

std::vector<Expression> products(std::span<const Named> inner, std::span<const Named> outside) {
    std::vector<Expression> result;
    for (const Named& a : inner)
        for (const Named& b : outside)
            result.push_back({std::string(b.text) + " with e = " + a.text,
                              [a, b](const Tensors& t) { return b.build(a.build(t[0])); }});
    return result;
}

TEST(Expressions, Sigmoid) {
    const Family family{
        "sigmoid", one, "sigmoid (x)", {{"1 - 1/(1 + e)", "sigmoid (%1)"}, {"e/(1 + e)", "sigmoid (%1)"}}};
    expect_found(family, products(small_exp, outer));
    expect_missed(family,
                  {
                      of("1/(1 - e)", [](T x) { return 1 / (1 - exp(-x)); }),
                      of("1.001/(1 + e)", [](T x) { return 1.001 / (1 + exp(-x)); }),
                      of("2/(1 + e)", [](T x) { return 2 / (1 + exp(-x)); }),
                      of("1/(2 + e)", [](T x) { return 1 / (2 + exp(-x)); }),
                      of("1/(1 + 2e)", [](T x) { return 1 / (1 + 2 * exp(-x)); }),
                      of("1/(1.001 + e)", [](T x) { return 1 / (1.001 + exp(-x)); }),
                      of("exp(1/(1 + e))", [](T x) { return exp(1 / (1 + exp(-x))); }),
                      of("x/(1 + exp(-x^2))", [](T x) { return x / (1 + exp(-(x * x))); }),
                      of("1/(1 + e)^2", [](T x) { return 1 / ((1 + exp(-x)) * (1 + exp(-x))); }),
                      of("1/sqrt(1 + e)", [](T x) { return 1 / sqrt(1 + exp(-x)); }),
                      of("1/(1 + e) + 1", [](T x) { return 1 / (1 + exp(-x)) + 1; }),
                      of("1 - 1/(1 + e)", [](T x) { return 1 - 1 / (1 + exp(-x)); }),
                      of("-1/(1 + e)", [](T x) { return -1 / (1 + exp(-x)); }),
                      of("e/(1 + e)", [](T x) { return exp(-x) / (1 + exp(-x)); }),
                      of("1 + e", [](T x) { return 1 + exp(-x); }),
                      of("1/e", [](T x) { return 1 / exp(-x); }),
                      of("tanh", [](T x) { return tanh(x); }),
                      of("1/(x + e)", [](T x) { return 1 / (x + exp(-x)); }),
                      of("1/(1 + e) in f16", [](T x) { return 1 / (1 + cast(exp(-cast(x, DType::f16)), DType::f32)); }),
                      of("log", [](T x) { return log(1 + exp(-x)); }),
                  });
}

const Named times_x[] = {
    {"x/(1+exp(-x))", [](T x) { return x / (1 + exp(-x)); }},
    {"x*sigmoid(x)", [](T x) { return x * sigmoid(x); }},
    {"sigmoid(x)*x", [](T x) { return sigmoid(x) * x; }},
    {"x*(1/(exp(-x)+1))", [](T x) { return x * (1 / (exp(-x) + 1)); }},
    {"x*pow(1+exp(-x),-1)", [](T x) { return x * pow(1 + exp(-x), -1); }},
    {"-x/(-1-exp(-x))", [](T x) { return -x / (-1 - exp(-x)); }},
    {"x/(1+1/exp(x))", [](T x) { return x / (1 + 1 / exp(x)); }},
    {"2x/(2+2exp(-x))", [](T x) { return 2 * x / (2 + 2 * exp(-x)); }},
    {"x*0.5/(0.5+0.5exp(-x))", [](T x) { return x * 0.5 / (0.5 + 0.5 * exp(-x)); }},
    {"(x/3)*3/(1+exp(-x))", [](T x) { return x / 3 * 3 / (1 + exp(-x)); }},
};
TEST(Expressions, Silu) {
    const Family family{"silu", one, "silu (x)"};
    std::vector<Expression> found;
    for (const Named& a : times_x) found.push_back(of(a.text, a.build));
    for (const Named& a : times_x)
        found.push_back({std::string(a.text) + " of columns",
                         [a](const Tensors& t) { return swap_axes(a.build(swap_axes(t[0], 0, 1)), 0, 1); }});
    expect_found(family, found);
    expect_missed(family,
                  {
                      of("x/(1 - e)", [](T x) { return x / (1 - exp(-x)); }),
                      of("x/(1 + exp(x))", [](T x) { return x / (1 + exp(x)); }),
                      of("-x/(1 + e)", [](T x) { return -x / (1 + exp(-x)); }),
                      of("x/(1 + e) * 1.001", [](T x) { return 1.001 * x / (1 + exp(-x)); }),
                      of("x/(1.001 + e)", [](T x) { return x / (1.001 + exp(-x)); }),
                      of("x/(1 + 2e)", [](T x) { return x / (1 + 2 * exp(-x)); }),
                      of("x/(1 + exp(-1.702x))", [](T x) { return x / (1 + exp(-1.702 * x)); }),
                      of("x^2/(1 + e)", [](T x) { return x * x / (1 + exp(-x)); }),
                      of("x/(1 + e)^2", [](T x) { return x / (1 + exp(-x)) / (1 + exp(-x)); }),
                      of("x + 1/(1 + e)", [](T x) { return x + 1 / (1 + exp(-x)); }),
                      of("x - 1/(1 + e)", [](T x) { return x - 1 / (1 + exp(-x)); }),
                      of("1/(1 + e)", [](T x) { return 1 / (1 + exp(-x)); }),
                      of("(1 + e)/x", [](T x) { return (1 + exp(-x)) / x; }),
                      of("x * (1 + e)", [](T x) { return x * (1 + exp(-x)); }),
                      of("x*sigmoid(x + 1)", [](T x) { return x * sigmoid(x + 1); }),
                      of("(x + 1)*sigmoid(x)", [](T x) { return (x + 1) * sigmoid(x); }),
                      of("x*sigmoid(2x)", [](T x) { return x * sigmoid(2 * x); }),
                      of("x*sigmoid(row)", [](T x) { return x * sigmoid(slice(x, 0, 0, 1)); }),
                      of("x*tanh(x)", [](T x) { return x * tanh(x); }),
                      of("x*sigmoid in f16", [](T x) { return x * cast(sigmoid(cast(x, DType::f16)), DType::f32); }),
                  });
}

const Named erf_of[] = {
    {"erf(x/sqrt 2)", [](T x) { return erf(x / std::sqrt(2.0)); }},
    {"erf(x*0.70710678)", [](T x) { return erf(x * 0.70710678); }},
    {"erf(sqrt(0.5)*x)", [](T x) { return erf(std::sqrt(0.5) * x); }},
    {"-erf(-x/sqrt 2)", [](T x) { return -erf(-x / std::sqrt(2.0)); }},
};

TEST(Expressions, Gelu) {
    const Family family{"gelu", one, "gelu (x)"};
    std::vector<Expression> found;
    for (const Named& e : erf_of) {
        const std::string end = std::string(" with e = ") + e.text;
        found.push_back({"x*0.5*(1+e)" + end, [e](const Tensors& t) { return t[0] * 0.5 * (1 + e.build(t[0])); }});
        found.push_back({"0.5*(x*(e+1))" + end, [e](const Tensors& t) { return 0.5 * (t[0] * (e.build(t[0]) + 1)); }});
        found.push_back({"x/2 + x/2*e" + end, [e](const Tensors& t) { return t[0] / 2 + t[0] / 2 * e.build(t[0]); }});
        found.push_back(
            {"x*(0.5 + 0.5*e)" + end, [e](const Tensors& t) { return t[0] * (0.5 + 0.5 * e.build(t[0])); }});
        found.push_back({"(x + x*e)/2" + end, [e](const Tensors& t) { return (t[0] + t[0] * e.build(t[0])) / 2; }});
        found.push_back(
            {"-x*(-0.5 - e/2)" + end, [e](const Tensors& t) { return -t[0] * (-0.5 - e.build(t[0]) / 2); }});
    }
    expect_found(family, found);
    static const auto phi = [](T x) { return erf(x / std::sqrt(2.0)); };
    expect_missed(family,
                  {
                      of("0.501", [](T x) { return x * 0.501 * (1 + phi(x)); }),
                      of("no half", [](T x) { return x * (1 + phi(x)); }),
                      of("1 - e", [](T x) { return x * 0.5 * (1 - phi(x)); }),
                      of("1.001 + e", [](T x) { return x * 0.5 * (1.001 + phi(x)); }),
                      of("1 + 1.001e", [](T x) { return x * 0.5 * (1 + 1.001 * phi(x)); }),
                      of("erf(x)", [](T x) { return x * 0.5 * (1 + erf(x)); }),
                      of("erf(0.7078x)", [](T x) { return x * 0.5 * (1 + erf(0.7078 * x)); }),
                      of("erf(x/2)", [](T x) { return x * 0.5 * (1 + erf(x / 2)); }),
                      of("erf(x * sqrt 2)", [](T x) { return x * 0.5 * (1 + erf(x * std::sqrt(2.0))); }),
                      of("tanh", [](T x) { return x * 0.5 * (1 + tanh(x / std::sqrt(2.0))); }),
                      of("x^2", [](T x) { return x * x * 0.5 * (1 + phi(x)); }),
                      of("no x", [](T x) { return 0.5 * (1 + phi(x)); }),
                      of("-x", [](T x) { return -x * 0.5 * (1 + phi(x)); }),
                      of("x + 1", [](T x) { return (x + 1) * 0.5 * (1 + phi(x)); }),
                      of("e of x + 1", [](T x) { return x * 0.5 * (1 + phi(x + 1)); }),
                      of("e of the first row", [](T x) { return x * 0.5 * (1 + phi(slice(x, 0, 0, 1))); }),
                      of("plus e", [](T x) { return x * 0.5 + (1 + phi(x)); }),
                      of("half inside", [](T x) { return x * (1 + 0.5 * phi(x)); }),
                      of("over", [](T x) { return x * 0.5 / (1 + phi(x)); }),
                      of("e in f16", [](T x) { return x * 0.5 * (1 + cast(phi(cast(x, DType::f16)), DType::f32)); }),
                      of("e squared", [](T x) { return x * 0.5 * (1 + phi(x) * phi(x)); }),
                  });
}

const Named cube[] = {
    {"x*x*x", [](T x) { return x * x * x; }},
    {"pow(x,3)", [](T x) { return pow(x, 3); }},
    {"x*pow(x,2)", [](T x) { return x * pow(x, 2); }},
};
constexpr double scale = 0.7978845608028654;

TEST(Expressions, GeluTanh) {
    const Family family{"gelu_tanh", one, "gelu_tanh (x)"};
    std::vector<Expression> found;
    for (const Named& c : cube) {
        const std::string end = std::string(", ") + c.text;
        const auto inner = [c](T x) { return scale * (x + 0.044715 * c.build(x)); };
        found.push_back(
            {"x*0.5*(1+tanh)" + end, [inner](const Tensors& t) { return t[0] * 0.5 * (1 + tanh(inner(t[0]))); }});
        found.push_back(
            {"0.5*x*(tanh+1)" + end, [inner](const Tensors& t) { return 0.5 * (t[0] * (tanh(inner(t[0])) + 1)); }});
        found.push_back(
            {"x/2 + x/2*tanh" + end, [inner](const Tensors& t) { return t[0] / 2 + t[0] / 2 * tanh(inner(t[0])); }});
        found.push_back(
            {"x*(0.5+0.5*tanh)" + end, [inner](const Tensors& t) { return t[0] * (0.5 + 0.5 * tanh(inner(t[0]))); }});
        found.push_back({"distributed" + end, [c](const Tensors& t) {
                             return t[0] * 0.5 * (1 + tanh(scale * t[0] + scale * 0.044715 * c.build(t[0])));
                         }});
        found.push_back({"negated" + end, [inner](const Tensors& t) { return t[0] * 0.5 * (1 - tanh(-inner(t[0]))); }});
        found.push_back({"sqrt(2/pi) in f32" + end, [c](const Tensors& t) {
                             return 0.5 * t[0] * (1 + tanh(0.79788456 * (t[0] + c.build(t[0]) * 0.044715)));
                         }});
    }
    found.push_back(
        of("x*(1 + 0.044715 x^2)", [](T x) { return x * 0.5 * (1 + tanh(scale * x * (1 + 0.044715 * x * x))); }));
    found.push_back(of("x*(1 + 0.044715 pow(x,2))",
                       [](T x) { return x * 0.5 * (1 + tanh(x * (scale * (1 + 0.044715 * pow(x, 2))))); }));
    expect_found(family, found);
    const auto form = [](double half, double one, double c, double s, int power) {
        return [=](const Tensors& t) {
            const Tensor& x = t[0];
            const Tensor p = power == 2 ? x * x : power == 4 ? x * x * x * x : x * x * x;
            return x * half * (one + tanh(s * (x + c * p)));
        };
    };
    std::vector<Expression> missed = {
        {"0.501", form(0.501, 1, 0.044715, scale, 3)},     {"0.499", form(0.499, 1, 0.044715, scale, 3)},
        {"1.001", form(0.5, 1.001, 0.044715, scale, 3)},   {"2", form(0.5, 2, 0.044715, scale, 3)},
        {"0.0448", form(0.5, 1, 0.0448, scale, 3)},        {"0.045715", form(0.5, 1, 0.045715, scale, 3)},
        {"0.0447", form(0.5, 1, 0.04467, scale, 3)},       {"-0.044715", form(0.5, 1, -0.044715, scale, 3)},
        {"0.7988", form(0.5, 1, 0.044715, 0.7988, 3)},     {"0.797", form(0.5, 1, 0.044715, 0.797, 3)},
        {"sqrt(pi/2)", form(0.5, 1, 0.044715, 1.2533, 3)}, {"x^2", form(0.5, 1, 0.044715, scale, 2)},
        {"x^4", form(0.5, 1, 0.044715, scale, 4)},         {"no cube", form(0.5, 1, 0, scale, 3)},
        {"no half", form(1, 1, 0.044715, scale, 3)},       {"-half", form(-0.5, 1, 0.044715, scale, 3)},
    };
    missed.push_back(of("erf", [](T x) { return x * 0.5 * (1 + erf(scale * (x + 0.044715 * x * x * x))); }));
    missed.push_back(of("1 - tanh", [](T x) { return x * 0.5 * (1 - tanh(scale * (x + 0.044715 * x * x * x))); }));
    missed.push_back(
        of("scale on x alone", [](T x) { return x * 0.5 * (1 + tanh(scale * x + 0.044715 * x * x * x)); }));
    missed.push_back(of("no x outside", [](T x) { return 0.5 * (1 + tanh(scale * (x + 0.044715 * x * x * x))); }));
    missed.push_back(
        of("cube of x + 1", [](T x) { return x * 0.5 * (1 + tanh(scale * (x + 0.044715 * pow(x + 1, 3)))); }));
    missed.push_back(of("cube of a row",
                        [](T x) { return x * 0.5 * (1 + tanh(scale * (x + 0.044715 * pow(slice(x, 0, 0, 1), 3)))); }));
    missed.push_back(of("tanh in f16", [](T x) {
        return x * 0.5 * (1 + cast(tanh(cast(scale * (x + 0.044715 * x * x * x), DType::f16)), DType::f32));
    }));
    expect_missed(family, missed);
}

}  // namespace
}  // namespace cairn::test::activation_expressions
