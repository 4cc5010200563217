#include "cairn/cairn.hpp"
#include "tests/autotune/measurement/second_device.hpp"
#include "tests/autotune/policy/inexact_product.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

// What users see of a device whose memory the host cannot access: states, weights, reports, limits and tuning.
namespace cairn::test {
namespace {

using testing::HasSubstr;

/// Rates at which the device computes everything.
DeviceRates fast() { return {Device::cuda(), 1e15, 1e14, 1e-9, 1e13, 1e-9}; }

/// A cache that grows inside [2, P, 3], a counter of fixed size that begins at 5, and weights.
Graph model() {
    Graph g("model");
    const Dim p = g.symbol("P", 0, 12), t = g.symbol("T", 1, 4);
    State cache = g.state("cache", DType::f32, {2, p, 3}, 1, 16);
    State counter = g.state("counter", DType::f32, {3}, {5.0F, 6.0F, 7.0F});
    const Tensor x = g.input("x", DType::f32, {2, t, 3});
    const Tensor all = cache.append(x * 2.0F);
    g.output("sums", matmul(sum(all, {1}), g.weight("w", DType::f32, {3, 3})));
    g.output("count", counter.assign(counter.read() + 1.0F));
    return g;
}

const std::vector<float>& weights() {
    static const std::vector<float> w{1, 2, 3, 4, 5, 6, 7, 8, 10};
    return w;
}

InputView weight_view(std::string_view) {
    InputView view;
    view.data = weights().data();
    view.shape = {3, 3};
    return view;
}

std::vector<float> floats(const OutputView& view) {
    const auto elements = view.as<float>();
    return {elements.begin(), elements.end()};
}

std::vector<float> step(CompiledGraph& compiled, std::int64_t rows, float first) {
    std::vector<float> x;
    for (std::int64_t i = 0; i < 2 * rows * 3; ++i) x.push_back(first + static_cast<float>(i));
    compiled.set("x", x.data(), {2, rows, 3});
    compiled.run();
    std::vector<float> results = floats(compiled.output("sums"));
    for (const float count : floats(compiled.output("count"))) results.push_back(count);
    return results;
}

bool is_on_device(const CompiledGraph& compiled) {
    const std::string text = compiled.program();
    return text.find("state \"cache\"") != std::string::npos && text.find("on cuda") != std::string::npos;
}

/// The model on the CPU and on the device.
struct Both {
    explicit Both(const Context& context) : here(compile(model(), Context())), there(compile(model(), context)) {
        here.bind(weight_view);
        there.bind(weight_view);
        EXPECT_TRUE(is_on_device(there)) << there.program();
    }
    CompiledGraph here, there;
};

TEST(DeviceMemory, StatesAreReadSetSavedAndResetAsOnTheCpu) {
    Both both(with_second_device(fast()));
    const auto path = std::filesystem::path(CAIRN_BINARY_DIR) / "device_states.safetensors";
    const auto expect_equal = [&](const char* when) {
        for (const char* state : {"cache", "counter"}) {
            const OutputView got = both.there.state(state), wanted = both.here.state(state);
            EXPECT_EQ(std::vector(got.shape.begin(), got.shape.end()),
                      std::vector(wanted.shape.begin(), wanted.shape.end()))
                << when;
            EXPECT_EQ(floats(got), floats(wanted)) << when << ' ' << state;
        }
    };
    expect_equal("at first");
    for (const std::int64_t rows : {3, 1, 4}) EXPECT_EQ(step(both.there, rows, 1), step(both.here, rows, 1));
    expect_equal("after runs");
    both.there.save_states(path);
    for (CompiledGraph* const compiled : {&both.here, &both.there}) {
        compiled->rewind("P", 2);
        step(*compiled, 2, -9);
    }
    expect_equal("after a rewind");
    std::vector<float> contents;
    for (int i = 0; i < 30; ++i) contents.push_back(static_cast<float>(i) / 4);
    for (CompiledGraph* const compiled : {&both.here, &both.there}) {
        compiled->set_state("cache", contents.data(), {2, 5, 3});
        compiled->set_state("counter", contents.data(), {3});
    }
    expect_equal("after set_state");
    EXPECT_EQ(step(both.there, 2, 3), step(both.here, 2, 3));
    for (CompiledGraph* const compiled : {&both.here, &both.there}) compiled->load_states(path);
    expect_equal("after load_states");
    EXPECT_EQ(both.there.state("cache").shape[1], 8);
    for (CompiledGraph* const compiled : {&both.here, &both.there}) compiled->reset_states();
    expect_equal("after a reset");
    EXPECT_EQ(floats(both.there.state("counter")), (std::vector<float>{5, 6, 7}));
    EXPECT_EQ(step(both.there, 4, 3), step(both.here, 4, 3));
}

TEST(DeviceMemory, ASavedProgramAndItsInstancesComputeTheSame) {
    const Context context = with_second_device(fast());
    Both both(context);
    const auto path = std::filesystem::path(CAIRN_BINARY_DIR) / "device_memory.cairn";
    both.there.save(path);
    CompiledGraph loaded = CompiledGraph::load(path, context);
    loaded.bind(weight_view);
    CompiledGraph second = loaded.instance();
    for (const std::int64_t rows : {2, 3}) {
        const std::vector<float> wanted = step(both.here, rows, 1);
        EXPECT_EQ(step(loaded, rows, 1), wanted);
        EXPECT_EQ(step(second, rows, 1), wanted);
    }
    EXPECT_THAT(message([&] { CompiledGraph::load(path, Context()); }),
                HasSubstr("it uses device cuda, which this context does not have"));
}

TEST(DeviceMemory, PackedWeightsOfADeviceAreKeptInAFile) {
    const Context context = with_second_device(fast());
    const auto path = std::filesystem::path(CAIRN_BINARY_DIR) / "device_memory.packed";
    std::filesystem::remove(path);
    std::vector<std::vector<float>> results;
    int reads = 0;
    for (int start = 0; start < 2; ++start) {
        reads = 0;
        CompiledGraph compiled = compile(model(), context);
        compiled.bind(
            [&](std::string_view name) {
                ++reads;
                return weight_view(name);
            },
            PackedFile{.path = path, .weights = "one"});
        results.push_back(step(compiled, 3, 1));
    }
    EXPECT_EQ(reads, 0) << "the second start reads the file";
    EXPECT_EQ(results[1], results[0]);
}

TEST(DeviceMemory, IsReportedForEachDevice) {
    Both both(with_second_device(fast()));
    const MemoryReport here = both.here.memory(), there = both.there.memory();
    EXPECT_TRUE(here.devices.empty());
    ASSERT_EQ(there.devices.size(), 1U);
    const auto& [device, memory] = there.devices[0];
    EXPECT_EQ(device, Device::cuda());
    EXPECT_EQ(there.states, 0);
    EXPECT_EQ(memory.states, here.states);
    EXPECT_EQ(there.weights, 0) << "runs read the copies alone";
    EXPECT_EQ(memory.weights, 0);
    EXPECT_GE(memory.bound, 36) << "the copy of the weights";
    EXPECT_GT(memory.arena, 0);
    EXPECT_GE(memory.arena, memory.max_live);
    std::map<Device, std::int64_t> states, ends;
    for (const BufferMemory& row : there.buffers) {
        if (row.kind == "state") states[row.device] += row.peak_bytes;
        if (row.offset >= 0) ends[row.device] = std::max(ends[row.device], row.offset + row.peak_bytes);
    }
    EXPECT_EQ(states, (std::map<Device, std::int64_t>{{Device::cuda(), memory.states}}));
    EXPECT_LE(ends[Device::cuda()], memory.arena);
    EXPECT_LE(ends[Device::cpu], there.arena);
    const MemoryReport at = both.there.memory({{"P", 0}, {"T", 1}});
    EXPECT_LT(at.devices[0].second.arena, memory.arena);
}

TEST(DeviceMemory, IsLimitedForEachDevice) {
    const Context context = with_second_device(fast());
    const MemoryReport free = compile(model(), context).memory();
    const DeviceMemory& there = free.devices[0].second;
    const std::int64_t needed = there.bound + there.states + there.arena + there.verification;
    CompileOptions options;
    options.device_memory_limits = {{Device::cuda(), needed}};
    EXPECT_EQ(compile(model(), context, options).memory().devices[0].second.arena, there.arena);
    // With one byte less something is computed on the CPU.
    options.device_memory_limits = {{Device::cuda(), needed - 1}};
    const MemoryReport less = compile(model(), context, options).memory();
    for (const auto& [device, memory] : less.devices)
        EXPECT_LT(memory.bound + memory.states + memory.arena + memory.verification, needed) << to_string(device);
    options.device_memory_limits = {{Device::cuda(), 1 << 30}};
    options.memory_limit = 1;
    EXPECT_THAT(message([&] { compile(model(), context, options); }), HasSubstr("bytes are needed (bound "));
    Graph pinned("pinned");
    pinned.output("y", exp(copy_to(sin(pinned.input("x", DType::f32, {64})), Device::cuda())));
    options = {};
    options.device_memory_limits = {{Device::cuda(), 100}};
    EXPECT_THAT(message([&] { compile(pinned, context, options); }), HasSubstr("bytes are needed on cuda (bound 0, "));
}

TEST(DeviceMemory, KernelsAndProgramsOfADeviceAreTimedInIt) {
    const auto path = std::filesystem::path(CAIRN_BINARY_DIR) / "device_memory.db";
    std::filesystem::remove(path);
    ContextOptions options;
    options.timing_db = path;
    const Context context = with_second_device(fast(), options);
    // The device is not as fast as its rates: measured, the programs of the CPU are no slower.
    CompiledGraph tuned = compile(model(), context, {.mode = Mode::normal, .tune_seconds = 10});
    std::ostringstream rows;
    TimingFile(path, TimingFile::Use::read).export_rows(rows);
    const std::string text = rows.str();
    EXPECT_NE(text.find("cuda.reference."), std::string::npos);
    EXPECT_EQ(text.find("\"failed\""), std::string::npos);
    tuned.bind(weight_view);
    CompiledGraph here = compile(model(), Context());
    here.bind(weight_view);
    EXPECT_EQ(step(tuned, 3, 1), step(here, 3, 1));
}

// The first run compares with an exact program on states and an arena of its own, both on the device.
TEST(DeviceMemory, InexactProgramsAreVerifiedInIt) {
    constexpr std::int64_t width = 16;
    Graph g("verified");
    const Dim p = g.symbol("P", 0, 7);
    State rows = g.state("rows", DType::f32, {p, width}, 0, 8);
    const Tensor x = g.input("x", DType::f32, {1, width});
    const Tensor product = matmul(x, g.weight("w", DType::f32, {width, width}));
    g.output("y", product);
    g.output("sum", sum(rows.append(product), {0}));
    std::vector<float> w;
    for (std::int64_t i = 0; i < width * width; ++i) w.push_back(std::sin(static_cast<float>(i)));
    const WeightSource weight = [&](std::string_view) {
        InputView view;
        view.data = w.data();
        view.shape = {width, width};
        return view;
    };
    std::vector<float> values;
    for (std::int64_t i = 0; i < width; ++i) values.push_back(std::cos(static_cast<float>(i)));
    for (const bool keeps_its_word : {true, false}) {
        Kernel kernel = keeps_its_word ? inexact_product() : product_beyond_stated_error();
        kernel.id = "cuda" + kernel.id.substr(kernel.id.find('.'));
        kernel.device = Device::cuda();
        ContextOptions options;
        options.extra.kernels = {kernel};
        const Context context = with_second_device(fast(), options);
        const double tolerance = keeps_its_word ? 1e-2 : 1e-3;
        CompiledGraph inexact = compile(g, context, {.tolerance = Tolerance::relative(tolerance)});
        CompiledGraph exact = compile(g, Context());
        ASSERT_NE(inexact.program().find(kernel.id), std::string::npos);
        ASSERT_GT(inexact.memory().devices.at(0).second.verification, 0);
        inexact.bind(weight);
        exact.bind(weight);
        // Rows that the exact program has to find in its own copy of the state.
        const std::vector<float> before(2 * width, 0.5F);
        for (CompiledGraph* const compiled : {&inexact, &exact}) compiled->set_state("rows", before.data(), {2, width});
        for (int run = 0; run < 3; ++run) {
            for (CompiledGraph* const compiled : {&inexact, &exact}) {
                compiled->set("x", values.data(), {1, width});
                compiled->run();
            }
            const std::vector<float> got = floats(inexact.state("rows")), wanted = floats(exact.state("rows"));
            ASSERT_EQ(got.size(), static_cast<std::size_t>((run + 3) * width));
            double difference = 0, norm = 0;
            for (std::size_t i = 0; i < got.size(); ++i) {
                difference += std::pow(static_cast<double>(got[i] - wanted[i]), 2);
                norm += std::pow(static_cast<double>(wanted[i]), 2);
            }
            EXPECT_LT(std::sqrt(difference / norm), keeps_its_word ? 1e-2 : 1e-6);
        }
        for (const VerifiedError& row : inexact.verified_errors()) {
            EXPECT_TRUE(row.verified) << row.value;
            EXPECT_EQ(row.fell_back, !keeps_its_word) << row.value << ' ' << row.error;
        }
        EXPECT_EQ(inexact.memory().devices.at(0).second.verification, 0);
    }
}

TEST(DeviceMemory, ADeviceWithoutRoomIsReportedAndTheContextGoesOn) {
    for (const std::int64_t bytes : {0, 36, 300, 400, 800}) {
        const Context context = with_second_device(fast(), {}, bytes);
        const std::string fault = message([&] {
            CompiledGraph compiled = compile(model(), context);
            compiled.bind(weight_view);
            step(compiled, 4, 1);
            step(compiled, 4, 1);
        });
        EXPECT_THAT(fault, HasSubstr(" are free")) << bytes;
        Graph other("other");
        other.output("y", exp(other.input("x", DType::f32, {2})));
        CompiledGraph small = compile(other, context, {.disable = {"search"}});
        const std::vector<float> x{0, 0};
        ASSERT_EQ(small.program().find("on cuda"), std::string::npos);
        small.set("x", x.data(), {2});
        small.run();
        EXPECT_EQ(floats(small.output("y")), (std::vector<float>{1, 1}));
    }
}

}  // namespace
}  // namespace cairn::test
