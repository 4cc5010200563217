// Measures compile time of GPT-2 124M by number of layers, in milliseconds per stage and in total. It should grow
// linearly. Also measures it with a second, simulated device that has the CPU's kernels at invented rates, and times
// paths(): building the path DAG, and the next path in order of cost.
//
//     compile_time [DATABASE]
//
// With a timing database (`gpt2 --synthetic --mode normal --timing-db DATABASE` fills one) its times are used; nothing
// is measured.
#include "cairn/kernels.hpp"
#include "cairn/models/gpt2.hpp"
#include "cairn/paths.hpp"

#include <benchmark/benchmark.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace {

std::string database;

/// Milliseconds of each stage; a stage lasts from its first progress report to that of the next one.
class StageTimes {
public:
    void begin(std::string_view stage) {
        const auto now = std::chrono::steady_clock::now();
        if (!stage_.empty()) times_[stage_] += std::chrono::duration<double, std::milli>(now - since_).count();
        stage_ = stage;
        since_ = now;
    }
    const std::map<std::string, double>& times() const { return times_; }

private:
    std::string stage_;
    std::chrono::steady_clock::time_point since_;
    std::map<std::string, double> times_;
};

/// A simulated device with copies of all CPU kernels: 2 TFLOP/s, 200 GB/s, connected by a link of 25 GB/s.
cairn::KernelSet second_device() {
    cairn::KernelSet set;
    for (cairn::Kernel kernel : cairn::cpu_kernels().kernels) {
        kernel.id = "cuda" + kernel.id.substr(kernel.id.find('.'));
        kernel.device = cairn::Device::cuda();
        set.kernels.push_back(std::move(kernel));
    }
    set.devices.push_back({.device = cairn::Device::cuda(),
                           .flops = 2e12,
                           .bandwidth = 2e11,
                           .launch_seconds = 5e-6,
                           .link_bandwidth = 2.5e10,
                           .link_seconds = 1e-5});
    return set;
}

void compile_gpt2(benchmark::State& state, cairn::KernelSet extra) {
    cairn::ContextOptions context_options;
    context_options.timing_db = database;
    context_options.extra = std::move(extra);
    const cairn::Context context(context_options);
    cairn::models::Gpt2Config config;
    config.layers = state.range(0);
    const auto weights = cairn::models::gpt2_weights(config);
    StageTimes stages;
    cairn::CompileOptions options;
    options.splits = {{"T", {1, 12}}};
    options.mode = database.empty() ? cairn::Mode::off : cairn::Mode::cached;
    options.progress = [&](const cairn::Progress& progress) { stages.begin(progress.phase); };
    for (auto _ : state) {
        const cairn::Graph graph = cairn::models::gpt2_graph(config, weights);
        benchmark::DoNotOptimize(cairn::compile(graph, context, options));
        stages.begin("");
    }
    for (const auto& [stage, time] : stages.times())
        state.counters[stage] = benchmark::Counter(time, benchmark::Counter::kAvgIterations);
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
    const cairn::Paths all_paths =
        cairn::paths(cairn::models::gpt2_graph(config, cairn::models::gpt2_weights(config)), context);
    cairn::PathRange range = all_paths.cheapest_first();
    auto path = range.begin();
    for (auto _ : state) benchmark::DoNotOptimize(*++path);
}

BENCHMARK_CAPTURE(compile_gpt2, cpu, {})
    ->Arg(1)
    ->Arg(3)
    ->Arg(6)
    ->Arg(12)
    ->Arg(24)
    ->Arg(48)
    ->Arg(96)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();
BENCHMARK_CAPTURE(compile_gpt2, two_devices, second_device())->Arg(12)->Unit(benchmark::kMillisecond);
BENCHMARK(find_paths)->Arg(12)->Arg(48)->Unit(benchmark::kMillisecond);
BENCHMARK(next_path)->Arg(12)->Arg(48)->Iterations(300'000)->Unit(benchmark::kMicrosecond);

}  // namespace

int main(int count, char** arguments) {
    benchmark::Initialize(&count, arguments);
    if (count > 1) database = arguments[1];
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
