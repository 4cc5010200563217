#include "program/plan_memory.hpp"

#include "cairn/cairn.hpp"
#include "program/program.hpp"
#include "runtime/compiled_graph.hpp"
#include "tests/graph/ir/random_graph.hpp"
#include "tests/program/random_program.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cairn {
namespace {

using test::program_of;

TEST(PlanMemory, OffsetsHoldAtOtherSizes) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const program::Program program = program_of(seed);
        std::vector<std::int64_t> values;
        std::mt19937 random(static_cast<std::uint32_t>(seed));
        for (const Symbols::Symbol& symbol : program.symbols->list())
            values.push_back(symbol.low + static_cast<std::int64_t>(
                                              random() % static_cast<std::uint64_t>(symbol.high - symbol.low + 1)));
        const auto [offsets, arena_bytes] = program::evaluate_plan(program, values);
        const auto& storages = program.plan.storages;
        for (std::size_t a = 0; a < storages.size(); ++a)
            for (std::size_t b = 0; b < a; ++b) {
                if (storages[a].first > storages[b].last || storages[b].first > storages[a].last) continue;
                const std::int64_t a_end = offsets[a] + storages[a].bytes.evaluate(values),
                                   b_end = offsets[b] + storages[b].bytes.evaluate(values);
                EXPECT_TRUE(a_end <= offsets[b] || b_end <= offsets[a] || a_end == offsets[a] || b_end == offsets[b])
                    << "seed " << seed;
                EXPECT_LE(a_end, arena_bytes.value_of(Device::cpu));
            }
    }
}

TEST(PlanMemory, SamplesIncludeTheBoundsAndSizesBetween) {
    program::Program program;
    program.symbols = Symbols::create();
    using Points = std::vector<std::vector<std::int64_t>>;
    EXPECT_EQ(program::sample_points(program, 8), Points{{}}) << "without symbols there is one point";
    const Dim n = program.symbols->add("N", 1, 1), t = program.symbols->add("T", 0, 100);
    EXPECT_EQ(program::sample_points(program, 3), (Points{{1, 100}, {1, 0}, {1, 50}}));
    EXPECT_EQ(program::sample_points(program, 1), (Points{{1, 100}}));
    program.symbols = Symbols::create();
    program.symbols->add("N", 3, 3);
    EXPECT_EQ(program::sample_points(program, 8), Points{{3}}) << "no point twice";
}

TEST(PlanMemory, AStateIsNoLargerThanItsCapacity) {
    Graph g;
    const Dim past = g.symbol("P", 0, 15), t = g.symbol("T", 1, 8);
    State s = g.state("s", DType::f32, {past, 4}, 0, 16);
    g.output("y", sum(s.append(g.input("x", DType::f32, {t, 4}))));
    const auto program = runtime::parse_program_set(compile(g, Context()).program()).buckets[0].program;
    const auto names = program.symbols->list();
    for (const auto& point : program::sample_points(program, 8)) {
        ASSERT_EQ(point.size(), 2U);
        EXPECT_LE(point[0] + point[1], 16) << names[0].name << " " << point[0] << ", " << point[1];
    }
}

/// Number of buffers in the largest storage.
std::size_t max_shared(const Graph& graph, std::vector<std::string> disabled = {"fuse", "elementwise"}) {
    CompileOptions options;
    options.disable = std::move(disabled);
    const auto program = runtime::parse_program_set(compile(graph, Context(), options).program()).buckets[0].program;
    EXPECT_EQ(program::verify(program), "");
    std::size_t most = 0;
    for (const program::Storage& storage : program.plan.storages) most = std::max(most, storage.buffers.size());
    return most;
}

TEST(PlanMemory, AChainIsComputedInPlaceAndAnInputIsReusedOnce) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {64});
    const Tensor a = exp(x), b = sin(x);
    g.output("y", gelu(a * b));
    EXPECT_GE(max_shared(g), 4U);
}

TEST(PlanMemory, AValueReadLaterIsNotOverwritten) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {64}), a = exp(x), b = sin(a);
    g.output("y", b / max_reduce(a, {0}, true));
    EXPECT_EQ(max_shared(g), 2U) << "the quotient over the sine";
    Graph wider;
    wider.output("y", cast(exp(wider.input("x", DType::f32, {64})), DType::f64));
    EXPECT_EQ(max_shared(wider), 1U) << "other bytes";
    Graph kept;
    const Tensor e = exp(kept.input("x", DType::f32, {64}));
    kept.output("e", e);
    kept.output("y", sin(e));
    EXPECT_EQ(max_shared(kept), 1U) << "an output lasts until it has been read";
}

/// Two copies in a row, on the given devices: input, a, b, output.
program::Program copies(Device of_a, Device of_b) {
    program::Program program;
    program.symbols = Symbols::create();
    const TensorDesc desc = TensorDesc::dense(DType::f32, {16});
    using Kind = program::BufferKind;
    program.buffers = {{Kind::input, "x", desc, 64, {}},
                       {Kind::transient, "", desc, 64, {}},
                       {Kind::transient, "", desc, 64, {}},
                       {Kind::output, "y", desc, 64, {}}};
    program.buffers[1].device = of_a;
    program.buffers[2].device = of_b;
    Problem problem;
    problem.definition = "copy_to";
    problem.inputs = problem.outputs = {desc};
    for (int i = 0; i < 3; ++i) {
        program::Instruction& copy = program.run.emplace_back();
        copy.problem = std::make_shared<const Problem>(problem);
        copy.inputs = {{i, 0}};
        copy.outputs = {{i + 1, 0}};
    }
    program.outputs.push_back({"y", {3, 0}, desc});
    return program;
}

TEST(PlanMemory, StoragesOfTwoDevicesHaveArenasOfTheirOwn) {
    const program::InPlacePairs any_pair = [](const program::Instruction&) {
        return std::vector<std::pair<int, int>>{{0, 0}};
    };
    for (const bool apart : {false, true}) {
        program::Program program = copies(Device::cpu, apart ? Device::cuda() : Device::cpu);
        program::plan_memory(program, any_pair);
        const auto placed = program::evaluate_plan(program, {});
        EXPECT_EQ(program.plan.storages.size(), apart ? 3U : 1U) << "in place on one device alone";
        EXPECT_EQ(placed.arena_bytes.value_of(Device::cuda()), apart ? 64 : 0);
        for (const program::Storage& storage : program.plan.storages)
            for (const int below : storage.below)
                EXPECT_EQ(program::device_of(program, storage),
                          program::device_of(program, program.plan.storages[static_cast<std::size_t>(below)]));
    }
}

TEST(PlanMemory, InPlacePairsReferToExistingOperands) {
    Kernel kernel;
    kernel.in_place = {{0, 0}, {1, 0}, {0, 1}, {2, 0}};
    program::Instruction instruction;
    instruction.inputs.resize(2);
    instruction.outputs.resize(1);
    using Pairs = std::vector<std::pair<int, int>>;
    EXPECT_EQ(program::in_place_pairs(instruction, kernel), (Pairs{{0, 0}, {1, 0}}));
}

}  // namespace
}  // namespace cairn
