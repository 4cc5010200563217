#include "graph/ir/verify.hpp"

#include "cairn/ops.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

namespace cairn::ir {
namespace {

/// A graph `x f32[4]` to which invalid nodes are added without checks.
class Verify : public testing::Test {
protected:
    Node node(Op op, std::vector<NodeId> operands, Shape shape = {4}) {
        Node result;
        result.op = op;
        result.operands = std::move(operands);
        result.shape = std::move(shape);
        return result;
    }
    std::string with(Node wrong) {
        data->intern(std::move(wrong));
        return verify(*data);
    }
    Graph g{"g"};
    Tensor x = g.input("x", DType::f32, {4});
    std::shared_ptr<GraphData> data = g.data();
};

TEST_F(Verify, AcceptsGraphsBuiltByOps) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) EXPECT_EQ(verify(*test::random_graph(seed).data()), "");
}

TEST_F(Verify, DetectsAnOperandThatFollowsItsUser) {
    EXPECT_EQ(with(node(Op::neg, {5})), "%1 = neg %5 : f32[4]: its operand %5 does not come before it");
}

TEST_F(Verify, DetectsAWrongShapeOrDType) {
    EXPECT_EQ(with(node(Op::neg, {0}, {5})), "%1 = neg %0 : f32[5]: its type should be f32[4]");
    Graph other("h");
    const Tensor y = other.input("y", DType::f32, {4});
    Node compare = node(Op::lt, {y.id(), y.id()});
    other.data()->intern(compare);
    EXPECT_EQ(verify(*other.data()), "%1 = lt %0, %0 : f32[4]: its type should be bool[4]");
}

TEST_F(Verify, DetectsOperandsThatInferenceRefuses) {
    EXPECT_EQ(with(node(Op::add, {0})), "%1 = add %0 : f32[4]: [add] takes 2 operands, got 1");
}

TEST_F(Verify, DetectsAnAttributeInAnotherForm) {
    Node sum = node(Op::sum, {0}, {1});
    sum.attributes = {{"axes", std::vector<Dim>{0}}};
    EXPECT_EQ(with(sum), "%1 = sum %0 axes=(0) : f32[1]: its attribute axes is not in stored form");
}

TEST_F(Verify, DetectsAnUnknownDevice) {
    Node copy = node(Op::copy_to, {0});
    copy.attributes = {{"device", std::vector<Dim>{2}}};
    EXPECT_EQ(with(copy), "%1 = copy_to %0 device=(2) : f32[4]: [copy_to] there is no device 2");
}

TEST_F(Verify, DetectsInvalidLeaves) {
    Node twin = node(Op::input, {}, {5});
    twin.name = "x";
    EXPECT_EQ(with(twin), "%1 = input \"x\" : f32[5]: its name is taken");
    Graph h("h");
    Node nameless;
    h.data()->intern(nameless);
    EXPECT_EQ(verify(*h.data()), "%0 = input : f32[]: its name is empty");
    Graph i("i");
    Node constant;
    constant.op = Op::constant;
    constant.shape = {3};
    constant.values = std::make_shared<const std::vector<double>>(2, 0.0);
    i.data()->intern(constant);
    EXPECT_EQ(verify(*i.data()), "%0 = constant {0, 0} : f32[3]: it has another number of values than its shape");
}

TEST_F(Verify, DetectsInvalidOutputs) {
    data->add_output("y", 0);
    data->add_output("y", 0);
    EXPECT_EQ(verify(*data), "output \"y\": named twice");
    Graph h("h");
    h.data()->add_output("y", 3);
    EXPECT_EQ(verify(*h.data()), "output \"y\": names no node");
}

TEST_F(Verify, DetectsInvalidStates) {
    const Dim past = g.symbol("P", 0, 3);
    State a = g.state("a", DType::f32, {past}, 0, 8), b = g.state("b", DType::f32, {past}, 0, 8);
    EXPECT_EQ(verify(*data), "");
    std::vector<StateInfo>& states = data->states();
    const StateInfo kept = states[0];
    states[0].latest = b.read().id();
    EXPECT_EQ(verify(*data), "state \"a\": its latest version grew from another leaf");
    states[0] = kept;
    states[0].read = b.read().id();
    EXPECT_EQ(verify(*data), "state \"a\": its leaf is another one's");
    states[0] = kept;
    states[0].capacity = 9;
    EXPECT_EQ(verify(*data), "state \"a\": its axis or capacity differ from its leaf's");
    states[0] = kept;
    states[0].latest = 99;
    EXPECT_EQ(verify(*data), "state \"a\": it names no node");
    states[0] = kept;
    states[0].shape = {4};
    EXPECT_EQ(verify(*data), "state \"a\": its type differs from its leaf's");
    states[0] = kept;
    states.push_back(kept);
    EXPECT_EQ(verify(*data), "state \"a\": listed twice");
    states.clear();
    EXPECT_EQ(verify(*data), "%1 = state_read \"a\" axis=(-1) capacity=(8) : f32[P]: belongs to no state");
}

}  // namespace
}  // namespace cairn::ir
