// Times single layers of image networks: each convolution of ResNet-50 and MobileNetV2, some others, some followed by
// batch norm and ReLU, and pooling. Prints the best time of a run, its rate and its kernels, and the machine's peak and
// bandwidth. image_layers_against_pytorch.py alternates this with PyTorch.
//
//     image_layers [--threads N] [--group WORD] [--seconds PER_LAYER] [--turns N] [--tune] [--json] [--wait]
#include "cairn/cairn.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace cairn;

/// Kind of pooling; mean_of_all includes padding in the mean.
enum class Pool : std::uint8_t { max, mean, mean_of_all };

struct Layer {
    const char* name;
    std::int64_t batch, channels, size;
    std::int64_t filters, kernel;  ///< filters = 0: pooling
    ConvOptions options;
    Pool pool = Pool::max;
    DType dtype = DType::f32;  ///< of pooling layers
};

const Layer layers[] = {
    {"resnet 7x7 s2 3>64 @224", 1, 3, 224, 64, 7, {.stride = 2, .padding = 3}},
    {"resnet 1x1 64>64 @56", 1, 64, 56, 64, 1, {}},
    {"resnet 3x3 64>64 @56", 1, 64, 56, 64, 3, {.padding = 1}},
    {"resnet 1x1 64>256 @56", 1, 64, 56, 256, 1, {}},
    {"resnet 1x1 256>64 @56", 1, 256, 56, 64, 1, {}},
    {"resnet 1x1 256>128 @56", 1, 256, 56, 128, 1, {}},
    {"resnet 3x3 s2 128>128 @56", 1, 128, 56, 128, 3, {.stride = 2, .padding = 1}},
    {"resnet 1x1 128>512 @28", 1, 128, 28, 512, 1, {}},
    {"resnet 1x1 s2 256>512 @56", 1, 256, 56, 512, 1, {.stride = 2}},
    {"resnet 1x1 512>128 @28", 1, 512, 28, 128, 1, {}},
    {"resnet 3x3 128>128 @28", 1, 128, 28, 128, 3, {.padding = 1}},
    {"resnet 1x1 512>256 @28", 1, 512, 28, 256, 1, {}},
    {"resnet 3x3 s2 256>256 @28", 1, 256, 28, 256, 3, {.stride = 2, .padding = 1}},
    {"resnet 1x1 256>1024 @14", 1, 256, 14, 1024, 1, {}},
    {"resnet 1x1 s2 512>1024 @28", 1, 512, 28, 1024, 1, {.stride = 2}},
    {"resnet 1x1 1024>256 @14", 1, 1024, 14, 256, 1, {}},
    {"resnet 3x3 256>256 @14", 1, 256, 14, 256, 3, {.padding = 1}},
    {"resnet 1x1 1024>512 @14", 1, 1024, 14, 512, 1, {}},
    {"resnet 3x3 s2 512>512 @14", 1, 512, 14, 512, 3, {.stride = 2, .padding = 1}},
    {"resnet 1x1 512>2048 @7", 1, 512, 7, 2048, 1, {}},
    {"resnet 1x1 s2 1024>2048 @14", 1, 1024, 14, 2048, 1, {.stride = 2}},
    {"resnet 1x1 2048>512 @7", 1, 2048, 7, 512, 1, {}},
    {"resnet 3x3 512>512 @7", 1, 512, 7, 512, 3, {.padding = 1}},
    {"mobile 3x3 s2 3>32 @224", 1, 3, 224, 32, 3, {.stride = 2, .padding = 1}},
    {"mobile depthwise 32 @112", 1, 32, 112, 32, 3, {.padding = 1, .groups = 32}},
    {"mobile 1x1 32>16 @112", 1, 32, 112, 16, 1, {}},
    {"mobile 1x1 16>96 @112", 1, 16, 112, 96, 1, {}},
    {"mobile depthwise s2 96 @112", 1, 96, 112, 96, 3, {.stride = 2, .padding = 1, .groups = 96}},
    {"mobile 1x1 96>24 @56", 1, 96, 56, 24, 1, {}},
    {"mobile 1x1 24>144 @56", 1, 24, 56, 144, 1, {}},
    {"mobile depthwise 144 @56", 1, 144, 56, 144, 3, {.padding = 1, .groups = 144}},
    {"mobile 1x1 144>24 @56", 1, 144, 56, 24, 1, {}},
    {"mobile depthwise s2 144 @56", 1, 144, 56, 144, 3, {.stride = 2, .padding = 1, .groups = 144}},
    {"mobile 1x1 144>32 @28", 1, 144, 28, 32, 1, {}},
    {"mobile 1x1 32>192 @28", 1, 32, 28, 192, 1, {}},
    {"mobile depthwise 192 @28", 1, 192, 28, 192, 3, {.padding = 1, .groups = 192}},
    {"mobile 1x1 192>32 @28", 1, 192, 28, 32, 1, {}},
    {"mobile depthwise s2 192 @28", 1, 192, 28, 192, 3, {.stride = 2, .padding = 1, .groups = 192}},
    {"mobile 1x1 192>64 @14", 1, 192, 14, 64, 1, {}},
    {"mobile 1x1 64>384 @14", 1, 64, 14, 384, 1, {}},
    {"mobile depthwise 384 @14", 1, 384, 14, 384, 3, {.padding = 1, .groups = 384}},
    {"mobile 1x1 384>64 @14", 1, 384, 14, 64, 1, {}},
    {"mobile 1x1 384>96 @14", 1, 384, 14, 96, 1, {}},
    {"mobile 1x1 96>576 @14", 1, 96, 14, 576, 1, {}},
    {"mobile depthwise 576 @14", 1, 576, 14, 576, 3, {.padding = 1, .groups = 576}},
    {"mobile 1x1 576>96 @14", 1, 576, 14, 96, 1, {}},
    {"mobile depthwise s2 576 @14", 1, 576, 14, 576, 3, {.stride = 2, .padding = 1, .groups = 576}},
    {"mobile 1x1 576>160 @7", 1, 576, 7, 160, 1, {}},
    {"mobile 1x1 160>960 @7", 1, 160, 7, 960, 1, {}},
    {"mobile depthwise 960 @7", 1, 960, 7, 960, 3, {.padding = 1, .groups = 960}},
    {"mobile 1x1 960>160 @7", 1, 960, 7, 160, 1, {}},
    {"mobile 1x1 960>320 @7", 1, 960, 7, 320, 1, {}},
    {"mobile 1x1 320>1280 @7", 1, 320, 7, 1280, 1, {}},
    {"other 3x3 d2 256>256 @28", 1, 256, 28, 256, 3, {.padding = 2, .dilation = 2}},
    {"other 3x3 64>64 @56 b8", 8, 64, 56, 64, 3, {.padding = 1}},
    {"other 3x3 in 32 groups 128 @56", 1, 128, 56, 128, 3, {.padding = 1, .groups = 32}},
    {"other 3x3 in 2 groups 96>256 @27", 1, 96, 27, 256, 3, {.padding = 1, .groups = 2}},
    {"block 7x7 s2 3>64 @224", 1, 3, 224, 64, 7, {.stride = 2, .padding = 3}},
    {"block 1x1 64>256 @56", 1, 64, 56, 256, 1, {}},
    {"block 3x3 64>64 @56", 1, 64, 56, 64, 3, {.padding = 1}},
    {"block 3x3 256>256 @14", 1, 256, 14, 256, 3, {.padding = 1}},
    {"block depthwise 144 @56", 1, 144, 56, 144, 3, {.padding = 1, .groups = 144}},
    {"block 1x1 144>24 @56", 1, 144, 56, 24, 1, {}},
    {"pool max 2x2 s2 64 @112", 8, 64, 112, 0, 2, {.stride = 2}, Pool::max},
    {"pool max 3x3 s2 64 @112", 8, 64, 112, 0, 3, {.stride = 2, .padding = 1}, Pool::max},
    {"pool avg 2x2 s2 64 @112", 8, 64, 112, 0, 2, {.stride = 2}, Pool::mean},
    {"pool avg 3x3 s2 64 @112", 8, 64, 112, 0, 3, {.stride = 2, .padding = 1}, Pool::mean},
    {"pool avg 3x3 s2 64 @112, padding counts", 8, 64, 112, 0, 3, {.stride = 2, .padding = 1}, Pool::mean_of_all},
    {"pool max 3x3 s2 64 @112 f16", 8, 64, 112, 0, 3, {.stride = 2, .padding = 1}, Pool::max, DType::f16},
    {"pool avg 2x2 s2 64 @112 f16", 8, 64, 112, 0, 2, {.stride = 2}, Pool::mean, DType::f16},
    {"pool global avg 2048 @7", 8, 2048, 7, 0, 7, {}, Pool::mean},
    {"pool global max 2048 @7", 8, 2048, 7, 0, 7, {}, Pool::max},
    {"pool global avg 1280 @7", 1, 1280, 7, 0, 7, {}, Pool::mean},
};

