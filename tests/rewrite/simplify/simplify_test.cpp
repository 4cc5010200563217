#include "rewrite/simplify/simplify.hpp"

#include "cairn/composites.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/verify.hpp"
#include "rewrite/simplify/rewriter.hpp"
#include "rewrite/simplify/rule.hpp"
#include "tests/graph/ir/count_ops.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cairn {
namespace {

using ir::Op;

std::shared_ptr<ir::GraphData> simplified(const Graph& graph, const simplify::Options& options = {}) {
    return simplify::simplify(*graph.data(), options).graph;
}

using test::count;

TEST(Simplify, DropsDeadNodesAndKeepsNamedLeaves) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4});
    g.input("unused", DType::f32, {4});
    exp(x);
    g.output("y", tanh(x));
    const auto result = simplify::simplify(*g.data());
    EXPECT_TRUE(result.changed);
    EXPECT_EQ(to_string(Graph(result.graph)),
              "graph g\n%0 = input \"x\" : f32[4]\n%1 = input \"unused\" : f32[4]\n"
              "%2 = tanh %0 : f32[4]\noutput \"y\" %2\n");
    EXPECT_EQ(result.map, (std::vector<std::optional<ir::NodeId>>{0, 1, std::nullopt, 2}));
}

TEST(Simplify, MergesCommutedOperands) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4}), z = g.input("z", DType::f32, {4});
    g.output("y", (x + z) * (z + x));
    const auto after = simplified(g);
    EXPECT_EQ(count(*after, Op::add), 1u);
    const ir::Node& product = after->node(after->outputs()[0].node);
    EXPECT_EQ(product.operands[0], product.operands[1]);
}

// Rounding is part of a graph's semantics: a cast to f16 and back is not removed, and no cast is moved into a sum.
TEST(Simplify, ArithmeticBetweenWideningAndRoundingStaysWide) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f16, {4, 8}), wide = cast(x, DType::f32);
    g.output("mean", cast(sum(wide, {-1}) / 8, DType::f16));
    g.output("rounded", cast(cast(exp(wide), DType::f16), DType::f32));
    const auto after = simplified(g);
    EXPECT_EQ(count(*after, Op::cast), 4u);
    for (const ir::Node& node : after->nodes())
        if (node.op == Op::sum || node.op == Op::mul || node.op == Op::div || node.op == Op::exp) {
            EXPECT_EQ(node.dtype, DType::f32);
        }
}

TEST(Simplify, PutsConstantsLast) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4});
    g.output("y", 3 + x);
    const auto after = simplified(g);
    EXPECT_EQ(after->node(after->node(after->outputs()[0].node).operands[1]).op, Op::constant);
}

TEST(Simplify, DoesNotChangeASimpleGraph) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4});
    g.output("y", tanh(x) + x);
    g.output("z", exp(x) + tanh(x));
    const Graph once(simplified(g));
    const auto again = simplify::simplify(*once.data());
    EXPECT_FALSE(again.changed);
    EXPECT_EQ(to_string(Graph(again.graph)), to_string(once));
}

TEST(Simplify, PreservesNaNAndSignedZero) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4});
    g.output("a", x * 0);
    g.output("b", x - x);
    g.output("c", x + 0.0);
    g.output("d", 0.0 - x);
    g.output("e", exp(log(x)));
    g.output("f", pow(x, 0.5));
    g.output("h", x / 3);
    g.output("i", x == x);
    g.output("j", !(x < 1));
    g.output("k", x - (-0.0));
    g.output("l", pad(pad(x, 0, 1, 0, -0.0), 0, 1, 0, 0.0));
    const auto after = simplified(g);
    const std::size_t ops[] = {static_cast<std::size_t>(Op::mul), static_cast<std::size_t>(Op::sub)};
    EXPECT_EQ(count(*after, static_cast<Op>(ops[0])), 1u);
    EXPECT_EQ(count(*after, static_cast<Op>(ops[1])), 3u);
    EXPECT_EQ(count(*after, Op::pad), 2u);
    for (const Op op : {Op::add, Op::exp, Op::log, Op::pow, Op::div, Op::eq, Op::lt, Op::logical_not})
        EXPECT_EQ(count(*after, op), 1u) << ir::info(op).name;
}

TEST(Simplify, NarrowCastsAreKept) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4}), i = g.input("i", DType::i32, {4});
    g.output("a", cast(cast(x, DType::f16), DType::f32));
    g.output("b", cast(cast(i, DType::f32), DType::i32));
    g.output("c", cast(cast(i, DType::f64), DType::u8));
    EXPECT_EQ(count(*simplified(g), Op::cast), 6u);
}

