// Layers of image networks as users spell them, convolutions and pooling, compiled as they are: the best time of a run,
// what rate that is, and what runs. Beside it the machine's peak.
//
//     image_layers [--threads N] [--group WORD] [--tune] [--json]
#include "cairn/cairn.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace cairn;

struct Layer {
    const char* name;
    std::int64_t batch, channels, size;
    std::int64_t filters, kernel;  ///< no filters: pooling
    ConvOptions options;
    bool is_max = false;
};

const Layer layers[] = {
    {"conv 7x7 s2 3>64 @224", 1, 3, 224, 64, 7, {.stride = 2, .padding = 3}},
    {"conv 1x1 64>64 @56", 1, 64, 56, 64, 1, {}},
    {"conv 3x3 64>64 @56", 1, 64, 56, 64, 3, {.padding = 1}},
    {"conv 1x1 64>256 @56", 1, 64, 56, 256, 1, {}},
    {"conv 3x3 s2 128>128 @56", 1, 128, 56, 128, 3, {.stride = 2, .padding = 1}},
    {"conv 3x3 128>128 @28", 1, 128, 28, 128, 3, {.padding = 1}},
    {"conv 1x1 s2 256>512 @56", 1, 256, 56, 512, 1, {.stride = 2}},
    {"conv 1x1 1024>256 @14", 1, 1024, 14, 256, 1, {}},
    {"conv 3x3 256>256 @14", 1, 256, 14, 256, 3, {.padding = 1}},
    {"conv 3x3 512>512 @7", 1, 512, 7, 512, 3, {.padding = 1}},
    {"conv 3x3 d2 256>256 @28", 1, 256, 28, 256, 3, {.padding = 2, .dilation = 2}},
    {"conv 3x3 64>64 @56 b8", 8, 64, 56, 64, 3, {.padding = 1}},
    {"depthwise 3x3 96 @112", 1, 96, 112, 96, 3, {.padding = 1, .groups = 96}},
    {"depthwise 3x3 s2 144 @56", 1, 144, 56, 144, 3, {.stride = 2, .padding = 1, .groups = 144}},
    {"grouped 3x3 128/32 @56", 1, 128, 56, 128, 3, {.padding = 1, .groups = 32}},
    {"max 2x2 s2 64 @112", 8, 64, 112, 0, 2, {.stride = 2}, true},
    {"max 3x3 s2 64 @112", 8, 64, 112, 0, 3, {.stride = 2, .padding = 1}, true},
    {"avg 2x2 s2 64 @112", 8, 64, 112, 0, 2, {.stride = 2}, false},
    {"avg 3x3 s2 64 @112", 8, 64, 112, 0, 3, {.stride = 2, .padding = 1}, false},
    {"avg 7x7 2048 @7", 8, 2048, 7, 0, 7, {}, false},
};

/// Numbers that differ, none of them subnormal.
std::vector<float> some_numbers(std::int64_t count) {
    std::vector<float> numbers;
    for (std::int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<float>(i * 7919 % 1013) / 1013 - 0.5f);
    return numbers;
}

struct Result {
    double seconds = 1e9, flops = 0, bytes = 0;
    std::string kernels;
};

Result run_layer(const Layer& layer, const Context& context, const CompileOptions& options) {
    Graph g;
    const Shape image{layer.batch, layer.channels, layer.size, layer.size};
    const Tensor x = g.input("x", DType::f32, image);
    Tensor y;
    std::int64_t taps = 0, filter_count = 0;
    if (layer.filters > 0) {
        taps = layer.channels / layer.options.groups * layer.kernel * layer.kernel;
        filter_count = layer.filters * taps;
        const Tensor filters = g.weight(
            "w", DType::f32, {layer.filters, layer.channels / layer.options.groups, layer.kernel, layer.kernel});
        y = conv2d(x, filters, g.weight("b", DType::f32, {layer.filters}), layer.options);
    } else {
        const PoolOptions pool{.stride = layer.options.stride, .padding = layer.options.padding};
        const auto kernel = static_cast<int>(layer.kernel);
        y = layer.is_max ? max_pool(x, kernel, pool) : avg_pool(x, kernel, pool);
    }
    g.output("y", y);
    CompiledGraph compiled = compile(g, context, options);
    const std::vector<float> w = some_numbers(filter_count), b = some_numbers(layer.filters);
    if (layer.filters > 0)
        compiled.bind([&](std::string_view name) -> InputView {
            if (name == "b") return {b.data(), DType::f32, {layer.filters}};
            return {w.data(),
                    DType::f32,
                    {layer.filters, layer.channels / layer.options.groups, layer.kernel, layer.kernel}};
        });
    const std::vector<float> numbers = some_numbers(element_count(image).constant());
    compiled.set("x", numbers);
    Result result;
    using Clock = std::chrono::steady_clock;
    for (const auto end = Clock::now() + std::chrono::milliseconds(300); Clock::now() < end;) {
        const auto begin = Clock::now();
        compiled.run();
        result.seconds = std::min(result.seconds, std::chrono::duration<double>(Clock::now() - begin).count());
    }
    const auto outputs = static_cast<double>(element_count(y.shape()).constant());
    result.flops = 2 * outputs * static_cast<double>(taps);
    result.bytes = 4 * (outputs + static_cast<double>(numbers.size()) + static_cast<double>(filter_count));
    for (const InstructionProfile& row : compiled.profile())
        result.kernels += (result.kernels.empty() ? "" : " ") + row.kernel;
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app;
    bool json = false, tune = false;
    std::string group;
    int threads = usable_cpus();
    app.add_flag("--json", json);
    app.add_flag("--tune", tune, "let measurements choose");
    app.add_option("--threads", threads);
    app.add_option("--group", group, "only layers whose names hold this word");
    CLI11_PARSE(app, argc, argv);
    const Context context({.threads = threads});
    const double peak = calibrate(context).flops;
    if (!json) std::printf("%d threads, peak %.0f GF/s\n", context.threads(), peak / 1e9);
    for (const Layer& layer : layers) {
        if (std::string_view(layer.name).find(group) == std::string_view::npos) continue;
        const Result r = run_layer(layer, context, {.mode = tune ? Mode::quick : Mode::off});
        if (json) {
            const nlohmann::json row = {{"layer", layer.name},  {"threads", context.threads()},
                                        {"seconds", r.seconds}, {"flops", r.flops},
                                        {"bytes", r.bytes},     {"peak", peak},
                                        {"kernels", r.kernels}};
            std::printf("%s\n", row.dump().c_str());
        } else {
            std::printf("%-26s %9.1f us %7.1f GF/s %6.1f GB/s  %s\n", layer.name, 1e6 * r.seconds,
                        r.flops / r.seconds / 1e9, r.bytes / r.seconds / 1e9, r.kernels.c_str());
        }
        std::fflush(stdout);
    }
}