/// Varied numbers in [-0.5, 0.5), none of them subnormal.
std::vector<float> synthetic_numbers(std::int64_t count) {
    std::vector<float> numbers;
    for (std::int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<float>(i * 7919 % 1013) / 1013 - 0.5f);
    return numbers;
}

struct Result {
    double seconds = 1e9, flops = 0, bytes = 0;
    std::string kernels;
};

/// A compiled layer with its operands. time_runs() runs it for `seconds` and lowers result.seconds to the best time.
struct CompiledLayer {
    CompiledGraph compiled;
    std::vector<float> filters, bias, variances, image;  ///< memory that every run reads
    std::vector<std::uint16_t> halves;
    Result result;

    void time_runs(double seconds) {
        using Clock = std::chrono::steady_clock;
        for (const auto end = Clock::now() + std::chrono::duration<double>(seconds); Clock::now() < end;) {
            const auto begin = Clock::now();
            compiled.run();
            result.seconds = std::min(result.seconds, std::chrono::duration<double>(Clock::now() - begin).count());
        }
    }
};

CompiledLayer compile_layer(const Layer& layer, const Context& context, const CompileOptions& options) {
    Graph g;
    const Shape image{layer.batch, layer.channels, layer.size, layer.size};
    const Tensor x = g.input("x", layer.dtype, image);
    Tensor y;
    std::int64_t taps = 0, filter_count = 0;
    if (layer.filters > 0) {
        taps = layer.channels / layer.options.groups * layer.kernel * layer.kernel;
        filter_count = layer.filters * taps;
        const Tensor filters = g.weight(
            "w", DType::f32, {layer.filters, layer.channels / layer.options.groups, layer.kernel, layer.kernel});
        const auto row = [&](const char* name) { return g.weight(name, DType::f32, {layer.filters}); };
        const bool is_block = std::string_view(layer.name).starts_with("block");
        y = is_block ? relu(batch_norm(conv2d(x, filters, layer.options), row("gamma"), row("beta"), row("mean"),
                                       row("variance")))
                     : conv2d(x, filters, row("b"), layer.options);
    } else {
        const PoolOptions pool{.stride = layer.options.stride,
                               .padding = layer.options.padding,
                               .count_padding = layer.pool == Pool::mean_of_all};
        const auto kernel = static_cast<int>(layer.kernel);
        y = layer.pool == Pool::max ? max_pool(x, kernel, pool) : avg_pool(x, kernel, pool);
    }
    g.output("y", y);
    const std::int64_t pixels = element_count(image).constant();
    CompiledLayer ready{compile(g, context, options),
                        synthetic_numbers(filter_count),
                        synthetic_numbers(layer.filters),
                        std::vector<float>(static_cast<std::size_t>(layer.filters), 1.0f),
                        synthetic_numbers(pixels),
                        {},
                        {}};
    if (layer.filters > 0)
        ready.compiled.bind([&](std::string_view name) -> InputView {
            if (name == "w")
                return {ready.filters.data(),
                        DType::f32,
                        {layer.filters, layer.channels / layer.options.groups, layer.kernel, layer.kernel}};
            return {(name == "variance" ? ready.variances : ready.bias).data(), DType::f32, {layer.filters}};
        });
    const std::vector<std::int64_t> sizes{layer.batch, layer.channels, layer.size, layer.size};
    if (layer.dtype == DType::f16) {
        // Bit patterns of f16 numbers from 0.5 to just below 1.
        for (std::int64_t i = 0; i < pixels; ++i)
            ready.halves.push_back(static_cast<std::uint16_t>(0x3800 + i * 7919 % 1013));
        ready.compiled.set("x", static_cast<const void*>(ready.halves.data()), sizes);
    } else {
        ready.compiled.set("x", static_cast<const void*>(ready.image.data()), sizes);
    }
    ready.compiled.run();
    const auto outputs = static_cast<double>(element_count(y.shape()).constant());
    Result& result = ready.result;
    result.flops = 2 * outputs * static_cast<double>(taps);
    result.bytes = static_cast<double>(size_of(layer.dtype)) *
                   (outputs + static_cast<double>(pixels) + static_cast<double>(filter_count));
    for (const InstructionProfile& row : ready.compiled.profile())
        result.kernels += (result.kernels.empty() ? "" : " ") + row.kernel;
    return ready;
}

