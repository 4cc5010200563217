#include "cairn/cairn.hpp"
#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"
#include "graph/ir/state_dtype_cast.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/driver/cuda_test_device.hpp"
#include "tests/errors/message.hpp"
#include "tests/graph/ir/random_graph.hpp"
#include "tests/graph/ir/reference_results.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Programs on a CUDA device: emulated, or in gpu_test a GPU.
namespace cairn::test {
namespace {

#if defined(CAIRN_REAL_GPU)
const std::string models_folder = "examples/models/";
#else
const std::string models_folder = CAIRN_SOURCE_DIR "/examples/models/";
#endif

using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

std::vector<float> floats(const OutputView& view) {
    const auto elements = view.as<float>();
    return {elements.begin(), elements.end()};
}

/// The largest difference, relative to the largest wanted element.
double distance(const std::vector<float>& got, const std::vector<float>& wanted) {
    EXPECT_EQ(got.size(), wanted.size());
    double most = 0, scale = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        most = std::max(most, std::abs(static_cast<double>(got[i]) - static_cast<double>(wanted[i])));
        scale = std::max(scale, std::abs(static_cast<double>(wanted[i])));
    }
    return most / scale;
}

/// Weights by name, of random elements.
class Weights {
public:
    explicit Weights(std::map<std::string, std::vector<std::int64_t>, std::less<>> shapes)
        : shapes_(std::move(shapes)) {
        std::size_t state = 1;
        for (const auto& [name, shape] : shapes_) {
            std::size_t count = 1;
            for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
            for (std::size_t i = 0; i < count; ++i) {
                state = state * 6364136223846793005U + 1442695040888963407U;
                values_[name].push_back((static_cast<float>(state >> 40) / (1 << 23) - 1) * 0.2F);
            }
        }
    }
    WeightSource source() const {
        return [this](std::string_view name) {
            InputView view;
            view.data = values_.find(name)->second.data();
            view.shape = shapes_.find(name)->second;
            return view;
        };
    }

private:
    std::map<std::string, std::vector<std::int64_t>, std::less<>> shapes_;
    std::map<std::string, std::vector<float>, std::less<>> values_;
};

/// A block of a transformer.
class Block {
public:
    Block() {
        const Dim n = graph.symbol("N", 1, 12);
        const Tensor x = graph.input("x", DType::f32, {n, 32});
        const Tensor w = graph.weight("w", DType::f32, {32, 64}), b = graph.weight("b", DType::f32, {64});
        const Tensor v = graph.weight("v", DType::f32, {64, 32});
        const Tensor scale = graph.weight("scale", DType::f32, {32}), shift = graph.weight("shift", DType::f32, {32});
        const Tensor normed = layer_norm(x, scale, shift);
        graph.output("y", x + matmul(gelu(linear(normed, w, b)), v));
        graph.output("p", softmax(x));
    }
    /// The outputs for `rows` rows of numbers that depend on `seed`.
    static std::vector<std::vector<float>> run(CompiledGraph& compiled, std::int64_t rows, int seed = 0) {
        std::vector<float> data(static_cast<std::size_t>(rows) * 32);
        for (std::size_t i = 0; i < data.size(); ++i)
            data[i] = std::sin(static_cast<float>(i) + static_cast<float>(seed));
        compiled.set("x", data.data(), {rows, 32});
        compiled.run();
        return {floats(compiled.output("y")), floats(compiled.output("p"))};
    }

