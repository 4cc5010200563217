#include "cairn/cairn.hpp"
#include "cairn/paths.hpp"
#include "tests/driver/attending_kernels.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <ostream>
#include <random>
#include <string>
#include <vector>

// Kernels write appended rows directly into the memory of a state.
namespace cairn::test {
namespace {

/// Sizes for states that hold up to 20 rows of 6 or of two heads of 3.
struct Model {
    Graph g{"g"};
    Dim t = g.symbol("T", 0, 4), past = g.symbol("P", 0, 8);
    Tensor x = g.input("x", DType::f32, {t, 6});

    State rows(const std::string& name, DType dtype = DType::f32) { return g.state(name, dtype, {past, 6}, 0, 20); }
    State heads(const std::string& name) { return g.state(name, DType::f32, {2, past, 3}, 1, 20); }
    Tensor split(const Tensor& value) const { return transpose(reshape(value, {t, 2, 3}), {1, 0, 2}); }
    Tensor last(const Tensor& version) const { return slice(version, 0, past, past + t); }
};

struct Named {
    const char* name;
    std::function<void(Model&)> build;
    bool is_computed_in_place = true;  ///< on some path the rows are computed in the state's memory
    friend void PrintTo(const Named& named, std::ostream* out) { *out << named.name; }
};

const Named models[] = {
    {"one", [](Model& m) { m.g.output("y", m.rows("s").append(tanh(m.x * 2.0F))); }},
    {"several",
     [](Model& m) {
         State s = m.rows("s");
         const Tensor first = s.append(tanh(m.x)), second = s.append(sin(m.x)),
                      third = s.append(sum(first, {0}, true) + m.x);
         m.g.output("y", sum(concat({first, second, third}, 0), {0}));
     }},
    {"moved", [](Model& m) { m.g.output("y", m.heads("h").append(m.split(tanh(m.x) * 3.0F))); }},
    {"moved back",
     [](Model& m) {
         const Tensor transposed = tanh(transpose(m.x, {1, 0}));
         m.g.output("y", m.rows("s").append(transpose(transposed, {1, 0})));
     }},
    {"product",
     [](Model& m) {
         const Tensor w = m.g.weight("w", DType::f32, {6, 6});
         m.g.output("y", m.rows("s").append(linear(m.x, w, m.g.weight("b", DType::f32, {6}))));
     }},
    {"narrow",
     [](Model& m) { m.g.output("y", cast(m.rows("s", DType::f16).append(cast(m.x * 0.5F, DType::f16)), DType::f32)); }},
    {"read and appended",
     [](Model& m) {
         const Tensor rows = tanh(m.x);
         m.g.output("rows", rows);
         m.g.output("y", m.rows("s").append(rows) * 2.0F);
     }},
    {"to two states",
     [](Model& m) {
         const Tensor rows = tanh(m.x);
         m.g.output("y", m.rows("a").append(rows));
         m.g.output("z", m.heads("b").append(m.split(rows)));
     }},
    {"of another state",
     [](Model& m) {
         State a = m.rows("a"), b = m.rows("b"), c = m.rows("c");
         const Tensor own = a.append(tanh(m.x));
         b.append(m.last(own));
         m.g.output("y", c.append(m.last(b.latest()) * 0.5F));
     }},
    {"each of the other",
     [](Model& m) {
         State a = m.rows("a"), b = m.rows("b");
         const Tensor of_a = sum(a.read(), {0}, true), of_b = sum(b.read(), {0}, true);
         m.g.output("y", a.append(m.x + of_b));
         m.g.output("z", b.append(m.x * of_a));
     }},
    {"of its own rows",
     [](Model& m) {
         State s = m.rows("s");
         const Tensor first = s.append(tanh(m.x));
         m.g.output("y", s.append(m.last(first) * 3.0F));
     }},
    {"of several results",
     [](Model& m) {
         const Tensor rows = tanh(m.x), more = rows * 2.0F + m.x;
         m.g.output("y", m.rows("a").append(rows));
         m.g.output("z", m.rows("b").append(more));
         m.g.output("more", sin(more));
     }},
    {"of several results where one is moved",
     [](Model& m) {
         const Tensor rows = tanh(m.x), more = rows * 2.0F + m.x;
         m.g.output("y", m.heads("a").append(m.split(rows)));
         m.g.output("more", sin(more));
         m.g.output("z", m.rows("b").append(more));
     }},
    {"read with those before",
     [](Model& m) {
         const auto attended = [&](const Tensor& x, const std::string& layer) {
             const auto product = [&](const char* name) {
                 return matmul(x, m.g.weight(name + layer, DType::f32, {6, 6}));
             };
             const Tensor keys = m.rows("keys" + layer).append(product("w")),
                          values = m.rows("values" + layer).append(product("u"));
             return matmul(exp(matmul(x, transpose(keys, {1, 0}))), values);
         };
         constexpr float scale = 1.0F / 64;  // results near 1
         m.g.output("y", attended(attended(tanh(m.x) * scale, "1") * scale, "2") * scale);
     }},
    {"equal rows of two states",
     [](Model& m) {
         const Tensor rows = matmul(tanh(m.x), m.g.weight("w", DType::f32, {6, 6})) * (1.0F / 16);
         const Tensor keys = m.rows("keys").append(rows), values = m.rows("values").append(rows);
         m.g.output("y", matmul(matmul(tanh(m.x), transpose(keys, {1, 0})), values) * (1.0F / 64));
     }},
    {"equal rows read with those before",
     [](Model& m) {
         const Tensor x = tanh(m.x) * (1.0F / 64), rows = matmul(x, m.g.weight("w", DType::f32, {6, 6}));
         const Tensor keys = m.rows("keys").append(rows), values = m.rows("values").append(rows);
         m.g.output("y", matmul(exp(matmul(x, transpose(keys, {1, 0}))), values));
         m.g.output("z", sin(rows));
     }},
    // The appended rows depend on old rows of the state that a write replaces.
    {"written over",
     [](Model& m) {
         const Dim some = m.g.symbol("Q", 1, 8);
         State s = m.g.state("s", DType::f32, {some, 6}, 0, 20), f = m.g.state("f", DType::f32, {1, 6});
         const Tensor before = s.read(), held = f.read();
         s.write(f.assign(sum(m.x, {0}, true)), 0);
         m.g.output("y", s.append(slice(before, 0, 0, 1) * 2.0F + held));
     },
     false},
    {"rope",
     [](Model& m) {
         const Tensor heads = transpose(reshape(m.x, {1, m.t, 1, 6}), {0, 2, 1, 3});
         State s = m.g.state("s", DType::f16, {1, 1, m.past, 6}, 2, 16);
         const Tensor all = s.append(cast(rope(heads, iota(m.g, m.t, DType::i32, m.past)), DType::f16));
         m.g.output("y", cast(all, DType::f32));
     }},
    {"bound",
     [](Model& m) {
         m.g.output("y", m.rows("s").append(exp(m.g.weight("w", DType::f32, {2, 6}))));
     },
     false},
};

/// Number of instructions that compute rows in the memory of a state.
int computed_in_states(const program::Program& program) {
    int count = 0;
    for (const program::Instruction& each : program.run)
        for (const program::View& view : each.outputs)
            count += program.buffers[static_cast<std::size_t>(view.buffer)].kind == program::BufferKind::state &&
                     each.problem->definition != "copy";
    return count;
}

Context with_attending_kernels(int threads) {
    ContextOptions options;
    options.threads = threads;
    options.extra = attending_kernels();
    return Context(options);
}

class AppendedRows : public testing::TestWithParam<Named> {
protected:
    static Graph graph() {
        Model model;
        GetParam().build(model);
        return model.g;
    }
    static std::string fault(const Graph& graph, const runtime::ProgramSet& set, const Context& context) {
        for (const std::int64_t t : {0, 1, 4})
            for (const std::int64_t past : {0, 1, 5}) {
                std::map<std::string, std::int64_t> sizes;
                for (const auto& [name, low, high] : graph.data()->symbols()->list())
                    sizes[name] = std::clamp(name == "T" ? t : past, low, high);
                const interpreter::Inputs inputs = random_inputs(*graph.data(), sizes, 17);
                CompiledRun run(set, context, inputs);
                const std::string text =
                    compare(run.run(inputs), interpreter::interpret(*graph.data(), inputs), error_bound);
                if (!text.empty()) return text;
            }
        return {};
    }
};

TEST_P(AppendedRows, EqualTheInterpreterOnAllPaths) {
    const Graph g = graph();
    std::mt19937_64 random(1);
    int computed = 0;
    for (const int threads : {1, 2}) {
        const Context context = with_attending_kernels(threads);
        const Paths alternatives = paths(g, context, {.verify = true});
        for (int i = 0; i < 20; ++i) {
            const Path path = alternatives.sample(random);
            const runtime::ProgramSet set = runtime::parse_program_set(path.compile().program());
            computed += computed_in_states(set.buckets[0].program);
            ASSERT_EQ(fault(g, set, context), "") << path;
        }
    }
    EXPECT_EQ(computed > 0, GetParam().is_computed_in_place);
}

TEST_P(AppendedRows, AreKeptInASavedProgram) {
    const Graph g = graph();
    const Context context = with_attending_kernels(1);
    const auto file = std::filesystem::path(CAIRN_BINARY_DIR) / ("appended_rows_" + std::string(GetParam().name));
    const CompiledGraph saved = compile(g, context, {.verify = true});
    saved.save(file);
    const CompiledGraph loaded = CompiledGraph::load(file, context);
    EXPECT_EQ(loaded.program(), saved.program());
    EXPECT_EQ(fault(g, runtime::parse_program_set(loaded.program()), context), "");
}

INSTANTIATE_TEST_SUITE_P(Models, AppendedRows, testing::ValuesIn(models), [](const auto& info) {
    std::string name = info.param.name;
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
});

program::Program program_of(const CompiledGraph& compiled) {
    return runtime::parse_program_set(compiled.program()).buckets[0].program;
}

TEST(AppendedRowsOfStates, OneInstructionComputesAndAppends) {
    Model m;
    m.g.output("y", sum(m.rows("s", DType::f16).append(cast(tanh(m.x) * 2.0F, DType::f16)), {0}));
    const program::Program program = program_of(compile(m.g, Context(), {.verify = true}));
    EXPECT_EQ(computed_in_states(program), 1);
    EXPECT_EQ(program.run.size(), 2U) << program::to_string(program);
    const program::Instruction& first = program.run[0];
    EXPECT_EQ(to_string(first.problem->outputs[0]), "f16[T,6]");
    EXPECT_EQ(to_string(first.outputs[0].offset), "6*P");
}

TEST(AppendedRowsOfStates, OneInstructionReadsTheStatesAndAppendsToThem) {
    Model m;
    const Tensor w = m.g.weight("w", DType::f32, {6, 6}), u = m.g.weight("u", DType::f32, {6, 6});
    const Tensor keys = m.rows("keys").append(matmul(m.x, w)), values = m.rows("values").append(matmul(m.x, u));
    m.g.output("y", matmul(exp(matmul(m.x, transpose(keys, {1, 0}))), values));
    const program::Program program = program_of(compile(m.g, with_attending_kernels(1), {.verify = true}));
    ASSERT_EQ(program.run.size(), 1U) << program::to_string(program);
    EXPECT_EQ(program.run[0].problem->definition, "attend");
    EXPECT_EQ(computed_in_states(program), 2) << "of its results";
}

TEST(AppendedRowsOfStates, ExplanationsNameTheKernelThatComputesThem) {
    Model m;
    m.g.output("y", sum(m.rows("s").append(tanh(m.x)), {0}));
    const Explanation explanation = compile(m.g, Context(), {.disable = {"elementwise"}}).explain();
    const auto& values = explanation.buckets[0].values;
    const auto version = std::find_if(values.begin(), values.end(),
                                      [](const ExplainedValue& value) { return value.op == "state_append"; });
    ASSERT_NE(version, values.end());
    ASSERT_EQ(version->alternatives.size(), 2U);
    EXPECT_EQ(version->alternatives[0].definition, "tanh");
    EXPECT_TRUE(version->alternatives[0].chosen);
    EXPECT_EQ(version->alternatives[1].definition, "state_append");
    EXPECT_GT(version->alternatives[1].slower.value(), 0);
    EXPECT_EQ(explanation.buckets[0].instructions[0].op, "state_append");
}

// Rows beyond the length of a state are not part of it until the run has succeeded.
TEST(AppendedRowsOfStates, AFailedRunLeavesStatesUnchanged) {
    Graph g;
    const Dim t = g.symbol("T", 1, 4), past = g.symbol("P", 0, 8);
    State s = g.state("s", DType::f32, {past, 2}, 0, 8);
    const Tensor table = g.input("table", DType::f32, {3, 2});
    g.output("y", s.append(gather(table, g.input("ids", DType::i32, {t}), 0)));
    CompiledGraph model = compile(g, Context(), {.verify = true});
    ASSERT_EQ(computed_in_states(program_of(model)), 1);
    const float rows[] = {1, 2, 3, 4, 5, 6};
    model.set("table", rows, {3, 2});
    const auto run = [&](std::vector<std::int32_t> ids) {
        model.set("ids", ids, {static_cast<std::int64_t>(ids.size())});
        model.run();
        const auto y = model.output("y").as<float>();
        return std::vector<float>(y.begin(), y.end());
    };
    EXPECT_EQ(run({2}), (std::vector<float>{5, 6}));
    EXPECT_THROW(run({1, 1, 9}), Error);
    EXPECT_EQ(run({0}), (std::vector<float>{5, 6, 1, 2}));
}

}  // namespace
}  // namespace cairn::test
