#include "cairn/ops.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/verify.hpp"
#include "rewrite/simplify/rule.hpp"
#include "rewrite/simplify/rules_per_op.hpp"
#include "rewrite/simplify/simplify.hpp"
#include "rule_cases.hpp"
#include "tests/graph/ir/count_ops.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cairn {
namespace {

std::vector<RuleCase> all_cases() {
    std::vector<RuleCase> cases;
    for (const auto family : {algebra_cases(), power_cases(), logic_cases(), reduction_cases(), movement_cases(),
                              slicing_cases(), constant_cases(), cast_cases()})
        cases.insert(cases.end(), family.begin(), family.end());
    return cases;
}

const std::string header = "graph g (N in 1..8, M in 0..5)";

std::string body_of(const Graph& graph) {
    const std::string text = to_string(graph);
    return text.substr(text.find('\n'));
}

std::string simplified_body(const Graph& graph, std::string_view without = "") {
    simplify::Options options;
    options.only_device = Device::cpu;
    if (!without.empty()) options.disabled.emplace_back(without);
    return body_of(Graph(simplify::simplify(*graph.data(), options).graph));
}

class RuleTest : public ::testing::TestWithParam<RuleCase> {};

TEST_P(RuleTest, RewritesAsShown) {
    const Graph graph = parse_graph(header + std::string(GetParam().before));
    EXPECT_EQ(simplified_body(graph), GetParam().after) << GetParam().rule;
    EXPECT_NE(simplified_body(graph, GetParam().rule), GetParam().after)
        << "the case does not need " << GetParam().rule;
}

TEST_P(RuleTest, KeepsValues) {
    const Graph graph = parse_graph(header + std::string(GetParam().before));
    simplify::Options options;
    options.only_device = Device::cpu;
    const auto after = simplify::simplify(*graph.data(), options).graph;
    EXPECT_EQ(ir::verify(*after), "");
    for (const auto& sizes : test::random_sizes(*graph.data(), 4, 1)) {
        const interpreter::Inputs inputs = test::random_inputs(*graph.data(), sizes, 1);
        const auto expected = interpreter::interpret(*graph.data(), inputs).outputs;
        for (const auto& [name, value] : interpreter::interpret(*after, inputs).outputs)
            EXPECT_EQ(test::difference(value, expected.at(name), 1e-6), "") << name;
    }
}

INSTANTIATE_TEST_SUITE_P(Cases, RuleTest, ::testing::ValuesIn(all_cases()), [](const auto& info) {
    return std::string(info.param.rule) + "_" + std::to_string(info.index);
});

TEST(Rules, EachHasACase) {
    std::set<std::string_view> seen;
    for (const RuleCase& each : all_cases()) seen.insert(each.rule);
    for (const simplify::Rule& rule : simplify::all_rules())
        EXPECT_TRUE(seen.count(rule.name)) << rule.name << " has no before and after";
}

TEST(Rules, EachHasALaw) {
    for (const simplify::Rule& rule : simplify::all_rules()) {
        EXPECT_FALSE(rule.name.empty());
        EXPECT_NE(rule.law.find(" -> "), std::string_view::npos) << rule.name;
    }
}

// A graph with `op` on operands made by `operand`, in the dtype that the op requires.
template <typename Make>
Graph with_op(ir::Op op, Make operand) {
    Graph graph("g");
    const ir::OpInfo& row = ir::info(op);
    std::vector<ir::NodeId> ids;
    for (int i = 0; i < row.min_operands; ++i) {
        const bool boolean = row.accepts == ir::DTypeSet::booleans || (op == ir::Op::where && i == 0);
        const DType number = has_floats(row.accepts) ? DType::f32 : DType::i32;
        ids.push_back(operand(graph, "x" + std::to_string(i), boolean ? DType::boolean : number).id());
    }
    Attributes attributes;
    if (op == ir::Op::cast) attributes.push_back({"dtype", std::vector<Dim>{static_cast<int>(DType::f64)}});
    graph.output("y", Tensor(graph.data(), graph.data()->make(op, ids, attributes, std::source_location::current())));
    return graph;
}

using test::count;

TEST(Rules, BroadcastsMoveBehindEveryElementwiseOp) {
    for (const ir::Op op : simplify::elementwise_ops) {
        const Graph graph = with_op(op, [](Graph& g, const std::string& name, DType dtype) {
            return broadcast(g.input(name, dtype, {3}), {4, 3});
        });
        const auto after = simplify::simplify(*graph.data()).graph;
        EXPECT_EQ(count(*after, ir::Op::broadcast), 1u) << ir::info(op).name;
        EXPECT_EQ(after->node(after->outputs()[0].node).op, ir::Op::broadcast) << ir::info(op).name;
    }
}

TEST(Rules, EveryElementwiseOpOnConstantsIsFolded) {
    for (const ir::Op op : simplify::elementwise_ops) {
        const Graph graph = with_op(op, [](Graph& g, const std::string&, DType dtype) {
            return g.constant(dtype, {2}, std::vector<double>{0, 1});
        });
        const auto after = simplify::simplify(*graph.data()).graph;
        EXPECT_EQ(count(*after, op), op == ir::Op::div ? 1u : 0u) << ir::info(op).name;  // 0 / 0 stays for the run
    }
}

}  // namespace
}  // namespace cairn