    Graph graph{"block"};
    Weights weights = Weights({{"w", {32, 64}}, {"b", {64}}, {"v", {64, 32}}, {"scale", {32}}, {"shift", {32}}});
};

ContextOptions one_by_one() {
    ContextOptions options;
    options.cuda_graphs = false;
    return options;
}

TEST(CudaPrograms, ABlockOfATransformerComputesAsOnTheCpu) {
    const Block block;
    TestDevice device;
    {
        CompiledGraph here = compile(block.graph, Context()),
                      there = compile(block.graph, device.context(), {.verify = true}),
                      launched = compile(block.graph, device.context(one_by_one()));
        EXPECT_THAT(there.program(), HasSubstr("cuda.link.copy_to@1"));
        for (CompiledGraph* const compiled : {&here, &there, &launched}) compiled->bind(block.weights.source());
        for (const std::int64_t rows : {1, 7, 12, 7}) {
            const auto wanted = Block::run(here, rows), found = Block::run(there, rows);
            for (std::size_t i = 0; i < wanted.size(); ++i)
                EXPECT_LT(distance(found[i], wanted[i]), 1e-5) << "output " << i << " of " << rows;
            EXPECT_EQ(Block::run(launched, rows), found) << rows;
        }
        EXPECT_GT(device.launches(), 0);
        EXPECT_GE(device.graph_launches(), 4);
    }
    EXPECT_THAT(device.faults(), testing::IsEmpty());
}

// The size P has another number among the symbols of each bucket, so that a kernel has two texts.
TEST(CudaPrograms, BucketsAreCompiledTogether) {
    Graph graph("buckets");
    const Dim t = graph.symbol("T", 1, 8), p = graph.symbol("P", 1, 6);
    const Tensor x = graph.input("x", DType::f32, {t, 5}), z = graph.input("z", DType::f32, {p});
    const Tensor c = graph.input("c", DType::f32, {7});
    graph.output("sin_z", sin(z));
    graph.output("sums", x + x);
    graph.output("cos_c", cos(c));
    TestDevice device;
    std::vector<float> values(40);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    CompiledGraph here = compile(graph, Context());
    for (const int threads : {1, 3}) {
        CompiledGraph there = compile(graph, device.context({.threads = threads}), {.splits = {{"T", {1}}}});
        for (const auto& [rows, count] : {std::pair{1, 3}, {4, 5}, {1, 6}, {8, 2}}) {
            for (CompiledGraph* const compiled : {&here, &there}) {
                compiled->set("x", values.data(), {rows, 5});
                compiled->set("z", values.data(), {count});
                compiled->set("c", values.data(), {7});
                compiled->run();
            }
            for (const char* output : {"sin_z", "sums", "cos_c"})
                EXPECT_LT(distance(floats(there.output(output)), floats(here.output(output))), 1e-5)
                    << output << ", " << rows << " rows, " << count << " elements, " << threads << " threads";
        }
#if !defined(CAIRN_REAL_GPU)
        EXPECT_EQ(device.compilations(), threads == 1 ? 2U : 5U) << "programs, of one text or two";
#endif
    }
}

TEST(CudaPrograms, InstancesRunAtTheSameTimeAndAreDestroyedWhileOthersRun) {
    const Block block;
    TestDevice device;
    {
        CompiledGraph compiled = compile(block.graph, device.context());
        compiled.bind(block.weights.source());
        std::vector<std::vector<std::vector<float>>> wanted;
        for (int seed = 0; seed < 2; ++seed) wanted.push_back(Block::run(compiled, 3 + seed, seed));
        std::vector<std::thread> threads;
        std::vector<int> different(2, 0);
        for (std::size_t t = 0; t < 2; ++t)
            threads.emplace_back([&, t] {
                for (int i = 0; i < 4; ++i) {
                    CompiledGraph instance = compiled.instance();
                    const int seed = static_cast<int>(t);
                    for (int repeat = 0; repeat < 3; ++repeat) {
                        CompiledGraph moved = std::move(instance);
                        if (Block::run(moved, 3 + seed, seed) != wanted[t]) ++different[t];
                        instance = std::move(moved);
                    }
                }
            });
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(different, std::vector<int>(2, 0));
        EXPECT_EQ(Block::run(compiled, 3), wanted[0]);
    }
    EXPECT_THAT(device.faults(), testing::IsEmpty());
}

TEST(CudaPrograms, TheBundledGpt2WritesTheTextOfTheCpu) {
    constexpr int steps = TestDevice::text_tokens;
    TestDevice device;
    std::vector<std::vector<std::int32_t>> texts;
    std::vector<std::vector<float>> logits;
    {
        for (const Context& context : {Context(), device.context(), device.context(one_by_one())}) {
            // Without a price for what is kept: a copy of the weights costs more than so small a model can gain.
            models::Gpt2 model =
                models::Gpt2::load(models_folder + "shakespeare-gpt2", context, {}, {.seconds_per_kept_byte = 0});
            std::vector<std::int32_t> ids{5, 17, 42, 8, 3, 20, 11};
            std::span<const float> last = model.forward(ids);
            for (int step = 0; step < steps; ++step) {
                ids.push_back(static_cast<std::int32_t>(std::max_element(last.begin(), last.end()) - last.begin()));
                last = model.forward({&ids.back(), 1});
            }
            texts.push_back(ids);
            logits.emplace_back(last.begin(), last.end());
            if (texts.size() == 2) {
                const MemoryReport memory = model.compiled().memory();
                ASSERT_EQ(memory.devices.size(), 1U);
                EXPECT_GT(memory.devices[0].second.states, 0) << "the cache of keys and values";
                for (const char* kernel : {"cuda.attention_row.attention_block.f32@1", "cuda.mlp_row.mlp_block.f32@1"})
                    EXPECT_THAT(model.compiled().program(), HasSubstr(kernel)) << "one row";
            }
        }
        EXPECT_EQ(texts[1], texts[0]);
        EXPECT_LT(distance(logits[1], logits[0]), 1e-4);
        EXPECT_EQ(logits[2], logits[1]) << "launched one by one";
        EXPECT_GE(device.graph_launches(), steps + 1);
    }
    EXPECT_GT(device.launches(), 100);
    EXPECT_THAT(device.faults(), testing::IsEmpty());
}

// The kernel of the attention block reads keys and values in f16 and appends those of the row.
TEST(CudaPrograms, ACacheIn16BitsIsComputedAsOnTheCpu) {
    models::Gpt2Config config;
    config.vocabulary = 50, config.positions = 16, config.width = 64, config.heads = 2, config.layers = 2;
    config.inner = 128;
    const std::vector<models::WeightSpec> specs = models::gpt2_weights(config);
    const auto stored = ir::cast_stored_states(*models::gpt2_graph(config, specs).data(), DType::f16);
    for (ir::StateInfo& state : stored->states()) state.public_dtype.reset();
    const Graph graph(stored);
    std::map<std::string, std::vector<std::int64_t>, std::less<>> shapes;
    for (const models::WeightSpec& spec : specs) shapes[spec.name] = spec.shape;
    const Weights weights(shapes);
    TestDevice device;
    {
        std::vector<std::vector<float>> logits;
        for (const Context& context : {Context(), device.context(), device.context(one_by_one())}) {
            CompiledGraph compiled = compile(graph, context, {.splits = {{"T", {1}}}, .seconds_per_kept_byte = 0});
            compiled.bind(weights.source());
            if (!logits.empty()) {
                EXPECT_THAT(compiled.program(), testing::ContainsRegex("attention_row.* f16\\[1,2,past,32\\]"));
            }
            std::vector<float>& all = logits.emplace_back();
            for (const std::vector<std::int32_t>& ids : {std::vector<std::int32_t>{7, 3, 40}, {12}, {5}, {49}, {0}}) {
                compiled.set("ids", ids.data(), {1, static_cast<std::int64_t>(ids.size())});
                compiled.run();
                const std::vector<float> step = floats(compiled.output("logits"));
                all.insert(all.end(), step.begin(), step.end());
            }
        }
        EXPECT_LT(distance(logits[1], logits[0]), 1e-4);
        EXPECT_EQ(logits[2], logits[1]) << "launched one by one";
    }
    EXPECT_THAT(device.faults(), testing::IsEmpty());
}

// Each token is chosen on the device and read there by the next run.
TEST(CudaPrograms, ATextIsGeneratedWithoutARoundTripAToken) {
    constexpr int steps = TestDevice::text_tokens;
    const std::vector<std::int32_t> ids{5, 17, 42, 8, 3, 20, 11};
    TestDevice device;
    std::vector<std::vector<std::int32_t>> texts;
    for (const Context& context : {Context(), device.context(), device.context(one_by_one())}) {
        models::Gpt2 model = models::Gpt2::load(models_folder + "shakespeare-gpt2", context, {.greedy = true},
                                                {.seconds_per_kept_byte = 0});
        texts.push_back(model.generate(ids, 2));
#if !defined(CAIRN_REAL_GPU)
        const auto waits = [&] {
            return device.driver().count("cuStreamSynchronize") + device.driver().count("cuEventSynchronize");
        };
        const std::int64_t before = waits();
#endif
        const std::vector<std::int32_t> more = model.generate({}, steps);
#if !defined(CAIRN_REAL_GPU)
        EXPECT_LE(waits() - before, 2) << "the last run, and the text that is read";
#endif
        texts.back().insert(texts.back().end(), more.begin(), more.end());
    }
    EXPECT_EQ(texts[1], texts[0]);
    EXPECT_EQ(texts[2], texts[0]);
}

TEST(CudaPrograms, TheBundledDistilBertComputesTheLogitsOfTheCpu) {
    TestDevice device;
    std::vector<std::vector<float>> logits;
    for (const Context& context : {Context(), device.context(), device.context(one_by_one())}) {
        models::Encoder model = models::Encoder::load(models_folder + "sst2-distilbert", context, {.max_batch = 1},
                                                      {.seconds_per_kept_byte = 0});
        const std::vector<std::int32_t> ids{101, 45, 7, 230, 12, 99, 102};
        const std::span<const float> found = model.forward(ids);
        logits.emplace_back(found.begin(), found.end());
    }
    EXPECT_LT(distance(logits[1], logits[0]), 1e-4);
    EXPECT_EQ(logits[2], logits[1]) << "launched one by one";
    EXPECT_GT(device.launches(), 20);
    EXPECT_GE(device.graph_launches(), 1);
}

/// Compares what a random graph computes with the interpreter's results.
void check_random_graph(std::uint64_t seed, const Context& context) {
    const Graph graph = random_graph(seed, {.devices = seed % 2 == 0});
    CompileOptions options{.seconds_per_kept_byte = 0, .verify = true};
    if (seed % 3 == 1) options = with_random_ports(graph, Device::cuda(), seed, options);
    const runtime::ProgramSet set = runtime::parse_program_set(compile(graph, context, options).program());
    for (const auto& sizes : random_sizes(*graph.data(), 2, seed)) {
        const interpreter::Inputs inputs = random_inputs(*graph.data(), sizes, seed + 17);
        EXPECT_EQ(difference(CompiledRun(set, context, inputs).run(inputs), reference_results(*graph.data(), inputs)),
                  "")
            << to_string(graph) << program::to_string(set.buckets[0].program);
    }
}

// Whatever has a CUDA kernel runs there, the rest on the CPU.
TEST(CudaPrograms, RandomGraphsAreComputedAsByTheInterpreter) {
    TestDevice device;
    const Context context = device.context();
    for (std::uint64_t seed = 0; seed < TestDevice::random_graphs && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        try {
            check_random_graph(seed, context);
        } catch (const std::exception& error) { ADD_FAILURE() << error.what(); }
    }
    EXPECT_GT(device.launches(), 100);
}

// Its columns from the second on begin behind its memory.
TEST(CudaPrograms, APartOfAnInputWithoutRowsIsComputed) {
    Graph graph("parts");
    const Tensor x = graph.input("x", DType::f32, {graph.symbol("N", 0, 3), 512});
    graph.output("y", neg(slice(x, -1, 256, 512)));
    TestDevice device;
    const Context context = device.context();
    CompiledGraph compiled = compile(graph, context, {.input_devices = {{"x", Device::cuda()}}});
    std::vector<float> values(3 * 512, 2);
    for (const std::int64_t rows : {0, 3, 0, 1}) {
        const std::size_t bytes = static_cast<std::size_t>(rows) * 512 * sizeof(float);
        const auto* const data = reinterpret_cast<const std::byte*>(values.data());
        const PortMemory memory(context, Device::cuda(), {data, data + bytes});
        compiled.set("x", reinterpret_cast<const float*>(memory.data()), {rows, 512});
        compiled.run();
        EXPECT_THAT(floats(compiled.output("y")), SizeIs(rows * 256));
        EXPECT_THAT(floats(compiled.output("y")), Each(-2)) << rows;
    }
}

/// The failure in a message, after the instruction and its kernel.
std::string failure_in(const std::string& message) { return message.substr(message.find(": ") + 2); }

TEST(CudaPrograms, AnIndexOutOfRangeIsReportedAsOnTheCpu) {
    Graph g("gather");
    g.output("y", gather(g.input("table", DType::f32, {5, 4}), g.input("i", DType::i64, {3}), 0));
    std::vector<float> table(20, 1);
    const std::vector<std::int64_t> indices{1, 7, 2};
    TestDevice device;
    std::vector<std::string> messages;
    for (const Context& context : {Context(), device.context(), device.context(one_by_one())}) {
        CompiledGraph compiled = compile(g, context);
        compiled.set("table", table.data(), {5, 4});
        compiled.set("i", indices.data(), {3});
        messages.push_back(message([&] { compiled.run(); }));
        EXPECT_THAT(messages.back(), HasSubstr("index is out of range"));
        EXPECT_THAT(messages.back(), HasSubstr("[1] is 7"));
    }
    EXPECT_THAT(messages[1], HasSubstr(" by cuda.gather."));
    EXPECT_EQ(failure_in(messages[1]), failure_in(messages[0])) << "the input has its name";
}

// Which of several is left open: threads reach them in any order. It is one of them, whole.
TEST(CudaPrograms, OfSeveralIndicesOutOfRangeOneIsReported) {
    constexpr std::int64_t count = 3000;
    Graph g("gather");
    const Tensor table = g.input("table", DType::f32, {5, 4});
    g.output("y", gather(table, g.input("i", DType::i64, {count}), 0));
    const std::vector<float> values(20, 1);
    std::vector<std::int64_t> indices(count, 2);
    indices[3] = 7;
    indices[1500] = -9;
    indices[2999] = 5;
    const std::string beginning = "an index is out of range of the indexed axis: \"i\"";
    TestDevice device;
    for (const Context& context : {Context(), device.context()}) {
        CompiledGraph compiled = compile(g, context);
        compiled.set("table", values.data(), {5, 4});
        compiled.set("i", indices.data(), {count});
        for (int repeat = 0; repeat < 20; ++repeat)
            EXPECT_THAT(failure_in(message([&] { compiled.run(); })),
                        testing::AnyOf(beginning + "[3] is 7", beginning + "[1500] is -9", beginning + "[2999] is 5"));
    }
    EXPECT_GT(device.launches(), 0);
}

}  // namespace
}  // namespace cairn::test
