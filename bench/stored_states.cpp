// Measures the gain of 16-bit states: one decode step of GPT-2 124M after texts of several lengths, and of its
// attention alone after longer ones, compiled exactly and with a tolerance, timed in alternation.
//
//     stored_states [DATABASE]
//
// With a timing database, stored times are used and missing ones are measured.
#include "cairn/cairn.hpp"
#include "cairn/models/gpt2.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace cairn;
using Clock = std::chrono::steady_clock;

constexpr double tolerance = 2e-2;
constexpr int rounds = 15;

/// Compile options; a run with one token is weighted a hundred times as much as a longer one.
CompileOptions options_of(double error, bool measure) {
    CompileOptions options;
    options.splits = {{"T", {1, 12}, {100, 1, 1}}};
    if (error > 0) options.tolerance = Tolerance::relative(error);
    options.mode = measure ? Mode::normal : Mode::off;
    options.tune_seconds = 60;
    return options;
}

std::string states_of(const CompiledGraph& compiled) {
    const std::string program = compiled.program();
    for (const char* dtype : {"f16", "bf16"})
        if (program.find(std::string(" ") + dtype + "[") != std::string::npos) return dtype;
    return "f32";
}

/// Median milliseconds of each of two steps, timed in alternation.
std::array<double, 2> medians(const std::array<std::function<void()>, 2>& steps) {
    std::array<std::vector<double>, 2> all;
    for (int round = -1; round < rounds; ++round)
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const Clock::time_point begin = Clock::now();
            steps[i]();
            if (round >= 0) all[i].push_back(1e3 * std::chrono::duration<double>(Clock::now() - begin).count());
        }
    for (std::vector<double>& one : all) std::sort(one.begin(), one.end());
    return {all[0][rounds / 2], all[1][rounds / 2]};
}

void print(std::int64_t length, const std::array<double, 2>& ms) {
    std::printf("%8lld %12.3f %12.3f %8.2f\n", static_cast<long long>(length), ms[0], ms[1], ms[0] / ms[1]);
}

void print_head(const char* name, const CompiledGraph& exact, const CompiledGraph& loose) {
    std::printf("%s: states %.1f MB %s, %.1f MB %s\n%8s %12s %12s %8s\n", name,
                static_cast<double>(exact.memory().states) / 1e6, states_of(exact).c_str(),
                static_cast<double>(loose.memory().states) / 1e6, states_of(loose).c_str(), "length", "exact ms",
                "within 2e-2", "ratio");
}

void print_errors(const CompiledGraph& loose) {
    for (const VerifiedError& row : loose.verified_errors())
        if (row.verified && row.value.starts_with("output"))
            std::printf("  %s %s: off by %.2g of %.2g expected\n", row.bucket.c_str(), row.value.c_str(), row.error,
                        row.expected);
}

void time_gpt2(const Context& context, bool measure) {
    const models::Gpt2Config config;
    const std::vector<models::WeightSpec> weights = gpt2_weights(config);
    std::vector<float> values(static_cast<std::size_t>(config.vocabulary * config.width));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1e-3F * static_cast<float>(i % 61) - 0.03F;
    const auto source = [&](std::string_view name) {
        InputView view;
        view.data = values.data();
        for (const auto& weight : weights)
            if (weight.name == name) view.shape = weight.shape;
        return view;
    };
    models::Gpt2 exact(config, weights, source, context, {}, options_of(0, measure)),
        loose(config, weights, source, context, {}, options_of(tolerance, measure));
    print_head("GPT-2 124M, a step", exact.compiled(), loose.compiled());
    for (const std::int64_t length : {128, 512, 1000}) {
        std::vector<std::int32_t> ids;
        for (std::int64_t i = 0; i < length; ++i)
            ids.push_back(static_cast<std::int32_t>(i * 7919 % config.vocabulary));
        std::array<std::function<void()>, 2> steps;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            models::Gpt2& model = i == 0 ? exact : loose;
            model.rewind();
            model.forward(ids);
            steps[i] = [&] {
                model.rewind(length);
                model.forward(std::span<const std::int32_t>(ids).first(1));
            };
        }
        print(length, medians(steps));
    }
    print_errors(loose.compiled());
}

/// A chain of the attention of twelve GPT-2 layers, without their other ops.
Graph attention_alone(std::int64_t capacity) {
    Graph g("attention");
    const Dim past = g.symbol("P", 0, capacity - 1), t = g.symbol("T", 1, 64);
    Tensor x = g.input("x", DType::f32, {1, 12, t, 64});
    for (int layer = 0; layer < 12; ++layer) {
        const std::string number = std::to_string(layer);
        State keys = g.state("keys" + number, DType::f32, {1, 12, past, 64}, 2, capacity),
              rows = g.state("values" + number, DType::f32, {1, 12, past, 64}, 2, capacity);
        x = attention(x, keys.append(x * 0.5F), rows.append(x * 0.9F), {.causal = true}) * 1.01F;
    }
    g.output("y", x);
    return g;
}

void time_attention(const Context& context, bool measure) {
    constexpr std::int64_t capacity = 8192;
    const Graph graph = attention_alone(capacity);
    std::array models{compile(graph, context, options_of(0, measure)),
                      compile(graph, context, options_of(tolerance, measure))};
    print_head("its attention alone, a step", models[0], models[1]);
    std::vector<float> x(12 * 64 * 64);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1000) / 500 - 1;
    for (const std::int64_t length : {256, 1024, 4096}) {
        std::array<std::function<void()>, 2> steps;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            CompiledGraph& model = models[i];
            model.reset_states();
            model.set("x", x.data(), {1, 12, 64, 64});
            for (std::int64_t at = 0; at < length; at += 64) model.run();
            model.set("x", x.data(), {1, 12, 1, 64});
            steps[i] = [&model, length] {
                model.rewind("P", length);
                model.run();
            };
        }
        print(length, medians(steps));
    }
    print_errors(models[1]);
}

}  // namespace

int main(int count, char** arguments) {
    const bool measure = count > 1;
    ContextOptions context_options;
    context_options.threads = 1;
    if (measure) context_options.timing_db = arguments[1];
    const Context context(context_options);
    std::printf("one thread, %.1f GB/s read\n", calibrate(context).bandwidth / 1e9);
    time_gpt2(context, measure);
    time_attention(context, measure);
}
