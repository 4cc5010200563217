#include "cairn/cairn.hpp"
#include "program/lifetimes.hpp"
#include "program/program.hpp"
#include "runtime/compiled_graph.hpp"
#include "tests/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cairn {
namespace {

program::Program program_of(std::uint64_t seed) {
    const Context context;
    return runtime::parse_program_set(compile(test::random_graph(seed), context).program()).buckets[0].program;
}

TEST(ProgramText, RoundTripIsAnIdentity) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const std::string text = program::to_string(program_of(seed));
        EXPECT_EQ(program::to_string(program::parse_program(text)), text) << "seed " << seed;
    }
}

TEST(ProgramText, MutilatedTextIsRefusedOrReadsAsAProgram) {
    std::mt19937 random(1);
    int refused = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const std::string text = program::to_string(program_of(seed));
        for (int i = 0; i < 40; ++i) {
            std::string damaged = text;
            const std::size_t at = random() % text.size();
            switch (random() % 3) {
                case 0: damaged[at] = static_cast<char>(32 + random() % 95); break;
                case 1: damaged.erase(at, 1 + random() % 8); break;
                default: damaged.resize(at);
            }
            try {
                EXPECT_EQ(program::verify(program::parse_program(damaged)), "");
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), ErrorKind::argument) << error.what();
                ++refused;
            }
        }
    }
    EXPECT_GT(refused, 800);
}

TEST(Lifetimes, OffsetsHoldAtSizesThePlanNeverSaw) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const program::Program program = program_of(seed);
        std::vector<std::int64_t> values;
        std::mt19937 random(static_cast<std::uint32_t>(seed));
        for (const Symbols::Symbol& symbol : program.symbols->list())
            values.push_back(symbol.low + static_cast<std::int64_t>(
                                              random() % static_cast<std::uint64_t>(symbol.high - symbol.low + 1)));
        const auto offsets = program::evaluate_plan(program, values);
        const auto& storages = program.plan.storages;
        for (std::size_t a = 0; a < storages.size(); ++a)
            for (std::size_t b = 0; b < a; ++b) {
                if (storages[a].first > storages[b].last || storages[b].first > storages[a].last) continue;
                const std::int64_t a_end = offsets[a] + storages[a].bytes.evaluate(values),
                                   b_end = offsets[b] + storages[b].bytes.evaluate(values);
                EXPECT_TRUE(a_end <= offsets[b] || b_end <= offsets[a] || a_end == offsets[a] || b_end == offsets[b])
                    << "seed " << seed;
                EXPECT_LE(a_end, offsets.back());
            }
    }
}

TEST(Lifetimes, AChainIsComputedInPlaceAndOneInputIsTakenOverOnce) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {64});
    const Tensor a = exp(x), b = sin(x);
    g.output("y", gelu(a * b));
    CompileOptions options;
    options.disable = {"fuse", "elementwise"};
    const auto program = runtime::parse_program_set(compile(g, Context(), options).program()).buckets[0].program;
    EXPECT_EQ(program::verify(program), "");
    std::size_t largest = 0;
    for (const program::Storage& storage : program.plan.storages) largest = std::max(largest, storage.buffers.size());
    EXPECT_GE(largest, 4U);
}

}  // namespace
}  // namespace cairn
