#include "tests/fusion/expressions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cairn::test::rope_expressions {
namespace {

using T = const Tensor&;

Tensors operands(Graph& g) {
    const Dim t = g.symbol("T", 1, 4);
    return {g.input("x", DType::f32, {2, t, 8}), g.input("positions", DType::i32, {t})};
}

Tensor table(T x, double base, double size = 8, double scale = 1) {
    std::vector<double> values;
    for (int i = 0; i < 8; ++i) values.push_back(scale * std::pow(base, -2.0 * (i % 4) / size));
    return Graph(x.graph()).constant(DType::f32, {8}, values);
}

Tensor angles(const Tensors& t, double base = 10000) {
    return unsqueeze(cast(t[1], DType::f32), -1) * table(t[0], base);
}
Tensor low(T x) { return slice(x, -1, 0, 4); }
Tensor high(T x) { return slice(x, -1, 4, 8); }

struct OperandVariant {
    const char* text;
    Tensor (*build)(const Tensors&);
};
const OperandVariant rotations[] = {
    {"[-x2, x1]",
     [](const Tensors& t) {
         return concat({-high(t[0]), low(t[0])}, -1);
     }},
    {"-[x2, -x1]",
     [](const Tensors& t) {
         return -concat({high(t[0]), -low(t[0])}, -1);
     }},
    {"[slice(-x), x1]",
     [](const Tensors& t) {
         return concat({high(-t[0]), low(t[0])}, -1);
     }},
};
const OperandVariant angle_forms[] = {
    {"p*f", [](const Tensors& t) { return angles(t); }},
    {"f*p", [](const Tensors& t) { return table(t[0], 10000) * unsqueeze(cast(t[1], DType::f32), -1); }},
    {"f*cast([T,1])", [](const Tensors& t) { return table(t[0], 10000) * cast(unsqueeze(t[1], -1), DType::f32); }},
};

TEST(Expressions, Rope) {
    const Family family{"rope", operands, "rope base=10000 (x, positions)"};
    std::vector<Expression> found;
    for (const OperandVariant& rotation : rotations)
        for (const OperandVariant& angle : angle_forms) {
            const std::string end = std::string(" with ") + rotation.text + ", " + angle.text;
            const auto add = [&](const char* text, Tensor (*build)(T x, T rotations, T a)) {
                found.push_back(
                    {text + end, [=](const Tensors& t) { return build(t[0], rotation.build(t), angle.build(t)); }});
            };
            add("x*cos + r*sin", [](T x, T r, T a) { return x * cos(a) + r * sin(a); });
            add("sin*r + cos*x", [](T x, T r, T a) { return sin(a) * r + cos(a) * x; });
            add("x*cos(-a) - r*sin(-a)", [](T x, T r, T a) { return x * cos(-a) - r * sin(-a); });
        }
    expect_found(family, found);
    const auto form = [](Tensor (*build)(T x, T a, const Tensors& t)) {
        return [build](const Tensors& t) { return build(t[0], angles(t), t); };
    };
    const auto r = [](T x) { return concat({-high(x), low(x)}, -1); };
    static const auto rotation = r;
    expect_missed(
        family,
        {
            {"[x2, -x1]", form([](T x, T a, const Tensors&) { return x * cos(a) - rotation(x) * sin(a); })},
            {"[x2, x1]", form([](T x, T a, const Tensors&) {
                 return x * cos(a) + concat({high(x), low(x)}, -1) * sin(a);
             })},
            {"[-x1, x2]", form([](T x, T a, const Tensors&) {
                 return x * cos(a) + concat({-low(x), high(x)}, -1) * sin(a);
             })},
            {"[x1, -x2]", form([](T x, T a, const Tensors&) {
                 return x * cos(a) + concat({low(x), -high(x)}, -1) * sin(a);
             })},
            {"[-x2, -x1]", form([](T x, T a, const Tensors&) {
                 return x * cos(a) + concat({-high(x), -low(x)}, -1) * sin(a);
             })},
            {"sin and cos swapped", form([](T x, T a, const Tensors&) { return x * sin(a) + rotation(x) * cos(a); })},
            {"cos twice", form([](T x, T a, const Tensors&) { return x * cos(a) + rotation(x) * cos(a); })},
            {"double angle", form([](T x, T a, const Tensors&) { return x * cos(a * 2) + rotation(x) * sin(a * 2); })},
            {"1.001 angle",
             form([](T x, T a, const Tensors&) { return x * cos(a * 1.001) + rotation(x) * sin(a * 1.001); })},
            {"double angle in sin",
             form([](T x, T a, const Tensors&) { return x * cos(a) + rotation(x) * sin(a * 2); })},
            {"angle + 1", form([](T x, T a, const Tensors&) { return x * cos(a + 1) + rotation(x) * sin(a + 1); })},
            {"2 x", form([](T x, T a, const Tensors&) { return x * 2 * cos(a) + rotation(x) * sin(a); })},
            {"squares", form([](T x, T a, const Tensors&) { return x * x * cos(a) + rotation(x) * sin(a); })},
            {"no sin", form([](T x, T a, const Tensors&) { return x * cos(a) + rotation(x); })},
            {"no cos", form([](T x, T a, const Tensors&) { return x + rotation(x) * sin(a); })},
            {"product", form([](T x, T a, const Tensors&) { return x * cos(a) * rotation(x) * sin(a); })},
            {"turned x^2", form([](T x, T a, const Tensors&) { return x * cos(a) + rotation(x * x) * sin(a); })},
            {"other halves", form([](T x, T a, const Tensors&) {
                 return x * cos(a) + concat({-slice(x, -1, 3, 8), slice(x, -1, 0, 3)}, -1) * sin(a);
             })},
            {"table of another size",
             [](const Tensors& t) {
                 const Tensor a = unsqueeze(cast(t[1], DType::f32), -1) * table(t[0], 10000, 16) * table(t[0], 1.5);
                 return t[0] * cos(a) + rotation(t[0]) * sin(a) * 1.01;
             }},
            {"1.001 of the table",
             [](const Tensors& t) {
                 const Tensor a = unsqueeze(cast(t[1], DType::f32), -1) * table(t[0], 10000, 8, 1.001);
                 return t[0] * cos(a) + rotation(t[0]) * sin(a);
             }},
            {"two bases",
             [](const Tensors& t) { return t[0] * cos(angles(t)) + rotation(t[0]) * sin(angles(t, 10010)); }},
            {"angles in f16", form([](T x, T a, const Tensors&) {
                 return x * cast(cos(cast(a, DType::f16)), DType::f32) + rotation(x) * sin(a);
             })},
            {"interleaved pairs",
             [](const Tensors& t) {
                 const Tensor x = t[0], even = slice(x, -1, 0, 8, 2), odd = slice(x, -1, 1, 8, 2);
                 return x * cos(angles(t)) + concat({-odd, even}, -1) * sin(angles(t));
             }},
        });
}

TEST(Expressions, RopeOfAnotherBase) {
    Graph g("g");
    const Tensors t = operands(g);
    g.output("y", t[0] * cos(angles(t, 500000)) + concat({-high(t[0]), low(t[0])}, -1) * sin(angles(t, 500000)));
    const Proposed matches = proposed(g);
    const fusion::Match* match = match_at_output(matches, "rope");
    ASSERT_NE(match, nullptr);
    EXPECT_EQ(summary(matches, *match), "rope base=5e+05 (x, positions)");
}

}  // namespace
}  // namespace cairn::test::rope_expressions
