#include "cairn/composites.hpp"
#include "fusion/match.hpp"
#include "fusion/pattern.hpp"
#include "graph/ir/op_table.hpp"
#include "tests/fusion/match_check.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace cairn::test {
namespace {

// A call of a definition on the operands of a pattern, with sizes and numbers chosen by a test.
struct TypedCall {
    Graph graph{"call"};
    std::string wanted;
};

Dim size_for(Graph& graph, const std::string& symbol, bool symbolic) {
    if (symbol == "D") return 4;
    if (symbol == "G" || symbol == "H") return 2;
    if (symbol == "K") return 5;
    if (symbol == "N") return 6;
    if (symbol == "V") return 7;
    return symbolic ? graph.symbol(symbol, 1, 4) : Dim(3);
}

double number_for(const std::string& name, int round) {
    if (name == "eps") return round == 0 ? 1e-5 : 0.125;
    if (name == "scale") return round == 0 ? 0.5 : 1;
    if (name == "softcap") return round == 0 ? 30 : 1.5;
    if (name == "window") return round == 0 ? 3 : 1;
    if (name == "base") return round == 0 ? 10000 : 777;
    return round == 0 ? -1e9 : -3.5;
}

// Problems whose definition computes a value that a shorter definition reads are left out: a mask of hidden keys is
// negated to one of visible keys. In f32 a wide softmax is an ordinary one.
std::vector<std::string> problems(const Definition& definition) {
    std::vector<std::string> result;
    for (const std::string& pattern : definition.patterns)
        for (std::string& problem : fusion::problems_of(pattern))
            if (problem.find(" hides=") == problem.npos && problem.find(" wide_softmax=") == problem.npos)
                result.push_back(std::move(problem));
    return result;
}

TypedCall call(const Definition& definition, std::string_view text, bool symbolic, int more_axes, int round,
               DType dtype = DType::f32) {
    TypedCall result;
    const auto symbols = Symbols::create();
    Problem problem = parse_problem(text, *symbols);
    std::vector<Dim> sizes;
    for (const auto& symbol : symbols->list()) {
        const bool is_group = symbol.name == "R" && text.find("G*R") != text.npos;
        sizes.push_back(size_for(result.graph, symbol.name, symbolic && !is_group));
    }
    std::vector<Tensor> operands;
    for (const TensorDesc& written : problem.inputs) {
        Shape shape;
        if (written.shape.front().symbol() == "R")
            for (int i = 0; i < more_axes; ++i) shape.emplace_back(2 + i);
        for (const Dim& dim : written.shape) shape.push_back(result.graph.symbols().substitute(dim, sizes));
        const std::string name = "in" + std::to_string(operands.size()) + (is_integer(written.dtype) ? ".below7" : "");
        operands.push_back(result.graph.input(name, written.dtype == DType::f32 ? dtype : written.dtype, shape));
        result.wanted += (result.wanted.empty() ? "" : ", ") + name;
    }
    for (const fusion::Hole& hole : fusion::put_sentinels(problem))
        hole.put(number_for(problem.attributes[hole.attribute].name, round), problem.attributes);
    const std::vector<Tensor> outputs = definition.build(operands, problem.attributes);
    for (std::size_t i = 0; i < outputs.size(); ++i)
        result.graph.output(i + 1 == outputs.size() ? "y" : "y" + std::to_string(i), outputs[i]);
    problem.inputs.clear();
    const std::string head = to_string(problem);
    std::string work = head.substr(0, head.find(" |"));
    if (definition.fusion_role == FusionRole::product)
        work = operands.size() == 2
                   ? "matmul"
                   : fmt::format("fused {{3=matmul(0,1):{0} 4=add(3,2):{0}}} results", to_string(dtype));
    result.wanted = work + " (" + result.wanted + ")";
    return result;
}

// Patterns of products of integers are left out where no matmul is of integers; these are none.
TEST(Propose, DefinitionsOfIntegersAreMatchedInAnyGraph) {
    Definition decoded;
    decoded.name = "decoded";
    decoded.patterns = {"decoded | i32[R,D] i32[D]"};
    decoded.build = [](std::span<const Tensor> x, const Attributes&) {
        return std::vector{cast(x[0] * 3 + x[1], DType::f32)};
    };
    Graph graph("g");
    const Tensor codes = graph.input("codes", DType::i32, {5, 4}), zeros = graph.input("zeros", DType::i32, {4});
    graph.output("y", relu(cast(codes * 3 + zeros, DType::f32)));
    const std::vector<fusion::Match> matches = fusion::propose(*graph.data(), {&decoded, 1}, {});
    EXPECT_TRUE(std::any_of(matches.begin(), matches.end(),
                            [](const fusion::Match& match) { return match.definition == "decoded"; }));
}

TEST(Propose, EveryPatternMatchesTheGraphOfItsDefinition) {
    for (const Definition& definition : definitions())
        for (const std::string& text : problems(definition))
            for (const bool symbolic : {false, true}) {
                const TypedCall made = call(definition, text, symbolic, 0, symbolic ? 1 : 0);
                const Proposed matches = proposed(made.graph);
                ASSERT_NE(match_that_is(matches, made.wanted), nullptr) << text << "\n" << to_string(made.graph);
                EXPECT_EQ(fault_in_matches(matches, 5), "") << text;
            }
}

TEST(Propose, LeadingAxesMayBeAdded) {
    for (const Definition& definition : definitions()) {
        if (definition.name == "attention" || definition.name == "embedding") continue;
        for (const std::string& text : problems(definition))
            for (int more = 1; more <= 2; ++more) {
                const TypedCall made = call(definition, text, true, more, 0);
                const Proposed matches = proposed(made.graph);
                ASSERT_NE(match_that_is(matches, made.wanted), nullptr) << text << "\n" << to_string(made.graph);
            }
    }
}

// All problems for f16, whose composites differ from those of f32 in their casts; some problems for the other dtypes.
TEST(Propose, OtherFloatDtypesAreMatchedToo) {
    for (const auto& [dtype, every] :
         {std::pair(DType::f16, 1U), std::pair(DType::bf16, 5U), std::pair(DType::f64, 5U)})
        for (const Definition& definition : definitions()) {
            const std::vector<std::string> texts = problems(definition);
            for (std::size_t i = 0; i < texts.size(); i += every) {
                const TypedCall made = call(definition, texts[i], false, 0, 1, dtype);
                ASSERT_NE(match_that_is(proposed(made.graph), made.wanted), nullptr)
                    << to_string(dtype) << ' ' << texts[i] << "\n"
                    << to_string(made.graph);
            }
        }
}

TEST(Propose, ANumberThatDiffersByAThousandthDoesNotMatch) {
    std::vector<Definition> wrong = {
        {"gelu_tanh",
         [](std::span<const Tensor> x, const Attributes&) -> std::vector<Tensor> {
             return {x[0] * 0.5 * (1 + tanh(0.7978845608 * (x[0] + 0.0448 * x[0] * x[0] * x[0])))};
         },
         {"gelu_tanh | f32[R]"}},
    };
    Graph g("g");
    g.output("y", gelu_tanh(g.input("x", DType::f32, {8})));
    for (const fusion::Match& match : fusion::propose(*g.data(), wrong)) EXPECT_NE(match.definition, "gelu_tanh");
}

TEST(Propose, EveryComputedNodeHasAMatch) {
    const Graph g = random_graph(11);
    const Proposed p = proposed(g);
    for (ir::NodeId id = 0; id < p.graph->nodes().size(); ++id) {
        const ir::Node& node = p.graph->node(id);
        const bool given = node.op == ir::Op::input || node.op == ir::Op::weight || node.op == ir::Op::constant ||
                           node.op == ir::Op::state_read;
        const auto alone = std::count_if(p.matches.begin(), p.matches.end(), [&](const fusion::Match& match) {
            return match.definition == ir::info(node.op).name && match.outputs == std::vector{id} &&
                   match.interior.empty();
        });
        EXPECT_EQ(alone, given ? 0 : 1) << id;
    }
}

// A sum with another reader, and its layer norm: one match provides both, another computes the sum again from its
// operands.
TEST(Propose, SharedSumsBelongToAMatchOfTwoOutputs) {
    Graph g("g");
    const Tensor a = g.input("a", DType::f32, {3, 8}), b = g.input("b", DType::f32, {3, 8});
    const Tensor gamma = g.weight("gamma", DType::f32, {8}), beta = g.weight("beta", DType::f32, {8});
    const Tensor s = b + a;
    g.output("y", layer_norm(s, gamma, beta));
    g.output("s", tanh(s));
    const Proposed p = proposed(g);
    const fusion::Match* both = match_at_output(p, "add_layer_norm");
    ASSERT_NE(both, nullptr);
    EXPECT_EQ(both->outputs.size(), 2u);
    EXPECT_EQ(p.graph->node(both->outputs[0]).op, ir::Op::add);
    EXPECT_NE(match_at_output(p, "layer_norm"), nullptr);
    EXPECT_EQ(fault_in_matches(p, 2), "");
}

TEST(Propose, InteriorValuesMayHaveOtherReaders) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 8});
    const Tensor m = max_reduce(x, {-1}, true), e = exp(x - m), t = sum(e, {-1}, true);
    g.output("y", e / t);
    g.output("max", m * 3);
    g.output("sum", t);
    g.output("log", log(t) + m);
    const Proposed p = proposed(g);
    const fusion::Match* match = match_at_output(p, "softmax");
    ASSERT_NE(match, nullptr);
    EXPECT_EQ(match->outputs.size(), 1u);
    EXPECT_EQ(fault_in_matches(p, 2), "");
}

