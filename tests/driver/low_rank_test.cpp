#include "cairn/cairn.hpp"
#include "runtime/program_set.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

// Low-rank adaptation of a projection: by one kernel, by products beside each other, or merged with the weight.
namespace cairn::test {
namespace {

constexpr std::int64_t depth = 96, columns = 130;

/// Rows [T, depth] times a weight, changed by inputs of a rank that is `rank` or 0, with a bias.
struct Layer {
    Layer(std::int64_t rank, bool has_adapter, double scale = 0.5, bool is_bound = false) {
        const Tensor x = graph.input("x", DType::f32, {graph.symbol("T", 1, 200), depth});
        const Tensor w = graph.weight("w", DType::f32, {depth, columns}),
                     bias = graph.weight("bias", DType::f32, {columns});
        Tensor y;
        if (!has_adapter) {
            y = matmul(x, w);
        } else {
            const Dim used = is_bound ? Dim(rank) : graph.symbol("used", 0, 1) * rank;
            const auto made = [&](const char* name, std::int64_t size) {
                return is_bound ? graph.weight(name, DType::f32, {used, size})
                                : graph.input(name, DType::f32, {used, size});
            };
            const Tensor a = made("a", depth), b = made("b", columns);
            y = lora(x, w, transpose(a, {1, 0}), b, scale);
        }
        graph.output("y", y + bias);
    }
    Graph graph{"layer"};
};

std::int64_t calls_of(const program::Program& program, std::string_view definition) {
    return std::count_if(program.run.begin(), program.run.end(),
                         [&](const auto& each) { return each.problem->definition == definition; });
}

std::vector<std::string> kernels_of(const program::Program& program) {
    std::vector<std::string> ids;
    for (const auto& each : program.run) ids.push_back(each.kernel);
    return ids;
}

double largest_difference(const interpreter::Value& a, const interpreter::Value& b) {
    double difference = 0, largest = 0;
    for (std::size_t i = 0; i < a.data.size(); ++i) {
        difference = std::max(difference, std::abs(a.data[i] - b.data[i]));
        largest = std::max(largest, std::abs(b.data[i]));
    }
    return difference / largest;
}

TEST(LowRank, ItsFormsAgree) {
    const Context context({.threads = 2});
    const std::vector<KernelRule> none{{"*linear_low_rank*", "*", RuleAction::ban, "for comparison"}};
    for (const std::int64_t rank : {1, 8, 33}) {
        const Layer layer(rank, true), bound(rank, true, 0.5, true);
        // Without kernels for the narrow product.
        const std::vector<KernelRule> only{{"*", "*-> f32[T," + std::to_string(rank) + "]*", RuleAction::ban, ""}};
        const std::vector<Split> splits{{"used", {0}}};
        const CompiledGraph fused = compile(layer.graph, context, {.splits = splits, .rules = only, .verify = true}),
                            composite =
                                compile(layer.graph, context, {.splits = splits, .rules = none, .verify = true}),
                            merged = compile(bound.graph, context, {.rules = none, .verify = true});
        const auto set_of = [](const CompiledGraph& compiled) {
            return runtime::parse_program_set(compiled.program());
        };
        const runtime::ProgramSet one = set_of(fused), several = set_of(composite), weight = set_of(merged);
        ASSERT_EQ(one.buckets.size(), 2U);
        EXPECT_EQ(calls_of(one.buckets[1].program, "linear_low_rank"), 1) << program::to_string(one.buckets[1].program);
        EXPECT_EQ(one.buckets[1].program.run.size(), 1U) << program::to_string(one.buckets[1].program);
        EXPECT_EQ(calls_of(several.buckets[1].program, "linear_low_rank"), 0);
        EXPECT_EQ(weight.buckets[0].program.run.size(), 1U) << program::to_string(weight.buckets[0].program);
        for (const std::int64_t rows : {1, 3, 15, 200}) {
            const interpreter::Inputs inputs = random_inputs(*layer.graph.data(), {{"T", rows}, {"used", 1}}, 17);
            interpreter::Inputs bound_inputs = random_inputs(*bound.graph.data(), {{"T", rows}}, 17);
            for (auto& [name, value] : bound_inputs.tensors) value = inputs.tensors.at(name);
            const interpreter::Value exact = interpreter::interpret(*layer.graph.data(), inputs).outputs.at("y");
            for (const auto& [set, given] : {std::pair(&one, &inputs), {&several, &inputs}, {&weight, &bound_inputs}}) {
                CompiledRun run(*set, context, *given);
                EXPECT_LE(largest_difference(run.run(*given).outputs.at("y"), exact), 1e-6) << rank << ", " << rows;
            }
        }
    }
}

TEST(LowRank, WithoutARankTheProgramIsThatOfTheProduct) {
    const Context context({.threads = 2});
    const Layer plain(8, false), layer(8, true);
    CompileOptions options{.splits = {{"used", {0}}}, .seconds_per_kept_byte = 0};
    const CompiledGraph changed = compile(layer.graph, context, options);
    options.splits = {};
    const CompiledGraph base = compile(plain.graph, context, options);
    const runtime::ProgramSet changed_set = runtime::parse_program_set(changed.program()),
                              base_set = runtime::parse_program_set(base.program());
    EXPECT_EQ(kernels_of(changed_set.buckets[0].program), kernels_of(base_set.buckets[0].program));
    for (const std::int64_t rows : {1, 7, 200}) {
        const interpreter::Inputs inputs = random_inputs(*layer.graph.data(), {{"T", rows}, {"used", 0}}, 5);
        CompiledRun with(changed_set, context, inputs), without(base_set, context, inputs);
        interpreter::Inputs base_inputs = inputs;
        base_inputs.tensors.erase("a");
        base_inputs.tensors.erase("b");
        base_inputs.sizes.erase("used");
        EXPECT_EQ(with.run(inputs).outputs.at("y").data, without.run(base_inputs).outputs.at("y").data) << rows;
    }
}

}  // namespace
}  // namespace cairn::test
