#include "cairn/cairn.hpp"
#include "cairn/paths.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <ostream>
#include <random>
#include <string>
#include <vector>

// Kernels write results to the strides of later transposes and reshapes.
namespace cairn::test {
namespace {

/// Attention over a cache, with 3 heads of 4.
struct HeadsBlock {
    Graph g{"g"};
    Dim t = g.symbol("T", 0, 5), past = g.symbol("P", 0, 7);
    Tensor x = g.input("x", DType::f32, {1, t, 12});
    Tensor heads = g.input("heads", DType::f32, {1, 3, t, 4});

    Tensor weight(const std::string& name, Shape shape) { return g.weight(name, DType::f32, std::move(shape)); }
    Tensor split(const Tensor& value) const { return transpose(reshape(value, {1, t, 3, 4}), {0, 2, 1, 3}); }
    Tensor merged(const Tensor& value) const { return reshape(transpose(value, {0, 2, 1, 3}), {1, t, 12}); }
    Tensor attended(const std::string& name) {
        State k = g.state(name + "k", DType::f32, {1, 3, past, 4}, 2, 16),
              v = g.state(name + "v", DType::f32, {1, 3, past, 4}, 2, 16);
        const Tensor qkv = linear(x, weight(name + "w", {12, 36}), weight(name + "b", {36}));
        const auto part = [&](int i) { return split(slice(qkv, -1, 12 * i, 12 * i + 12)); };
        return attention(part(0), k.append(part(1)), v.append(part(2)),
                         {.causal = true, .scale = {}, .masked_score = {}});
    }
    Tensor projected(const Tensor& rows) { return linear(rows, weight("wo", {12, 12}), weight("bo", {12})); }
};

struct NamedHeads {
    const char* name;
    std::function<void(HeadsBlock&)> build;
    friend void PrintTo(const NamedHeads& named, std::ostream* out) { *out << named.name; }
};

const NamedHeads blocks[] = {
    {"attention", [](HeadsBlock& m) { m.g.output("y", m.projected(m.merged(m.attended("a")))); }},
    {"elementwise", [](HeadsBlock& m) { m.g.output("y", m.projected(m.merged(tanh(m.heads) * 2.0F))); }},
    {"operands_repeated",
     [](HeadsBlock& m) { m.g.output("y", m.projected(m.merged(m.heads * sum(m.heads, {-1}, true)))); }},
    {"norm",
     [](HeadsBlock& m) {
         m.g.output("y", m.projected(m.merged(layer_norm(m.heads, m.weight("g", {4}), m.weight("b", {4})))));
     }},
    {"product",
     [](HeadsBlock& m) {
         m.g.output("y", m.merged(linear(m.heads, m.weight("w", {4, 4}), m.weight("b", {4}))));
     }},
    {"turned_output",
     [](HeadsBlock& m) {
         m.g.output("y", transpose(softmax(m.heads), {0, 2, 1, 3}));
     }},
    {"columns_last",
     [](HeadsBlock& m) {
         m.g.output("y", transpose(tanh(m.x), {2, 0, 1}));
     }},
    {"read_unmoved_too",
     [](HeadsBlock& m) {
         const Tensor rows = tanh(m.heads);
         m.g.output("y", m.merged(rows));
         m.g.output("z", sum(rows, {-1}));
     }},
    {"to_two_places",
     [](HeadsBlock& m) {
         const Tensor rows = tanh(m.heads);
         m.g.output("y", m.merged(rows));
         m.g.output("z", transpose(rows, {3, 1, 2, 0}));
     }},
    {"out_and_into_a_state",
     [](HeadsBlock& m) {
         const Tensor rows = tanh(m.heads);
         m.g.output("y", m.g.state("s", DType::f32, {1, 3, m.past, 4}, 2, 16).append(rows));
         m.g.output("z", m.merged(rows));
     }},
    {"columns_out_and_into_states",
     [](HeadsBlock& m) {
         const Tensor product = linear(m.x, m.weight("w", {12, 60}), m.weight("b", {60})) * 0.5F;
         const auto part = [&](int i) { return slice(product, -1, 12 * i, 12 * i + 12); };
         State rows = m.g.state("r", DType::f32, {1, m.g.symbol("Q", 0, 7), 12}, 1, 24),
               heads = m.g.state("h", DType::f32, {1, 3, m.past, 4}, 2, 16);
         m.g.output("y", rows.append(part(0)));
         m.g.output("z", sum(heads.append(m.split(part(3))), {-1}));
         m.g.output("turned", transpose(part(2), {2, 0, 1}));
         m.g.output("odd", product * slice(part(0), -1, 0, 1));
         m.g.output("again", rows.append(part(4)));
     }},
    {"grouped_heads",
     [](HeadsBlock& m) {
         State k = m.g.state("k", DType::f32, {1, 2, m.past, 5}, 2, 16),
               v = m.g.state("v", DType::f32, {1, 2, m.past, 5}, 2, 16);
         const Tensor qkv = matmul(m.x, m.weight("w", {12, 40}));
         const auto part = [&](int first, int heads) {
             return transpose(reshape(slice(qkv, -1, first, first + 5 * heads), {1, m.t, heads, 5}), {0, 2, 1, 3});
         };
         const Tensor seen = attention(part(0, 4), k.append(part(20, 2)), v.append(part(30, 2)),
                                       {.causal = true, .scale = {}, .masked_score = {}});
         m.g.output("y", reshape(transpose(seen, {0, 2, 1, 3}), {1, m.t, 20}));
     }},
    {"columns_of_fewer_rows",
     [](HeadsBlock& m) {
         const Dim some = m.g.symbol("S", 1, 6), live = m.g.symbol("L", 0, 7);
         const Tensor rows = slice(m.g.input("rows", DType::f32, {some, 12}), 0, 1, some);
         const Tensor product = relu(linear(rows, m.weight("w", {12, 45}), m.weight("b", {45})));
         State s = m.g.state("s", DType::f32, {3, live, 11}, 1, 16);
         m.g.output("y", s.append(transpose(reshape(slice(product, -1, 7, 40), {some - 1, 3, 11}), {1, 0, 2})));
         m.g.output("turned", transpose(slice(product, -1, 40, 45), {1, 0}));
     }},
    {"as_many_columns_as_rows",
     [](HeadsBlock& m) {
         const Tensor product = matmul(m.x, m.weight("w", {12, 36}));
         m.g.output("y", m.g.state("s", DType::f32, {1, m.past, 12}, 1, 16).append(slice(product, -1, 12, 24)));
         m.g.output("turned", transpose(slice(product, -1, 0, m.t), {2, 1, 0}));
         m.g.output("other", transpose(slice(product, -1, 3, 9), {2, 1, 0}));
     }},
    {"columns_of_a_product_that_rests_on_their_state",
     [](HeadsBlock& m) {
         State s = m.g.state("s", DType::f32, {1, m.past, 12}, 1, 16), other = m.g.state("o", DType::f32, {1, 12});
         const Tensor live = sum(s.read(), {1}, true);
         const Tensor product = matmul(m.x + live + reshape(other.read(), {1, 1, 12}), m.weight("w", {12, 24}));
         m.g.output("y", s.append(slice(product, -1, 12, 24)) * 2.0F);
         m.g.output("z", transpose(slice(product, -1, 0, 7), {2, 1, 0}));
         other.assign(slice(reshape(sum(product, {1}, true), {1, 24}), -1, 0, 12));
     }},
    {"of_a_state_written_over",
     [](HeadsBlock& m) {
         State s = m.g.state("s", DType::f32, {2, 6});
         m.g.output("y", reshape(transpose(tanh(s.read()), {1, 0}), {12}));
         s.assign(s.read() * 0.5F + sum(m.x));
     }},
};

program::Program cheapest_of(const Graph& graph) {
    const Path path = paths(graph, Context(), {.verify = true}).cheapest();
    return runtime::parse_program_set(path.compile().program()).buckets[0].program;
}

/// Instructions that compute a result and write it with other strides than dense ones, not to a state.
int written_moved(const program::Program& program) {
    return static_cast<int>(std::count_if(program.run.begin(), program.run.end(), [&](const auto& each) {
        const auto is_moved = [&](std::size_t i) {
            const auto buffer = static_cast<std::size_t>(each.outputs[i].buffer);
            return program.buffers[buffer].kind != program::BufferKind::state && !each.problem->outputs[i].is_dense();
        };
        bool any = false;
        for (std::size_t i = 0; i < each.outputs.size(); ++i) any = any || is_moved(i);
        return any && each.problem->definition != "copy";
    }));
}

/// Instructions that only move elements.
int copies_in(const program::Program& program) {
    return static_cast<int>(std::count_if(program.run.begin(), program.run.end(), [](const auto& each) {
        return each.problem->definition == "copy" || each.problem->definition == "reshape";
    }));
}

class MovedResults : public testing::TestWithParam<NamedHeads> {
protected:
    HeadsBlock block;
    void SetUp() override { GetParam().build(block); }
    std::string fault(const runtime::ProgramSet& set, const Context& context) const {
        const ir::GraphData& graph = *block.g.data();
        for (const std::int64_t t : {0, 1, 2, 5})
            for (const std::int64_t past : {0, 1, 7}) {
                std::map<std::string, std::int64_t> sizes;
                for (const auto& [name, low, high] : graph.symbols()->list())
                    sizes[name] = std::clamp(name == "T" ? t : past, low, high);
                const interpreter::Inputs inputs = random_inputs(graph, sizes, 17);
                CompiledRun run(set, context, inputs), other(set, context, inputs);
                const interpreter::Results expected = interpreter::interpret(graph, inputs);
                for (CompiledRun* each : {&run, &other})
                    if (std::string text = compare(each->run(inputs), expected, error_bound); !text.empty())
                        return text;
            }
        return {};
    }
};

TEST_P(MovedResults, EqualTheInterpreterOnAllPaths) {
    std::mt19937_64 random(1);
    int moved = 0;
    for (const int threads : {1, 2}) {
        const Context context({.threads = threads});
        const Paths alternatives = paths(block.g, context, {.verify = true});
        for (int i = 0; i < 20; ++i) {
            const Path path = i == 0 ? alternatives.cheapest() : alternatives.sample(random);
            const runtime::ProgramSet set = runtime::parse_program_set(path.compile().program());
            moved += written_moved(set.buckets[0].program);
            ASSERT_EQ(fault(set, context), "") << path;
        }
    }
    EXPECT_GT(moved, 0);
}

TEST_P(MovedResults, AreTheSameInEachBucket) {
    const Context context({.threads = 2});
    const CompiledGraph compiled = compile(block.g, context, {.splits = {{"T", {1, 3}}}, .verify = true});
    EXPECT_EQ(fault(runtime::parse_program_set(compiled.program()), context), "");
}

INSTANTIATE_TEST_SUITE_P(Blocks, MovedResults, testing::ValuesIn(blocks),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(MovedResultsOfLayers, HeadsAreMergedWithoutACopy) {
    HeadsBlock m;
    m.g.output("y", m.projected(m.merged(m.attended("a"))));
    const program::Program program = cheapest_of(m.g);
    EXPECT_EQ(program.run.size(), 3U) << program::to_string(program);
    EXPECT_EQ(copies_in(program), 0) << program::to_string(program);
    EXPECT_EQ(written_moved(program), 1);
}

TEST(MovedResultsOfLayers, KeysAndValuesAreWrittenByTheirProduct) {
    HeadsBlock m;
    m.g.output("y", m.projected(m.merged(m.attended("a"))));
    const program::Program program = cheapest_of(m.g);
    const program::Instruction& product = program.run[0];
    ASSERT_EQ(product.outputs.size(), 3U) << program::to_string(program);
    EXPECT_EQ(product.problem->definition, "fused");
    const std::vector<Dim>& columns = product.problem->attributes.dims("columns");
    EXPECT_EQ(columns[0], Dim(0));
    EXPECT_EQ(columns[1] + columns[2], Dim(12 + 24));
    EXPECT_EQ(to_string(product.problem->outputs[0]), "f32[1,T,36]");
    for (const std::size_t i : {1U, 2U}) {
        EXPECT_EQ(to_string(product.problem->outputs[i]), "f32[1,T,3,4]:(1,4,64,1)");
        const auto buffer = static_cast<std::size_t>(product.outputs[i].buffer);
        EXPECT_EQ(program.buffers[buffer].kind, program::BufferKind::state);
        EXPECT_EQ(to_string(product.outputs[i].offset), "4*P");
    }
}

TEST(MovedResultsOfLayers, ExplanationsNameTheProductThatAppends) {
    HeadsBlock m;
    m.g.output("y", m.projected(m.merged(m.attended("a"))));
    const Explanation explanation = compile(m.g, Context(), {}).explain();
    int appended = 0;
    for (const ExplainedValue& value : explanation.buckets[0].values) {
        if (value.op != "state_append") continue;
        ++appended;
        ASSERT_EQ(value.alternatives.size(), 2U);
        EXPECT_EQ(value.alternatives[0].definition, "fused");
        EXPECT_TRUE(value.alternatives[0].chosen);
        EXPECT_EQ(value.alternatives[1].definition, "state_append");
        EXPECT_GT(value.alternatives[1].slower.value(), 0);
    }
    EXPECT_EQ(appended, 2);
}

TEST(MovedResultsOfLayers, ATransposedOutputIsWrittenInPlace) {
    HeadsBlock m;
    m.g.output("y", transpose(tanh(m.x), {2, 0, 1}));
    const program::Program program = cheapest_of(m.g);
    ASSERT_EQ(program.run.size(), 1U) << program::to_string(program);
}

TEST(MovedResultsOfLayers, ExplanationsListTheAlternatives) {
    HeadsBlock m;
    m.g.output("y", m.merged(tanh(m.heads)));
    const Explanation explanation = compile(m.g, Context(), {.disable = {"elementwise"}}).explain();
    const auto& values = explanation.buckets[0].values;
    const auto merged =
        std::find_if(values.begin(), values.end(), [](const ExplainedValue& value) { return value.op == "reshape"; });
    ASSERT_NE(merged, values.end());
    ASSERT_EQ(merged->alternatives.size(), 2U);
    EXPECT_EQ(merged->alternatives[0].definition, "tanh");
    EXPECT_TRUE(merged->alternatives[0].chosen);
    EXPECT_EQ(merged->alternatives[1].definition, "reshape");
    EXPECT_GT(merged->alternatives[1].slower.value(), 0);
}

}  // namespace
}  // namespace cairn::test