// One of the operands depends on the other output: no kernel could run.
TEST(Propose, NoMatchDependsOnItself) {
    Graph g("g");
    const Tensor a = g.input("a", DType::f32, {3, 8}), b = g.input("b", DType::f32, {3, 8});
    const Tensor s = a + b, gamma = sum(s, {0});
    g.output("y", layer_norm(s, gamma, g.weight("beta", DType::f32, {8})));
    const Proposed p = proposed(g);
    EXPECT_NE(match_at_output(p, "layer_norm"), nullptr);
    EXPECT_EQ(match_at_output(p, "add_layer_norm"), nullptr);
}

bool computed_from(const ir::GraphData& graph, ir::NodeId node, ir::NodeId ancestor) {
    if (node == ancestor) return true;
    const auto& operands = graph.node(node).operands;
    return node > ancestor && std::any_of(operands.begin(), operands.end(),
                                          [&](ir::NodeId id) { return computed_from(graph, id, ancestor); });
}

TEST(Propose, MatchesOfRandomGraphsComputeTheirOutputs) {
    int composites = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const Proposed p = proposed(random_graph(seed));
        ASSERT_EQ(fault_in_matches(p, seed, 1e-4), "") << seed;
        for (const fusion::Match& match : p.matches) {
            composites += std::any_of(definitions().begin(), definitions().end(),
                                      [&](const Definition& d) { return d.name == match.definition; });
            for (const ir::NodeId input : match.inputs)
                for (const ir::NodeId output : match.outputs)
                    EXPECT_FALSE(computed_from(*p.graph, input, output)) << seed;
        }
    }
    EXPECT_GT(composites, 100);
}