TEST(Simplify, FoldsNoMoreThanTheLimit) {
    Graph g("g");
    std::vector<double> values(10);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
    const Tensor table = g.constant(DType::f32, {10}, values);
    g.output("y", exp(table));
    EXPECT_EQ(count(*simplified(g, {.fold_limit = 9, .disabled = {}}), Op::exp), 1u);
    EXPECT_EQ(count(*simplified(g, {.fold_limit = 10, .disabled = {}}), Op::exp), 0u);
}

TEST(Simplify, FoldedValuesAreRoundedToTheirDtype) {
    Graph g("g");
    const Tensor third = g.constant(DType::f32, 1.0) / g.constant(DType::f32, 3.0);
    g.output("y", third);
    const auto after = simplified(g);
    EXPECT_EQ(after->node(after->outputs()[0].node).values->front(), static_cast<double>(1.0F / 3.0F));
}

TEST(Simplify, AGatherOutOfRangeIsNotFolded) {
    Graph g("g");
    const Tensor table = g.constant(DType::f32, {2}, std::vector<double>{1, 2});
    g.output("y", gather(table, g.constant(DType::i32, {2}, std::vector<double>{0, 5})));
    EXPECT_EQ(count(*simplified(g), Op::gather), 1u);
}

TEST(Simplify, RulesCanBeSwitchedOff) {
    Graph g("g");
    g.output("y", neg(neg(g.input("x", DType::f32, {4}))));
    EXPECT_EQ(count(*simplified(g, {.fold_limit = 1, .disabled = {"neg_neg"}}), Op::neg), 2u);
    EXPECT_EQ(count(*simplified(g), Op::neg), 0u);
}

TEST(Simplify, KeepsStatesAndTheirVersions) {
    Graph g("g");
    const Dim past = g.symbol("past", 0, 8);
    State keys = g.state("keys", DType::f32, {past, 2}, 0, 16);
    const Tensor all = keys.append(g.input("rows", DType::f32, {3, 2}) * 1);
    g.output("y", neg(neg(all)));
    const auto after = simplified(g);
    EXPECT_EQ(ir::verify(*after), "");
    ASSERT_EQ(after->states().size(), 1u);
    EXPECT_EQ(after->node(after->states()[0].latest).op, Op::state_append);
    EXPECT_EQ(after->outputs()[0].node, after->states()[0].latest);
    EXPECT_EQ(after->nodes().size(), 3u);
}

TEST(Simplify, KeepsSourceLinesAndComposites) {
    Graph g("g");
    g.output("y", softmax(g.input("x", DType::f32, {4, 3}) * 1));
    const auto after = simplified(g);
    for (const ir::Node& node : after->nodes()) {
        if (node.op == Op::input) continue;
        EXPECT_EQ(node.composite, "softmax");
        EXPECT_NE(std::string_view(node.where.file_name()).find("simplify_test"), std::string_view::npos);
    }
}

TEST(Simplify, VisitsUnchangedNodesOnce) {
    static int visits;
    const simplify::Rule counting{"counting",
                                  "tanh(x) -> tanh(x)",
                                  "",
                                  simplify::Rounding::exact,
                                  Op::tanh,
                                  [](simplify::Rewriter&, ir::NodeId) -> std::optional<ir::NodeId> {
                                      ++visits;
                                      return std::nullopt;
                                  }};
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4});
    g.output("y", tanh(x));
    visits = 0;
    EXPECT_FALSE(simplify::simplify_with_rules(*g.data(), {&counting, 1}).changed);
    EXPECT_EQ(visits, 1);
    tanh(sin(x));  // dead
    visits = 0;
    EXPECT_TRUE(simplify::simplify_with_rules(*g.data(), {&counting, 1}).changed);
    EXPECT_EQ(visits, 2) << "once more for what is left";
}

