// Seconds from a GPT-2 graph of 124M's sizes to its programs, nothing measured, by number of layers: it should grow
// with the layers and no faster. And all ways to run it: finding them, and the next of them in their order.
#include "cairn/models/gpt2.hpp"
#include "cairn/paths.hpp"

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

void find_paths(benchmark::State& state) {
    const cairn::Context context;
    cairn::models::Gpt2Config config;
    config.layers = state.range(0);
    const cairn::Graph graph = cairn::models::gpt2_graph(config, cairn::models::gpt2_weights(config));
    for (auto _ : state) benchmark::DoNotOptimize(cairn::paths(graph, context));
}

void next_path(benchmark::State& state) {
    const cairn::Context context;
    cairn::models::Gpt2Config config;
    config.layers = state.range(0);
    const cairn::Paths ways =
        cairn::paths(cairn::models::gpt2_graph(config, cairn::models::gpt2_weights(config)), context);
    cairn::PathRange range = ways.cheapest_first();
    auto path = range.begin();
    for (auto _ : state) benchmark::DoNotOptimize(*++path);
}

BENCHMARK(compile_gpt2)->Arg(1)->Arg(3)->Arg(6)->Arg(12)->Arg(24)->Arg(48)->Unit(benchmark::kMillisecond)->Complexity();
BENCHMARK(find_paths)->Arg(12)->Arg(48)->Unit(benchmark::kMillisecond);
BENCHMARK(next_path)->Arg(12)->Arg(48)->Iterations(300'000)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