TEST(Propose, OrderIsByLastOutputLargerMatchesFirst) {
    const Proposed p = proposed(random_graph(3));
    const auto last = [](const fusion::Match& match) {
        return *std::max_element(match.outputs.begin(), match.outputs.end());
    };
    for (std::size_t i = 1; i < p.matches.size(); ++i) {
        const fusion::Match &a = p.matches[i - 1], &b = p.matches[i];
        EXPECT_LE(last(a), last(b));
        if (last(a) == last(b)) {
            EXPECT_GE(a.interior.size() + a.outputs.size(), b.interior.size() + b.outputs.size());
        }
    }
    EXPECT_EQ(fusion::to_string(p.matches), fusion::to_string(fusion::propose(*p.graph, definitions())));
}

// Pre-norm transformer layers with a cache, as in GPT-2, written with composites.
Graph transformer(int layers, Dim (*tokens)(Graph&)) {
    Graph g("transformer");
    const Dim t = tokens(g), past = g.symbol("past", 0, 8);
    const auto weight = [&](const std::string& name, Shape shape) {
        return g.weight(name, DType::f32, std::move(shape));
    };
    Tensor x = g.input("x", DType::f32, {1, t, 12});
    for (int i = 0; i < layers; ++i) {
        const std::string at = std::to_string(i) + ".";
        const Tensor h = layer_norm(x, weight(at + "g1", {12}), weight(at + "b1", {12}));
        const Tensor qkv = linear(h, weight(at + "wqkv", {12, 36}), weight(at + "bqkv", {36}));
        const auto heads = [&](int part) {
            return transpose(reshape(slice(qkv, -1, 12 * part, 12 * part + 12), {1, t, 3, 4}), {0, 2, 1, 3});
        };
        State k = g.state(at + "k", DType::f32, {1, 3, past, 4}, 2, 16),
              v = g.state(at + "v", DType::f32, {1, 3, past, 4}, 2, 16);
        const Tensor a = attention(heads(0), k.append(heads(1)), v.append(heads(2)),
                                   {.causal = true, .scale = {}, .masked_score = {}});
        x = x + linear(reshape(transpose(a, {0, 2, 1, 3}), {1, t, 12}), weight(at + "wo", {12, 12}),
                       weight(at + "bo", {12}));
        const Tensor f = layer_norm(x, weight(at + "g2", {12}), weight(at + "b2", {12}));
        const Tensor inner = gelu_tanh(linear(f, weight(at + "w1", {12, 48}), weight(at + "c1", {48})));
        x = x + linear(inner, weight(at + "w2", {48, 12}), weight(at + "c2", {12}));
    }
    g.output("y", layer_norm(x, weight("g", {12}), weight("b", {12})));
    return g;
}