// Checks the guarantees of simplify on one graph; returns the first fault, or nothing.
std::string fault_in(const Graph& graph, std::uint64_t seed, std::span<const simplify::Rule> rules) {
    const auto result = simplify::simplify_with_rules(*graph.data(), rules);
    if (const auto text = ir::verify(*result.graph); !text.empty()) return "verify: " + text;
    const auto again = simplify::simplify_with_rules(*result.graph, rules);
    if (again.changed || to_string(Graph(again.graph)) != to_string(Graph(result.graph))) return "no fixed point";
    if (result.graph->nodes().size() > graph.data()->nodes().size()) return "more nodes than before";
    for (const auto& sizes : test::random_sizes(*graph.data(), 3, seed)) {
        const interpreter::Inputs inputs = test::random_inputs(*graph.data(), sizes, seed);
        const auto before = interpreter::interpret(*graph.data(), inputs),
                   after = interpreter::interpret(*result.graph, inputs);
        for (const auto& [name, value] : before.outputs) {
            if (after.outputs.count(name) == 0) return name + " is lost";
            if (auto text = test::difference(after.outputs.at(name), value, 1e-6); !text.empty()) return name + text;
        }
        for (const auto& [name, value] : before.states)
            if (auto text = test::difference(after.states.at(name), value, 1e-6); !text.empty()) return name + text;
        const auto old_nodes = interpreter::interpret_nodes(*graph.data(), inputs);
        const auto new_nodes = interpreter::interpret_nodes(*result.graph, inputs);
        for (std::size_t i = 0; i < old_nodes.size(); ++i)
            if (result.map[i])
                if (auto text = test::difference(new_nodes[*result.map[i]], old_nodes[i], 1e-6); !text.empty())
                    return "%" + std::to_string(i) + text;
    }
    return {};
}

TEST(Simplify, RandomGraphsKeepTheirValues) {
    const auto rules = simplify::all_rules();
    int changed = 0;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        const Graph graph = test::random_graph(seed);
        changed += simplify::simplify(*graph.data()).changed ? 1 : 0;
        ASSERT_EQ(fault_in(graph, seed, rules), "") << "seed " << seed << "\n" << to_string(graph);
    }
    EXPECT_GT(changed, 300);
}

// A constant that a rule makes again, and that is read next to copies to several devices, is one node, also in the
// text.
TEST(Simplify, ResultsRoundTripThroughText) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4});
    g.output("a", x * 0.5);
    g.output("b", copy_to(x, Device::cuda()) / 2);
    EXPECT_EQ(count(*simplified(g), Op::constant), 1u);
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const Graph after(simplified(test::random_graph(seed, {.devices = true})));
        ASSERT_EQ(ir::verify(*after.data()), "") << to_string(after);
        ASSERT_EQ(to_string(parse_graph(to_string(after))), to_string(after)) << "seed " << seed;
    }
}

TEST(Simplify, KeepsCopiesBetweenSeveralDevices) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4});
    g.output("a", copy_to(x, Device::cpu) + copy_to(x, Device::cuda()));
    EXPECT_EQ(count(*simplified(g), Op::copy_to), 2u);
    simplify::Options options;
    options.only_device = Device::cpu;
    EXPECT_EQ(count(*simplified(g, options), Op::copy_to), 1u);
}

// Rules that are almost right, each with one plausible mistake.
const simplify::Rule wrong_rules[] = {
    {"abs_is_nothing", "abs(x) -> x", "", simplify::Rounding::exact, Op::abs,
     [](auto& r, auto id) -> std::optional<ir::NodeId> { return r.operand(id, 0); }},
    {"sub_commutes", "a - b -> b - a", "", simplify::Rounding::exact, Op::sub,
     [](auto& r, auto id) -> std::optional<ir::NodeId> {
         if (r.operand(id, 0) <= r.operand(id, 1)) return std::nullopt;
         return r.make(Op::sub, {r.operand(id, 1), r.operand(id, 0)});
     }},
    {"max_is_min", "max(a, b) -> min(a, b)", "", simplify::Rounding::exact, Op::max,
     [](auto& r, auto id) -> std::optional<ir::NodeId> {
         return r.make(Op::min, {r.operand(id, 0), r.operand(id, 1)});
     }},
    {"reduce_loses_the_sum", "sum(x) -> max_reduce(x)", "", simplify::Rounding::exact, Op::sum,
     [](auto& r, auto id) -> std::optional<ir::NodeId> {
         const Attributes attributes = r.node(id).attributes;
         return r.make(Op::max_reduce, {r.operand(id, 0)}, attributes);
     }},
    {"slice_from_the_front", "slice(x, a, b) -> slice(x, 0, b - a)", "", simplify::Rounding::exact, Op::slice,
     [](auto& r, auto id) -> std::optional<ir::NodeId> {
         Attributes cut = r.node(id).attributes;
         if (cut.dims("start")[0] == Dim(0)) return std::nullopt;
         cut[2].value = std::vector<Dim>{cut.dims("stop")[0] - cut.dims("start")[0]};
         cut[1].value = std::vector<Dim>{0};
         return r.make(Op::slice, {r.operand(id, 0)}, cut);
     }},
    {"where_forgets_not", "where(c, a, b) -> where(not c, a, b)", "", simplify::Rounding::exact, Op::where,
     [](auto& r, auto id) -> std::optional<ir::NodeId> {
         const ir::NodeId c = r.operand(id, 0);
         if (!r.is(c, Op::logical_not)) return std::nullopt;
         return r.make(Op::where, {r.operand(c, 0), r.operand(id, 1), r.operand(id, 2)});
     }},
    {"tanh_is_small", "tanh(x) -> x", "", simplify::Rounding::exact, Op::tanh,
     [](auto& r, auto id) -> std::optional<ir::NodeId> { return r.operand(id, 0); }},
};

