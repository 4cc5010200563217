// Measures the cost of memory limits: compiles GPT-2 124M and the embedded models with five limits, from the memory of
// the fastest program down to the smallest found. Prints expected and measured milliseconds of a prompt and a step.
//
//     memory_limit [DATABASE]
//
// With a timing database, stored times are used and missing ones are measured.
#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace {

using cairn::CompiledGraph, cairn::CompileOptions;
using Clock = std::chrono::steady_clock;

double milliseconds(const std::function<void()>& call) {
    const Clock::time_point begin = Clock::now();
    call();
    return 1e3 * std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(const std::function<void()>& call) {
    std::vector<double> all;
    call();
    for (int i = 0; i < 7; ++i) all.push_back(milliseconds(call));
    std::sort(all.begin(), all.end());
    return all[3];
}

/// One compiled model: its bytes, and milliseconds to compile, expected, of a prompt and of a step.
struct Row {
    std::int64_t bytes;
    double compiled, expected, prompt, step;
};

std::int64_t bytes_of(const CompiledGraph& compiled) {
    const cairn::MemoryReport memory = compiled.memory();
    return memory.bound + memory.states + memory.arena + memory.constants;
}

double expected(const CompiledGraph& compiled) {
    double seconds = 0;
    for (const cairn::InstructionProfile& row : compiled.profile()) seconds += row.expected_seconds;
    return 1e3 * seconds;
}

std::vector<std::int32_t> synthetic_ids(std::int64_t count, std::int64_t vocabulary) {
    std::vector<std::int32_t> ids;
    for (std::int64_t i = 0; i < count; ++i) ids.push_back(static_cast<std::int32_t>(i * 7919 % vocabulary));
    return ids;
}

/// Runs a model's `forward` on a prompt and on one token, each profiled once and then timed.
template <typename Model>
Row measured(Model& model, double compiled, std::int64_t vocabulary, const std::function<void()>& rewind) {
    Row row{bytes_of(model.compiled()), compiled, 0, 0, 0};
    for (const std::int64_t tokens : {64, 1}) {
        const std::vector<std::int32_t> ids = synthetic_ids(tokens, vocabulary);
        const auto run = [&] {
            rewind();
            model.forward(ids);
        };
        model.run_options.profile = true;
        run();
        row.expected += expected(model.compiled());
        model.run_options.profile = false;
        (tokens == 1 ? row.step : row.prompt) = median(run);
    }
    return row;
}

void table(const char* name, const std::function<Row(std::optional<std::int64_t>)>& row_within) {
    std::printf("%s\n%14s %14s %12s %12s %12s %12s\n", name, "limit", "bytes", "compile ms", "expected ms", "prompt ms",
                "step ms");
    const auto print = [](std::int64_t limit, const Row& row) {
        std::printf("%14lld %14lld %12.1f %12.3f %12.3f %12.3f\n", static_cast<long long>(limit),
                    static_cast<long long>(row.bytes), row.compiled, row.expected, row.prompt, row.step);
    };
    const Row free = row_within({});
    print(free.bytes, free);
    std::int64_t least = 0;
    try {
        row_within(1);
    } catch (const cairn::Error& error) {
        const std::string text = error.what();
        least = std::stoll(text.substr(text.find("] ") + 2));
    }
    for (const int fourths : {3, 2, 1, 0}) {
        const std::int64_t limit = least + (free.bytes - least) * fourths / 4;
        print(limit, row_within(limit));
    }
}

CompileOptions options_of(std::optional<std::int64_t> limit, bool measure) {
    CompileOptions options;
    options.memory_limit = limit;
    options.mode = measure ? cairn::Mode::normal : cairn::Mode::off;
    options.tune_seconds = 60;
    return options;
}

}  // namespace

int main(int count, char** arguments) {
    const bool measure = count > 1;
    cairn::ContextOptions context_options;
    if (measure) context_options.timing_db = arguments[1];
    const cairn::Context context(context_options);
    const std::string models = CAIRN_EXAMPLES_DIR "/models";
    const cairn::models::Gpt2Config config;
    const std::vector<cairn::models::WeightSpec> weights = gpt2_weights(config);
    // Each weight has its own memory, so that weights read in place come from memory as in a real model.
    std::map<std::string, std::vector<float>, std::less<>> values;
    for (const auto& weight : weights) {
        std::size_t count = 1;
        for (const std::int64_t size : weight.shape) count *= static_cast<std::size_t>(size);
        std::vector<float>& own = values[weight.name];
        own.resize(count);
        for (std::size_t i = 0; i < count; ++i) own[i] = 1e-3F * static_cast<float>(i % 61) - 0.03F;
    }
    const auto source = [&](std::string_view name) {
        cairn::InputView view;
        view.data = values.find(name)->second.data();
        for (const auto& weight : weights)
            if (weight.name == name) view.shape = weight.shape;
        return view;
    };
    table("GPT-2 124M, 64 tokens and 1", [&](std::optional<std::int64_t> limit) {
        std::optional<cairn::models::Gpt2> model;
        const double time = milliseconds([&] {
            model.emplace(config, weights, source, context, cairn::models::DecoderOptions{}, options_of(limit, measure));
        });
        return measured(*model, time, config.vocabulary, [&] { model->rewind(); });
    });
    table("shakespeare-gpt2", [&](std::optional<std::int64_t> limit) {
        std::optional<cairn::models::Gpt2> model;
        const double time = milliseconds([&] {
            model = cairn::models::Gpt2::load(models + "/shakespeare-gpt2", context, {}, options_of(limit, measure));
        });
        return measured(*model, time, model->config().vocabulary, [&] { model->rewind(); });
    });
    table("sst2-distilbert", [&](std::optional<std::int64_t> limit) {
        std::optional<cairn::models::Encoder> model;
        const double time = milliseconds([&] {
            model = cairn::models::Encoder::load(models + "/sst2-distilbert", context, {.max_batch = 8},
                                                 options_of(limit, measure));
        });
        return measured(*model, time, model->config().vocabulary, [] {});
    });
}
