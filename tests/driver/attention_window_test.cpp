#include "cairn/composites.hpp"
#include "graph/interpreter/interpreter.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/graph/ir/random_graph.hpp"
#include "tests/graph/ir/reference_results.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

namespace cairn::test {
namespace {

/// Attention of queries to the keys of a state, as the composite or as separate ops.
struct Windowed {
    const char* name;
    std::function<Tensor(const Tensor& q, const Tensor& k, const Tensor& v)> attend;
    std::string work;  ///< the kernel's Problem, without its operands
    friend void PrintTo(const Windowed& windowed, std::ostream* out) { *out << windowed.name; }
};

Tensor by_hand(const Tensor& q, const Tensor& k, const Tensor& v, int far) {
    const Graph g(q.graph());
    const Dim t = q.dim(2), s = k.dim(2);
    const Tensor i = reshape(iota(g, t, DType::i32, s - t), {t, 1}), j = iota(g, s);
    const Tensor scores = matmul(q, swap_axes(k, -1, -2)) * 0.5;
    return matmul(softmax(where(j <= i && j > i - far, scores, -1e9)), v);
}

Tensor with_two_added(const Tensor& q, const Tensor& k, const Tensor& v) {
    Graph g(q.graph());
    const Dim t = q.dim(2), s = k.dim(2);
    const Tensor i = reshape(iota(g, t, DType::i32, s - t), {t, 1}), j = iota(g, s);
    const Tensor near = where(j <= i && j > i - 3, g.constant(DType::f32, 0.0), -INFINITY);
    const Tensor scores = matmul(q, swap_axes(k, -1, -2)) * 0.5;
    return matmul(softmax(scores + near + g.input("bias", DType::f32, {1, 1, 1, s})), v);
}

const Windowed windowed[] = {
    {"composite", [](auto& q, auto& k, auto& v) { return attention(q, k, v, {.causal = true, .window = 3}); },
     "attention causal=(1) window=(3) scale=0.5 masked_score=-3.4028235e+38 |"},
    {"capped",
     [](auto& q, auto& k, auto& v) { return attention(q, k, v, {.causal = true, .window = 3, .softcap = 30}); },
     "attention causal=(1) window=(3) softcap=30 scale=0.5 masked_score=-3.4028235e+38 |"},
    {"not_causal", [](auto& q, auto& k, auto& v) { return attention(q, k, v, {.window = 2}); },
     "attention causal=(0) window=(2) scale=0.5 masked_score=-3.4028235e+38 |"},
    {"by_hand", [](auto& q, auto& k, auto& v) { return by_hand(q, k, v, 3); },
     "attention causal=(1) window=(3) scale=0.5 masked_score=-1e+09 |"},
    {"by_hand_one_further", [](auto& q, auto& k, auto& v) { return by_hand(q, k, v, 4); },
     "attention causal=(1) window=(4) scale=0.5 masked_score=-1e+09 |"},
    {"two_added", with_two_added, "attention causal=(1) pairs=(1) window=(3) scale=0.5 masked_score=-inf |"},
};

class AttentionWindow : public testing::TestWithParam<Windowed> {};

TEST_P(AttentionWindow, IsOneKernelAndEqualsTheInterpreter) {
    Graph g("g");
    const Dim t = g.symbol("T", 0, 5), past = g.symbol("P", 0, 7);
    State k = g.state("k", DType::f32, {1, 1, past, 4}, 2, 16), v = g.state("v", DType::f32, {1, 1, past, 4}, 2, 16);
    const Tensor x = g.input("x", DType::f32, {1, 2, t, 4}), more = g.input("more", DType::f32, {1, 1, t, 4});
    g.output("y", GetParam().attend(x, k.append(more), v.append(tanh(more))));
    const Context context({.threads = 2});
    const runtime::ProgramSet set = runtime::parse_program_set(compile(g, context, {.verify = true}).program());
    int found = 0;
    for (const auto& instruction : set.buckets[0].program.run)
        found += to_string(*instruction.problem).starts_with(GetParam().work) ? 1 : 0;
    EXPECT_EQ(found, 1) << program::to_string(set.buckets[0].program);
    for (const std::int64_t queries : {0, 1, 5})
        for (const std::int64_t before : {0, 1, 7}) {
            const std::map<std::string, std::int64_t> sizes{{"T", queries}, {"P", before}};
            const interpreter::Inputs inputs = random_inputs(*g.data(), sizes, 17);
            CompiledRun run(set, context, inputs);
            EXPECT_EQ(compare(run.run(inputs), interpreter::interpret(*g.data(), inputs), error_bound), "");
        }
}

INSTANTIATE_TEST_SUITE_P(Expressions, AttentionWindow, testing::ValuesIn(windowed),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace cairn::test