void expect_counts(const Proposed& p, int layers) {
    const auto count = [&](std::string_view name) {
        return static_cast<int>(std::count_if(p.matches.begin(), p.matches.end(), [&](const fusion::Match& match) {
            return definition_text(match) == name && match.moved.empty();
        }));
    };
    EXPECT_EQ(count("attention"), layers);
    EXPECT_EQ(count("softmax"), layers);
    EXPECT_EQ(count("layer_norm"), 2 * layers + 1);
    EXPECT_EQ(count("add_layer_norm"), 2 * layers);
    EXPECT_EQ(count("gelu_tanh"), layers);
    EXPECT_EQ(count("fused matmul add gelu_tanh"), layers);
    EXPECT_EQ(count("fused matmul add add"), 2 * layers);
    EXPECT_EQ(count("fused matmul add"), 4 * layers);
    const auto products = [&](std::size_t outputs) {
        return std::count_if(p.matches.begin(), p.matches.end(), [&](const fusion::Match& match) {
            return match.definition == "fused" && match.outputs.size() == outputs;
        });
    };
    EXPECT_EQ(products(1), 7 * layers);
    EXPECT_EQ(products(3), layers) << "what makes keys and values may append them";
}

TEST(Propose, AllLayersOfATransformerAreFound) {
    const Proposed many = proposed(transformer(12, [](Graph& g) { return g.symbol("T", 2, 8); }));
    expect_counts(many, 12);
    const Proposed one = proposed(transformer(12, [](Graph&) { return Dim(1); }));
    expect_counts(one, 12);
    EXPECT_EQ(fault_in_matches(proposed(transformer(2, [](Graph& g) { return g.symbol("T", 2, 8); })), 1), "");
    EXPECT_EQ(fault_in_matches(proposed(transformer(2, [](Graph&) { return Dim(1); })), 1), "");
}

// Of many numbers not all are built, but those of matches are.
TEST(Propose, ADefinitionMayRefuseANumberAmongMany) {
    const std::vector<Definition> definitions = {
        {"minus",
         [](std::span<const Tensor> x, const Attributes& attributes) -> std::vector<Tensor> {
             const double number = attributes.number("number");
             if (number > 15) throw Error(ErrorKind::argument, "minus", "too much");
             return {sin(x[0]) - number};
         },
         {"minus number=? | f32[R,D]"}}};
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {2, 8});
    for (int i = 1; i <= 20; ++i) g.output("y" + std::to_string(i), sin(x * (i + 0.5)) - i);
    std::vector<double> found;
    for (const fusion::Match& match : fusion::propose(*g.data(), definitions))
        if (match.definition == "minus") found.push_back(match.attributes.number("number"));
    std::sort(found.begin(), found.end());
    std::vector<double> accepted;
    for (int i = 1; i <= 15; ++i) accepted.push_back(i);
    EXPECT_EQ(found, accepted);
}

TEST(Propose, APatternThatItsDefinitionRejectsIsRefused) {
    Graph g("g");
    g.output("y", tanh(g.input("x", DType::f32, {8})));
    for (const char* text : {"linear | f32[R,K]", "other | f32[R,K] f32[K,N] f32[N]", "linear | f32[R,"}) {
        std::vector<Definition> definitions = {
            {"linear",
             [](std::span<const Tensor> x, const Attributes&) -> std::vector<Tensor> {
                 if (x.size() != 3) throw Error(ErrorKind::argument, "linear", "takes three operands");
                 return {linear(x[0], x[1], x[2])};
             },
             {text}}};
        EXPECT_THROW(fusion::propose(*g.data(), definitions), Error) << text;
    }
}

}  // namespace
}  // namespace cairn::test
