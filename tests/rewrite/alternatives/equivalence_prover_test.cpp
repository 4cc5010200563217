#include "rewrite/alternatives/equivalence_prover.hpp"

#include "cairn/composites.hpp"
#include "cairn/ops.hpp"
#include "rewrite/alternatives/expand.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

using alternatives::EClasses, alternatives::EquivalenceProver, alternatives::Law, alternatives::Laws;

// Layers whose elements depend on their neighbours: pushing movement through the whole form has no end.
Tensor deep(Graph& g, int layers) {
    Tensor x = g.input("x", DType::f32, {2, g.symbol("N", 1, 4), 8});
    for (int i = 0; i < layers; ++i) {
        const auto weight = [&](const char* name, Shape shape) {
            return g.weight(name + std::to_string(i), DType::f32, std::move(shape));
        };
        x = layer_norm(x + matmul(gelu(x), weight("w", {8, 8})), weight("gamma", {8}), weight("beta", {8}), 0.1);
    }
    return x;
}

bool is_proved(const Tensor& value, const Tensor& expression, Laws laws) {
    EClasses classes(*value.graph());
    classes.join(value.id(), expression.id(), laws);
    return EquivalenceProver(*value.graph(), classes, {}).is_proved(expression.id());
}

TEST(EquivalenceProver, StopsAtCommonOperands) {
    Graph g("g");
    const Tensor x = deep(g, 12), w = g.weight("w", DType::f32, {8, 5}), v = g.weight("v", DType::f32, {8, 5});
    const Tensor value = slice(matmul(x, w), 1, 0, 1);
    EXPECT_TRUE(is_proved(value, matmul(slice(x, 1, 0, 1), w), {}));
    EXPECT_FALSE(is_proved(value, matmul(slice(x, 1, 0, 1), v), {}));
    EXPECT_FALSE(is_proved(value, matmul(slice(sin(x), 1, 0, 1), w), {}));
    const normal_form::NormalForms forms(*g.data(), Laws{});
    EXPECT_FALSE(forms.normalizer().same(forms[value.id()], forms[matmul(slice(x, 1, 0, 1), w).id()]))
        << "the whole is beyond the size up to which a slice goes inward";
}

// 2 (x w) contains 2 w, which the other side expands.
TEST(EquivalenceProver, ComparesEntireValuesIfNeeded) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 4}), w = g.weight("w", DType::f32, {4, 5}), twice = w * 2;
    const Tensor value = matmul(x, twice) + matmul(x, w);
    EXPECT_TRUE(is_proved(value, matmul(x, w) * 2 + matmul(x, w), {Law::distributed}));
    EXPECT_FALSE(is_proved(value, matmul(x, w) * 2 + matmul(x, w), {}));
}

TEST(EquivalenceProver, DistinguishesBoundValuesAndInputs) {
    Graph g("g");
    const Tensor n = g.input("n", DType::f32, {3, 4}), w = exp(g.weight("w", DType::f32, {4, 5}));
    const Tensor gamma = exp(g.weight("gamma", DType::f32, {4})), given = exp(g.input("given", DType::f32, {4}));
    const auto folded = [&](const Tensor& row) { return matmul(n, reshape(row, {4, 1}) * w); };
    EXPECT_TRUE(is_proved(matmul(n * gamma, w), folded(gamma), {Law::distributed}));
    EXPECT_FALSE(is_proved(matmul(n * given, w), folded(given), {Law::distributed}));
}

TEST(EquivalenceProver, StopsOnRequest) {
    std::stop_source stop;
    stop.request_stop();
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3});
    EXPECT_THROW(alternatives::proved(
                     *g.data(),
                     [&] {
                         const Tensor a = x * 2, b = 2 * exp(x);
                         EClasses classes(*g.data());
                         classes.join(a.id(), b.id(), {});
                         return classes;
                     }(),
                     stop.get_token()),
                 Cancelled);
}

}  // namespace
}  // namespace cairn::test
