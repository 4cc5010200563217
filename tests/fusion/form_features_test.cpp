#include "fusion/form_features.hpp"

#include "cairn/composites.hpp"
#include "rewrite/normal_form/normal_forms.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn::test {
namespace {

std::uint64_t features(const Graph& graph, const Tensor& value) {
    const normal_form::NormalForms forms(*graph.data());
    return fusion::FormFeatures(forms.normalizer()).of(forms[value.id()].core);
}

TEST(FormFeatures, PowersAndOpsAreFeaturesButMovementIsNot) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 4}), r = g.input("r", DType::f32, {4});
    const Tensor s = sum(x, {-1}, true), root = x / sqrt(s + 1), plain = x / s, moved = swap_axes(plain, 0, 1);
    EXPECT_EQ(features(g, x * r + r), 0u);
    EXPECT_NE(features(g, root), features(g, plain));
    EXPECT_EQ(features(g, root) & features(g, s), features(g, s));
    EXPECT_EQ(features(g, moved), features(g, plain));
    EXPECT_EQ(features(g, max_reduce(tanh(x), {-1})) & features(g, tanh(x)), 0u) << "below an op that stays whole";
}

TEST(FormFeatures, TermPositionsAreTheEnclosingSumsAndProducts) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4}), gamma = g.input("gamma", DType::f32, {4}),
                 beta = g.input("beta", DType::f32, {4});
    const Tensor y = erf(x) * gamma + beta;
    const normal_form::NormalForms forms(*g.data());
    const auto positions = fusion::term_positions(forms.normalizer(), forms[y.id()].core);
    const auto stands = [&](const Tensor& value, std::uint32_t path) {
        return std::find(positions.begin(), positions.end(), fusion::TermPosition{forms[value.id()].core, path}) !=
               positions.end();
    };
    const std::uint32_t in_sum = 1, in_product_in_sum = 1 * 4 + 2;
    EXPECT_TRUE(stands(beta, in_sum));
    EXPECT_TRUE(stands(gamma, in_product_in_sum));
    EXPECT_FALSE(stands(gamma, in_sum));
    EXPECT_FALSE(stands(x, in_product_in_sum)) << "inside erf";
}

}  // namespace
}  // namespace cairn::test
