// The embedded models, nothing measured beforehand: a prompt at once, a token at a time, a sentence.
#include "cairn/models/distilbert.hpp"
#include "cairn/models/gpt2.hpp"

#include <benchmark/benchmark.h>

#include <string>

namespace {

const std::string models = CAIRN_EXAMPLES_DIR "/models";

cairn::Context context_of(const benchmark::State& state) {
    return cairn::Context({.threads = static_cast<int>(state.range(1))});
}

std::vector<std::int32_t> some_ids(std::int64_t count, std::int64_t vocabulary) {
    std::vector<std::int32_t> ids;
    for (std::int64_t i = 0; i < count; ++i) ids.push_back(static_cast<std::int32_t>(i * 7919 % vocabulary));
    return ids;
}

void gpt2_prefill(benchmark::State& state) {
    auto model = cairn::models::Gpt2::load(models + "/shakespeare-gpt2", context_of(state));
    const auto ids = some_ids(state.range(0), model.config().vocabulary);
    for (auto _ : state) {
        model.rewind();
        benchmark::DoNotOptimize(model.forward(ids).data());
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void gpt2_decode(benchmark::State& state) {
    auto model = cairn::models::Gpt2::load(models + "/shakespeare-gpt2", context_of(state));
    const std::int32_t token = 1;
    model.forward(some_ids(state.range(0), model.config().vocabulary));
    for (auto _ : state) {
        model.rewind(state.range(0));
        benchmark::DoNotOptimize(model.forward({&token, 1}).data());
    }
    state.SetItemsProcessed(state.iterations());
}

void distilbert_sentence(benchmark::State& state) {
    auto model = cairn::models::DistilBert::load(models + "/sst2-distilbert", context_of(state));
    const auto ids = some_ids(state.range(0), model.config().vocabulary);
    for (auto _ : state) benchmark::DoNotOptimize(model.forward(ids).data());
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(gpt2_prefill)
    ->ArgsProduct({{1, 17, 64}, {1, 2}})
    ->ArgNames({"tokens", "threads"})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(gpt2_decode)
    ->ArgsProduct({{1, 64}, {1, 2}})
    ->ArgNames({"past", "threads"})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(distilbert_sentence)
    ->ArgsProduct({{8, 32}, {1, 2}})
    ->ArgNames({"tokens", "threads"})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
