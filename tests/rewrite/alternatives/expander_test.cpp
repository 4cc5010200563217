#include "rewrite/alternatives/expander.hpp"

#include "cairn/ops.hpp"
#include "rewrite/alternatives/expand.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

using alternatives::Expander;
using ir::Op;

// x -> %tanh -> %neg -> y
struct Chain {
    Chain() { graph.output("y", neg(middle)); }
    Graph graph{"g"};
    Tensor x = graph.input("x", DType::f32, {3}), middle = tanh(x);
};

TEST(Expander, MergesNodesOfLowerRank) {
    const Chain chain;
    Expander e(*chain.graph.data(), {});
    const auto sine = e.make(Op::sin, {chain.x.id()}, {}, chain.middle.id());
    ASSERT_TRUE(sine);
    EXPECT_TRUE(e.join(chain.middle.id(), *sine, {alternatives::Law::distributed}));
    EXPECT_EQ(e.value_of(*sine), chain.middle.id());
    const alternatives::Expansion expansion = e.finish();
    EXPECT_EQ(to_string(*expansion.graph, expansion.classes), "%1 = %2 distributed\n");
    EXPECT_EQ(expansion.graph->node(2).op, Op::sin);
    EXPECT_EQ(expansion.graph->outputs()[0].node, 3u);
}

TEST(Expander, RefusesCycles) {
    const Chain chain;
    Expander e(*chain.graph.data(), {});
    const ir::NodeId y = e.graph().outputs()[0].node;
    const auto of_itself = e.make(Op::abs, {chain.middle.id()}, {}, y), of_user = e.make(Op::abs, {y}, {}, y);
    EXPECT_FALSE(e.join(chain.middle.id(), *of_itself, {}));
    EXPECT_FALSE(e.join(chain.middle.id(), *of_user, {}));
    EXPECT_TRUE(e.join(y, *of_itself, {}));
}

TEST(Expander, RefusesNodesThatAreReadOrAlreadyMerged) {
    const Chain chain;
    Expander e(*chain.graph.data(), {});
    const ir::NodeId y = e.graph().outputs()[0].node;
    const auto read = e.make(Op::sin, {chain.x.id()}, {}, y), reader = e.make(Op::abs, {*read}, {}, y);
    EXPECT_FALSE(e.join(y, *read, {})) << "another node reads it";
    EXPECT_TRUE(e.join(y, *reader, {}));
    EXPECT_FALSE(e.join(chain.middle.id(), *reader, {})) << "it is another value's";
    EXPECT_FALSE(e.join(y, chain.middle.id(), {})) << "the program's own";
    const auto flat = e.make(Op::reshape, {chain.x.id()}, {{"shape", std::vector<Dim>{3, 1}}}, y);
    EXPECT_FALSE(e.join(y, *flat, {})) << "of another shape";
    EXPECT_FALSE(e.make(Op::matmul, {chain.x.id(), chain.x.id()}, {}, y)) << "no such node";
}

TEST(Expander, DropsUnusedNodes) {
    const Chain chain;
    Expander e(*chain.graph.data(), {});
    e.make(Op::sin, {chain.x.id()}, {}, chain.middle.id());
    const alternatives::Expansion expansion = e.finish();
    EXPECT_EQ(to_string(Graph(expansion.graph)), to_string(chain.graph));
    EXPECT_TRUE(expansion.classes.have_one_expression_each());
}

TEST(Expander, FindsTheSingleUser) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3}), once = tanh(x), twice = exp(once), out = sin(twice);
    g.output("y", cos(twice));
    g.output("z", out);
    const Expander e(*g.data(), {});
    EXPECT_EQ(e.single_user(once.id()), twice.id());
    EXPECT_FALSE(e.single_user(twice.id()));
    EXPECT_FALSE(e.single_user(out.id()));
}

TEST(Expander, StopsOnRequest) {
    std::stop_source stop;
    stop.request_stop();
    const Chain chain;
    EXPECT_THROW(alternatives::expand(*chain.graph.data(), {stop.get_token(), {}}), Cancelled);
}

}  // namespace
}  // namespace cairn::test
