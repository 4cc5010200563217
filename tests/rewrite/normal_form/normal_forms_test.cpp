#include "rewrite/normal_form/normal_forms.hpp"

#include "cairn/composites.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

using ir::NodeId;

TEST(NormalForms, NodesOfOneValueAreFoundOldestFirst) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4}), twice = x * 2.0, sum = x + x, third = x / 3.0,
                 again = x * (1.0 / 3), other = twice * 1.0001;
    const normal_form::NormalForms forms(*g.data());
    EXPECT_EQ(forms.nodes_of(forms[sum.id()]), (std::vector<NodeId>{twice.id(), sum.id()}));
    EXPECT_EQ(forms.nodes_of(forms[third.id()]), (std::vector<NodeId>{third.id(), again.id()}));
    EXPECT_EQ(forms.nodes_of(forms[other.id()]), std::vector<NodeId>{other.id()});
    EXPECT_EQ(forms.nodes_of({7, forms[x.id()].core}), std::vector<NodeId>{});
    EXPECT_EQ(forms.nodes_of({1, forms.normalizer().size()}), std::vector<NodeId>{}) << "no such core";
}

TEST(NormalForms, CanBeComputedOverGivenTermsUntilStopped) {
    Graph g("g"), call("call");
    const Tensor x = g.input("x", DType::f32, {4}), y = exp(x) * 3.0;
    const Tensor in = call.input("in", DType::f32, {4}), out = exp(in) * 3.0;
    normal_form::NormalForms forms(*g.data());
    const NodeId inputs[] = {in.id()};
    const normal_form::ScaledTerm values[] = {forms[x.id()]};
    std::vector<normal_form::ScaledTerm> made;
    EXPECT_TRUE(normal_form::normalize_graph(*call.data(), inputs, values, forms.normalizer(), made,
                                             [](NodeId) { return true; }));
    EXPECT_TRUE(forms.normalizer().same(made[out.id()], forms[y.id()]));
    EXPECT_FALSE(normal_form::normalize_graph(*call.data(), inputs, values, forms.normalizer(), made,
                                              [&](NodeId id) { return id == in.id(); }));
    EXPECT_EQ(made.size(), 2U);
}

}  // namespace
}  // namespace cairn::test