void print(const Layer& layer, const Result& r, int threads, bool json) {
    if (json) {
        const nlohmann::json row = {{"layer", layer.name}, {"threads", threads}, {"seconds", r.seconds},
                                    {"flops", r.flops},    {"bytes", r.bytes},   {"kernels", r.kernels}};
        std::printf("%s\n", row.dump().c_str());
    } else {
        std::printf("%-40s %9.1f us %7.1f GF/s %6.1f GB/s  %s\n", layer.name, 1e6 * r.seconds,
                    r.flops / r.seconds / 1e9, r.bytes / r.seconds / 1e9, r.kernels.c_str());
    }
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app;
    bool json = false, tune = false, wait = false;
    double seconds = 0.3;
    int turns = 1;
    std::string group;
    int threads = usable_cpus();
    app.add_flag("--json", json);
    app.add_flag("--tune", tune, "let measurements choose");
    app.add_flag("--wait", wait, "before each turn for a line of the input");
    app.add_option("--seconds", seconds, "of each turn");
    app.add_option("--turns", turns, "of each layer");
    app.add_option("--threads", threads);
    app.add_option("--group", group, "only layers whose names hold this word");
    CLI11_PARSE(app, argc, argv);
    const Context context({.threads = threads});
    const Calibration rates = calibrate(context);
    if (json)
        std::printf("%s\n", nlohmann::json{{"threads", context.threads()},
                                           {"flops", rates.flops},
                                           {"bandwidth", rates.bandwidth},
                                           {"noise", rates.noise}}
                                .dump()
                                .c_str());
    else
        std::printf("%d threads, peak %.0f GF/s, %.1f GB/s of memory, noise %.3f\n", context.threads(),
                    rates.flops / 1e9, rates.bandwidth / 1e9, rates.noise);
    std::fflush(stdout);
    for (const Layer& layer : layers) {
        if (std::string_view(layer.name).find(group) == std::string_view::npos) continue;
        CompiledLayer ready = compile_layer(layer, context, {.mode = tune ? Mode::quick : Mode::off});
        for (int i = 0; i < turns; ++i) {
            std::string line;
            if (wait && !std::getline(std::cin, line)) return 0;
            ready.time_runs(seconds);
            print(layer, ready.result, context.threads(), json);
        }
    }
}
