// Seconds from a GPT-2 graph of 124M's sizes to its programs, nothing measured, by number of layers: it should grow
// with the layers and no faster.
#include "cairn/models/gpt2.hpp"

#include <benchmark/benchmark.h>

namespace {

void compile_gpt2(benchmark::State& state) {
    const cairn::Context context;
    cairn::models::Gpt2Config config;
    config.layers = state.range(0);
    const auto weights = cairn::models::gpt2_weights(config);
    cairn::CompileOptions options;
    options.splits = {{"T", {1, 12}}};
    for (auto _ : state) {
        const cairn::Graph graph = cairn::models::gpt2_graph(config, weights);
        benchmark::DoNotOptimize(cairn::compile(graph, context, options));
    }
    state.SetComplexityN(state.range(0));
}

BENCHMARK(compile_gpt2)->Arg(1)->Arg(3)->Arg(6)->Arg(12)->Arg(24)->Arg(48)->Unit(benchmark::kMillisecond)->Complexity();

}  // namespace

BENCHMARK_MAIN();
