#include "cairn/composites.hpp"
#include "graph/interpreter/interpreter.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/graph/ir/random_graph.hpp"
#include "tests/graph/ir/reference_results.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

// Masks and biases of finite numbers, as in exported models: one attention kernel computes both.
namespace cairn::test {
namespace {

constexpr double lowest = std::numeric_limits<float>::lowest();

/// Two batches of two heads, and a mask of the keys that are not padding.
struct Layer {
    Graph g{"layer"};
    double low;
    Dim t, s;
    Tensor q, k, v, keys, row, column;

    Layer(double hidden, bool is_fixed) : low(hidden), t(20), s(20) {
        if (!is_fixed) t = g.symbol("T", 1, 70), s = t + g.symbol("P", 0, 90);
        q = g.input("q", DType::f32, {2, 2, t, 16});
        k = g.input("k", DType::f32, {2, 2, s, 16}), v = g.input("v", DType::f32, {2, 2, s, 16});
        keys = reshape(g.input("keys", DType::boolean, {2, s}), {2, 1, 1, s});
        row = reshape(iota(g, t, DType::i32, s - t), {t, 1}), column = iota(g, s);
    }
    Tensor scores() { return matmul(q, swap_axes(k, -1, -2)) * 0.25; }
    Tensor attended(const Tensor& scores) { return matmul(softmax(scores), v); }
    Tensor zero() { return g.constant(DType::f32, 0.0); }
    Tensor causal() { return row >= column; }
    Tensor padding() { return (1 - cast(keys, DType::f32)) * low; }
    Tensor bias() { return g.input("bias", DType::f32, {1, 2, t, s}); }
    Tensor by_distance() {
        return g.constant(DType::f32, {2, 1, 1}, std::vector<double>{0.5, 0.25}) * cast(column - row, DType::f32);
    }
};

struct Masked {
    const char* name;
    std::function<Tensor(Layer&)> build;
    std::string attributes;        ///< those before the scale
    std::size_t operands, others;  ///< operands of attention; other instructions of a run
    double low = lowest;
    bool is_fixed = false;
    friend void PrintTo(const Masked& masked, std::ostream* out) { *out << masked.name; }
};

Tensor gpt2(Layer& m) { return m.attended(where(m.causal(), m.scores(), m.low) + m.padding()); }
Tensor gpt2_chosen(Layer& m) {
    return m.attended(where(m.causal(), m.scores(), m.low) + where(m.keys, m.zero(), m.low));
}
Tensor llama(Layer& m) { return m.attended(m.scores() + (where(m.causal(), m.zero(), m.low) + m.padding())); }

const std::string causal_added = "causal=(1) pairs=(1) adds_to_hidden=(1)", added = "causal=(0) pairs=(1)";
const Masked masked[] = {
    {"bert", [](Layer& m) { return m.attended(m.scores() + m.padding()); }, added, 4, 1},
    {"bert_10000", [](Layer& m) { return m.attended(m.scores() + m.padding()); }, added, 4, 1, -1e4},
    {"distilbert", [](Layer& m) { return m.attended(where(!m.keys, m.low, m.scores())); }, "causal=(0)", 4, 0},
    {"gpt2", gpt2, causal_added, 4, 1},
    {"gpt2_1e9", gpt2, causal_added, 4, 1, -1e9},
    {"gpt2_65504", gpt2, causal_added, 4, 1, -65504},
    {"gpt2_chosen", gpt2_chosen, causal_added, 4, 1},
    {"gpt2_chosen_1e9", gpt2_chosen, causal_added, 4, 1, -1e9},
    {"gpt2_table",
     [](Layer& m) {
         const Tensor table = m.g.weight("table", DType::boolean, {1, 1, m.t, m.s});
         return m.attended(where(table, m.scores(), m.low) + m.padding());
     },
     "causal=(0) pairs=(1) adds_to_hidden=(1)", 5, 1, lowest, true},
    {"gpt2_windowed",
     [](Layer& m) {
         const Tensor seen = m.causal() && m.row - m.column < 9;
         return m.attended(where(seen, m.scores(), m.low) + m.padding());
     },
     "causal=(1) pairs=(1) window=(9) adds_to_hidden=(1)", 4, 1},
    {"llama_one_mask", [](Layer& m) { return m.attended(m.scores() + where(m.causal() && m.keys, m.zero(), m.low)); },
     "causal=(1)", 4, 0},
    {"llama_sum", llama, causal_added, 4, 1},
    {"llama_added_in_turn",
     [](Layer& m) { return m.attended(m.scores() + m.padding() + where(m.causal(), m.zero(), m.low)); }, causal_added,
     4, 1},
    {"t5_encoder", [](Layer& m) { return m.attended(m.scores() + (m.bias() + m.padding())); }, added, 4, 1},
    {"t5_in_turn", [](Layer& m) { return m.attended(m.scores() + m.bias() + m.padding()); }, added, 5, 1},
    {"t5_decoder",
     [](Layer& m) { return m.attended(m.scores() + (m.bias() + where(m.causal() && m.keys, m.zero(), m.low))); },
     causal_added, 5, 0},
    {"t5_decoder_sum",
     [](Layer& m) { return m.attended(m.scores() + m.bias() + where(m.causal(), m.zero(), m.low) + m.padding()); },
     causal_added, 5, 1},
    {"alibi", [](Layer& m) { return m.attended(where(m.causal(), m.scores() + m.by_distance(), m.low)); },
     "causal=(1) pairs=(1)", 4, 3},
    {"alibi_infinite",
     [](Layer& m) { return m.attended(m.scores() + m.by_distance() + where(m.causal(), m.zero(), -INFINITY)); },
     "causal=(1) pairs=(1)", 4, 3},
    {"alibi_windowed",
     [](Layer& m) {
         const Tensor seen = m.causal() && m.row - m.column < 9;
         return m.attended(where(seen, m.scores() + m.by_distance(), -INFINITY));
     },
     "causal=(1) pairs=(1) window=(9)", 4, 3},
    {"alibi_falcon",
     [](Layer& m) { return m.attended(m.scores() + m.by_distance() + where(m.causal() && m.keys, m.zero(), m.low)); },
     causal_added, 5, 3},
};

class AttentionMasks : public testing::TestWithParam<Masked> {};

// Padding at the start of the keys leaves queries without any visible key, for which -3.4e38 absorbs the score it is
// added to; -1e9 keeps some of the scores' digits, so with it the padding is at the end.
void set_padding(interpreter::Value& keys, bool is_in_front) {
    const std::size_t count = keys.data.size() / 2;
    for (std::size_t i = 0; i < keys.data.size(); ++i) {
        const std::size_t key = i % count, padding = count / (i < count ? 3 : 5);
        keys.data[i] = (is_in_front ? key >= padding : key + padding < count) ? 1 : 0;
    }
}

TEST_P(AttentionMasks, AreOneKernelAndEqualTheInterpreter) {
    const Masked& masked = GetParam();
    Layer layer(masked.low, masked.is_fixed);
    layer.g.output("y", masked.build(layer));
    const Context context({.threads = 2});
    const runtime::ProgramSet set = runtime::parse_program_set(compile(layer.g, context, {.verify = true}).program());
    const auto& run = set.buckets[0].program.run;
    std::size_t found = 0;
    for (const auto& instruction : run) {
        const Problem& problem = *instruction.problem;
        if (problem.definition != "attention") continue;
        ++found;
        EXPECT_TRUE(to_string(problem).starts_with("attention " + masked.attributes + " scale=0.25 "))
            << to_string(problem);
        EXPECT_EQ(problem.inputs.size(), masked.operands) << to_string(problem);
    }
    EXPECT_EQ(found, 1U);
    EXPECT_EQ(run.size(), 1 + masked.others) << program::to_string(set.buckets[0].program);
    for (const auto& [queries, before] : {std::pair{1, 0}, {7, 3}, {70, 90}}) {
        const std::map<std::string, std::int64_t> sizes{{"T", queries}, {"P", before}};
        interpreter::Inputs inputs = random_inputs(*layer.g.data(), sizes, 23);
        if (inputs.tensors.contains("keys")) set_padding(inputs.tensors.at("keys"), masked.low == lowest);
        CompiledRun compiled(set, context, inputs);
        EXPECT_EQ(compare(compiled.run(inputs), interpreter::interpret(*layer.g.data(), inputs), error_bound), "");
    }
}

INSTANTIATE_TEST_SUITE_P(Exports, AttentionMasks, testing::ValuesIn(masked),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace cairn::test