TEST(Simplify, DetectsWrongRules) {
    for (const simplify::Rule& wrong : wrong_rules) {
        std::vector<simplify::Rule> rules{wrong};
        for (const simplify::Rule& rule : simplify::all_rules()) rules.push_back(rule);
        bool caught = false;
        for (std::uint64_t seed = 0; seed < 600 && !caught; ++seed) {
            try {
                caught = !fault_in(test::random_graph(seed), seed, rules).empty();
            } catch (const Error&) { caught = true; }
        }
        EXPECT_TRUE(caught) << wrong.name;
    }
}

TEST(Simplify, AnyNumberOfNeighbouringSlicesIsOneSlice) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {2000, 4});
    std::vector<Tensor> all, but_one;
    for (int i = 0; i < 2000; ++i) {
        all.push_back(slice(x, 0, i, i + 1));
        if (i != 700) but_one.push_back(all.back());
    }
    g.output("all", concat(all, 0));
    g.output("but_one", concat(but_one, 0));
    const auto graph = simplify::simplify(*g.data()).graph;
    EXPECT_EQ(graph->node(graph->outputs()[0].node).op, Op::input);
    EXPECT_EQ(graph->node(graph->outputs()[1].node).operands.size(), 2u);
    EXPECT_EQ(graph->nodes().size(), 4u);
}

TEST(Simplify, AChainOfConcatsGrowsLinearly) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {1, 4});
    Tensor y = x;
    for (int i = 0; i < 3000; ++i) y = concat({y, i % 2 ? tanh(x) : x}, 0);
    g.output("y", y);
    const auto graph = simplify::simplify(*g.data()).graph;
    std::size_t operands = 0;
    for (const ir::Node& node : graph->nodes()) operands += node.operands.size();
    EXPECT_LE(operands, 4000u);
    EXPECT_EQ(graph->node(graph->outputs()[0].node).shape, (Shape{3001, 4}));
}

TEST(Simplify, RulesWithoutFixedPointAreAnError) {
    const simplify::Rule rules[] = {
        {"there", "sin -> cos", "", simplify::Rounding::exact, Op::sin,
         [](auto& r, auto id) -> std::optional<ir::NodeId> { return r.make(Op::cos, {r.operand(id, 0)}); }},
        {"back", "cos -> sin", "", simplify::Rounding::exact, Op::cos,
         [](auto& r, auto id) -> std::optional<ir::NodeId> { return r.make(Op::sin, {r.operand(id, 0)}); }},
    };
    Graph g("g");
    g.output("y", sin(g.input("x", DType::f32, {4})));
    EXPECT_THROW(simplify::simplify_with_rules(*g.data(), rules), InternalError);
}

TEST(Simplify, AReplacementOfAnotherShapeIsAnError) {
    const simplify::Rule rules[] = {{"drop", "sum(x) -> x", "", simplify::Rounding::exact, Op::sum,
                                     [](auto& r, auto id) -> std::optional<ir::NodeId> { return r.operand(id, 0); }}};
    Graph g("g");
    g.output("y", sum(g.input("x", DType::f32, {4}), {0}, true));
    EXPECT_THROW(simplify::simplify_with_rules(*g.data(), rules), InternalError);
}

// A name moves to the node that replaces the value, once, whatever the value was rewritten to.
TEST(Simplify, KeepsNamesOfValues) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {4}), y = name(exp(x), "scores");
    g.output("a", name(y * 1.0f, "same"));
    g.output("b", name(-(-sin(x)), "twice negated"));
    const simplify::Simplified simple = simplify::simplify(*g.data());
    std::vector<std::string> labels;
    for (const ir::Node& node : simple.graph->nodes())
        if (!node.label.empty()) labels.push_back(node.label);
    EXPECT_EQ(labels, (std::vector<std::string>{"scores", "twice negated"}));
    EXPECT_EQ(simple.graph->node(*simple.map[y.id()]).label, "scores");
}

}  // namespace
}  // namespace cairn
