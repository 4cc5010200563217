#include "cairn/cairn.hpp"
#include "tests/autotune/measurement/second_device.hpp"
#include "tests/autotune/policy/inexact_product.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

// Inputs and outputs in the memory of a device.
namespace cairn::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const Device there = Device::cuda();

/// Rates at which the device computes everything, and at which it computes nothing.
DeviceRates fast() { return {there, 1e15, 1e14, 1e-9, 1e13, 1e-9}; }
DeviceRates slow() { return {there, 1e3, 1e3, 1, 1e13, 1e-9}; }

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}
std::vector<float> floats(const std::vector<std::byte>& bytes) {
    std::vector<float> values(bytes.size() / sizeof(float));
    std::ranges::copy(bytes, std::as_writable_bytes(std::span(values)).begin());
    return values;
}

/// Elements in the memory of a device.
PortMemory on(const Context& context, Device device, const std::vector<float>& values) {
    return PortMemory(context, device, bytes_of(values));
}

/// A result in whatever memory it is.
std::vector<float> result(const Context& context, const CompiledGraph& compiled, const std::string& name) {
    const OutputView view = compiled.output(name);
    std::size_t count = 1;
    for (const std::int64_t size : view.shape) count *= static_cast<std::size_t>(size);
    std::vector<std::byte> bytes(count * sizeof(float));
    context.impl()->backend(view.device).copy(bytes.data(), static_cast<const std::byte*>(view.data), bytes.size());
    return floats(bytes);
}

int copies(const CompiledGraph& compiled) {
    int count = 0;
    for (const InstructionProfile& row : compiled.profile()) count += row.problem.starts_with("copy_to") ? 1 : 0;
    return count;
}

Graph doubling() {
    Graph g("doubling");
    const Tensor x = g.input("x", DType::f32, {g.symbol("N", 0, 8), 2});
    g.output("y", x + x);
    return g;
}

TEST(PortDevices, AProgramCopiesThemOnlyWhereAnotherDeviceNeedsThem) {
    for (const bool is_fast : {true, false}) {
        const Context context = with_second_device(is_fast ? fast() : slow());
        for (const Device input : {Device::cpu, there})
            for (const Device output : {Device::cpu, there}) {
                CompileOptions options;
                options.input_devices["x"] = input;
                options.output_devices["y"] = output;
                options.verify = true;
                CompiledGraph compiled = compile(doubling(), context, options);
                for (const std::int64_t rows : {3, 0, 1}) {
                    std::vector<float> values, wanted;
                    for (std::int64_t i = 0; i < 2 * rows; ++i) {
                        values.push_back(static_cast<float>(i) + 1);
                        wanted.push_back(2 * values.back());
                    }
                    const PortMemory x = on(context, input, values);
                    compiled.set("x", x.data(), {rows, 2});
                    compiled.run();
                    EXPECT_EQ(compiled.output("y").device, output);
                    EXPECT_EQ(result(context, compiled, "y"), wanted);
                }
                const Device worker = is_fast ? there : Device::cpu;
                EXPECT_EQ(copies(compiled), (input != worker ? 1 : 0) + (output != worker ? 1 : 0))
                    << compiled.program();
            }
    }
}

TEST(PortDevices, ElementsOfAResultThatTheHostCannotReadAreRefused) {
    const Context context = with_second_device(fast());
    CompiledGraph compiled = compile(doubling(), context, {.output_devices = {{"y", there}}});
    const std::vector<float> x{1, 2};
    compiled.set("x", x, {1, 2});
    compiled.run();
    EXPECT_THAT(message([&] { compiled.output("y").as<float>(); }), HasSubstr("in the memory of cuda"));
}

/// Outputs that are views of the input, or the same value twice, on every combination of devices.
TEST(PortDevices, OutputsMayBeViewsAndShareAValue) {
    const Context context = with_second_device(fast());
    Graph g("views");
    const Tensor x = g.input("x", DType::f32, {2, 3});
    const Tensor e = x * 3.0F;
    const std::vector<std::string> names{"same", "flat", "turned", "a", "b"};
    g.output("same", x);
    g.output("flat", reshape(x, {6}));
    g.output("turned", transpose(x, {1, 0}));
    g.output("a", e);
    g.output("b", e);
    const std::vector<float> values{1, 2, 3, 4, 5, 6};
    for (unsigned places = 0; places < 64; ++places) {
        CompileOptions options;
        options.verify = true;
        options.input_devices["x"] = (places & 32U) != 0 ? there : Device::cpu;
        for (unsigned o = 0; o < 5; ++o)
            options.output_devices[names[o]] = (places >> o & 1U) != 0 ? there : Device::cpu;
        CompiledGraph compiled = compile(g, context, options);
        const PortMemory given = on(context, options.input_devices["x"], values);
        compiled.set("x", given.data(), {2, 3});
        compiled.run();
        EXPECT_EQ(result(context, compiled, "same"), values) << places;
        EXPECT_EQ(result(context, compiled, "flat"), values) << places;
        EXPECT_THAT(result(context, compiled, "turned"), ElementsAre(1, 4, 2, 5, 3, 6)) << places;
        for (const char* name : {"a", "b"})
            EXPECT_THAT(result(context, compiled, name), ElementsAre(3, 6, 9, 12, 15, 18)) << places;
    }
}

TEST(PortDevices, AnOutputMayBeAConstantAWeightOrAState) {
    const Context context = with_second_device(fast());
    Graph g("kept");
    State s = g.state("s", DType::f32, {2}, {1.0F, 2.0F});
    g.output("state", s.assign(s.read() + g.input("x", DType::f32, {2})));
    g.output("weight", g.weight("w", DType::f32, {2}));
    g.output("constant", g.constant({4.0F, 5.0F}, {2}));
    CompileOptions options;
    options.verify = true;
    options.input_devices["x"] = there;
    for (const char* name : {"state", "weight", "constant"}) options.output_devices[name] = there;
    CompiledGraph compiled = compile(g, context, options);
    const std::vector<float> w{8, 9};
    compiled.bind([&](std::string_view) {
        InputView view;
        view.data = w.data();
        view.shape = {2};
        return view;
    });
    const PortMemory x = on(context, there, {10, 20});
    compiled.set("x", x.data(), {2});
    for (int run = 1; run < 3; ++run) {
        compiled.run();
        EXPECT_THAT(result(context, compiled, "state"),
                    ElementsAre(1 + 10 * static_cast<float>(run), 2 + 20 * static_cast<float>(run)));
        EXPECT_THAT(result(context, compiled, "weight"), ElementsAre(8, 9));
        EXPECT_THAT(result(context, compiled, "constant"), ElementsAre(4, 5));
    }
}

TEST(PortDevices, OutputsAreWrittenToMemoryOfTheCaller) {
    const Context context = with_second_device(fast());
    CompiledGraph compiled =
        compile(doubling(), context, {.input_devices = {{"x", there}}, .output_devices = {{"y", there}}});
    const PortMemory x = on(context, there, {1, 2, 3, 4}), y = on(context, there, {0, 0, 0, 0, -1});
    compiled.set("x", x.data(), {2, 2});
    compiled.set_output("y", y.data(), 16);
    compiled.run();
    EXPECT_THAT(floats(y.contents()), ElementsAre(2, 4, 6, 8, -1));
    EXPECT_EQ(compiled.output("y").data, y.data());
    // The memory of the input: the next run reads the result.
    compiled.set_output("y", x.data(), 16);
    compiled.run();
    compiled.run();
    EXPECT_THAT(floats(x.contents()), ElementsAre(4, 8, 12, 16));
    compiled.set_output("y", nullptr, 0);
    compiled.run();
    EXPECT_THAT(floats(x.contents()), ElementsAre(4, 8, 12, 16));
    EXPECT_THAT(result(context, compiled, "y"), ElementsAre(8, 16, 24, 32));
    // A result is no input of the same object: the run overwrites it.
    compiled.set("x", compiled.output("y").data, {2, 2});
    EXPECT_THAT(message([&] { compiled.run(); }), HasSubstr("overlaps a result of this object"));
}

TEST(PortDevices, AnInputWithoutElementsHasAnyAddress) {
    const Context context = with_second_device(fast());
    Graph graph("sums");
    const Tensor x = graph.input("x", DType::f32, {graph.symbol("N", 0, 3)});
    graph.output("y", x + x);
    CompiledGraph compiled = compile(graph, context, {.input_devices = {{"x", there}}});
    std::vector<float> here{1, 2};
    compiled.set("x", here.data(), {0});
    compiled.run();
    EXPECT_THAT(compiled.output("y").shape, ElementsAre(0));
    EXPECT_THAT(message([&] { compiled.set("x", here.data(), {2}); }), HasSubstr("is given memory of the host"));
    const PortMemory device = on(context, there, {1, 2});
    compiled.set("x", device.data(), {2});
    compiled.run();
    EXPECT_THAT(result(context, compiled, "y"), ElementsAre(2, 4));
}

TEST(PortDevices, MemoryOfTheWrongDeviceIsRefused) {
    const Context context = with_second_device(fast());
    CompiledGraph compiled = compile(doubling(), context, {.output_devices = {{"y", there}}});
    CompiledGraph other = compile(doubling(), context, {.input_devices = {{"x", there}}});
    std::vector<float> here{1, 2};
    const PortMemory device = on(context, there, {1, 2});
    EXPECT_THAT(message([&] {
                    other.set("x", here, {1, 2});
                }),
                HasSubstr("input \"x\" is given memory of the host, expected memory of the device cuda"));
    EXPECT_THAT(message([&] { other.set("x", {1.0F, 2.0F}, {1, 2}); }), HasSubstr("memory of the host"));
    EXPECT_THAT(message([&] {
                    compiled.set("x", device.data(), {1, 2});
                }),
                HasSubstr("input \"x\" is given memory of the device cuda, expected memory of the host"));
    EXPECT_THAT(message([&] { compiled.set_output("y", here.data(), 8); }),
                HasSubstr("output \"y\" is given memory of the host, expected memory of the device cuda"));
    EXPECT_THAT(message([&] { other.set_output("y", device.data(), 8); }),
                HasSubstr("output \"y\" is given memory of the device cuda, expected memory of the host"));
    InputView view;
    view.data = device.data();
    view.shape = {1, 2};
    EXPECT_THAT(message([&] { other.set("x", view); }), HasSubstr("in memory of cuda, got memory of cpu"));
    view.device = there;
    EXPECT_THAT(message([&] { compiled.set("x", view); }), HasSubstr("in memory of cpu, got memory of cuda"));
    view.shape = {2, 2};
    view.strides = {1, 1};
    EXPECT_THAT(message([&] { other.set("x", view); }), HasSubstr("strided memory of cuda"));
    view.shape = {1, 2};
    view.strides = {};
    int released = 0;
    view.owner = &released;
    view.release = [](void* owner) { ++*static_cast<int*>(owner); };
    other.set("x", view);
    other.run();
    EXPECT_EQ(released, 0);
    EXPECT_THAT(other.output("y").as<float>(), ElementsAre(2, 4));
    other.set("x", device.data(), {1, 2});
    EXPECT_EQ(released, 1);
}

TEST(PortDevices, UnknownNamesAndDevicesAreRefused) {
    const Context context = with_second_device(fast());
    const auto fault = [&](CompileOptions options) { return message([&] { compile(doubling(), context, options); }); };
    EXPECT_THAT(fault({.input_devices = {{"y", there}}}), HasSubstr("there is no input called \"y\""));
    EXPECT_THAT(fault({.output_devices = {{"x", Device::cpu}}}), HasSubstr("there is no output called \"x\""));
    EXPECT_THAT(fault({.input_devices = {{"x", Device::cuda(1)}}}),
                HasSubstr("input \"x\" is to be on cuda:1, but this Context has no such device"));
    EXPECT_THAT(fault({.disable = {"search"}, .output_devices = {{"y", there}}}),
                HasSubstr("output \"y\" is to be on cuda, which needs the stage search"));
    EXPECT_THAT(message([&] {
                    compile(doubling(), Context(), {.input_devices = {{"x", there}}});
                }),
                HasSubstr("no such device"));
    compile(doubling(), Context(), {.disable = {"search"}, .input_devices = {{"x", Device::cpu}}});
}

TEST(PortDevices, AnInputThatNothingReadsIsTakenToo) {
    const Context context = with_second_device(fast());
    Graph g("unread");
    g.input("ignored", DType::f32, {3});
    g.output("y", g.input("x", DType::f32, {3}) + 1.0F);
    CompiledGraph compiled = compile(g, context, {.input_devices = {{"ignored", there}}});
    const std::vector<float> x{1, 2, 3};
    const PortMemory ignored = on(context, there, x);
    compiled.set("x", x, {3});
    EXPECT_THAT(message([&] { compiled.set("ignored", x, {3}); }), HasSubstr("memory of the host"));
    compiled.set("ignored", ignored.data(), {3});
    compiled.run();
    EXPECT_THAT(compiled.output("y").as<float>(), ElementsAre(2, 3, 4));
}

TEST(PortDevices, SavedProgramsLocksAndCachesKeepThem) {
    const Context context = with_second_device(fast());
    const auto folder = std::filesystem::path(CAIRN_BINARY_DIR) / "port_devices";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    CompileOptions options;
    options.input_devices["x"] = there;
    options.output_devices["y"] = there;
    options.cache_file = folder / "cached";
    CompiledGraph first = compile(doubling(), context, options);
    first.save(folder / "saved");
    first.write_lock(folder / "lock");
    const auto check = [&](CompiledGraph compiled) {
        EXPECT_EQ(compiled.program(), first.program());
        const PortMemory x = on(context, there, {1, 2});
        compiled.set("x", x.data(), {1, 2});
        compiled.run();
        EXPECT_THAT(result(context, compiled, "y"), ElementsAre(2, 4));
    };
    check(CompiledGraph::load(folder / "saved", context));
    check(compile(doubling(), context, options));
    // Without them it is another program, also to the cache.
    CompileOptions others;
    others.cache_file = options.cache_file;
    EXPECT_NE(compile(doubling(), context, others).program(), first.program());
    options.cache_file.clear();
    options.mode = Mode::replay;
    options.lock = folder / "lock";
    check(compile(doubling(), context, options));
    options.input_devices.clear();
    EXPECT_THAT(message([&] { compile(doubling(), context, options); }),
                HasSubstr("it has no calls for these problems"));
}

// The other input is copied by the same call.
TEST(PortDevices, ALockForOtherPortsGivesCallsAndNoCover) {
    const Context context = with_second_device(fast());
    Graph g("difference");
    g.output("y", g.input("a", DType::f32, {2}) - g.input("b", DType::f32, {2}));
    const auto lock = std::filesystem::path(CAIRN_BINARY_DIR) / "port_devices.lock";
    compile(g, context, {.input_devices = {{"a", there}}}).write_lock(lock);
    CompiledGraph compiled = compile(g, context, {.mode = Mode::replay, .lock = lock, .input_devices = {{"b", there}}});
    const std::vector<float> a{5, 7};
    const PortMemory b = on(context, there, {1, 2});
    compiled.set("a", a, {2});
    compiled.set("b", b.data(), {2});
    compiled.run();
    EXPECT_THAT(compiled.output("y").as<float>(), ElementsAre(4, 5));
}

TEST(PortDevices, InexactProgramsAreVerified) {
    constexpr std::int64_t width = 16;
    Graph g("verified");
    const Tensor product = matmul(g.input("x", DType::f32, {1, width}), g.weight("w", DType::f32, {width, width}));
    g.output("y", product);
    g.output("view", reshape(product, {width}));
    std::vector<float> w, values;
    for (std::int64_t i = 0; i < width * width; ++i) w.push_back(std::sin(static_cast<float>(i)));
    for (std::int64_t i = 0; i < width; ++i) values.push_back(std::cos(static_cast<float>(i)));
    for (const bool keeps_its_word : {true, false}) {
        Kernel kernel = keeps_its_word ? inexact_product() : product_beyond_stated_error();
        kernel.id = "cuda" + kernel.id.substr(kernel.id.find('.'));
        kernel.device = there;
        ContextOptions context_options;
        context_options.extra.kernels = {kernel};
        const Context context = with_second_device(fast(), context_options);
        CompileOptions options;
        options.tolerance = Tolerance::relative(keeps_its_word ? 1e-2 : 1e-3);
        options.input_devices["x"] = there;
        options.output_devices = {{"y", there}, {"view", there}};
        CompiledGraph compiled = compile(g, context, options);
        compiled.bind([&](std::string_view) {
            InputView view;
            view.data = w.data();
            view.shape = {width, width};
            return view;
        });
        const PortMemory x = on(context, there, values);
        const PortMemory y = on(context, there, std::vector<float>(width, 0));
        compiled.set("x", x.data(), {1, width});
        compiled.set_output("y", y.data(), y.size());
        for (int run = 0; run < 2; ++run) {
            compiled.run();
            for (const std::vector<float>& got : {floats(y.contents()), result(context, compiled, "view")}) {
                double difference = 0, norm = 0;
                for (std::size_t j = 0; j < width; ++j) {
                    double wanted = 0;
                    for (std::size_t i = 0; i < width; ++i) wanted += static_cast<double>(values[i]) * w[i * width + j];
                    difference += std::pow(got[j] - wanted, 2);
                    norm += wanted * wanted;
                }
                EXPECT_LT(std::sqrt(difference / norm), keeps_its_word ? 1e-2 : 1e-6) << run;
            }
        }
        for (const VerifiedError& row : compiled.verified_errors()) {
            EXPECT_TRUE(row.verified) << row.value;
            EXPECT_EQ(row.fell_back, !keeps_its_word) << row.value << ' ' << row.error;
        }
    }
}

TEST(PortDevices, ProgramsAreTimedWithInputsInItsMemory) {
    const auto file = std::filesystem::path(CAIRN_BINARY_DIR) / "port_devices.db";
    std::filesystem::remove(file);
    ContextOptions context_options;
    context_options.timing_db = file;
    const Context context = with_second_device(fast(), context_options);
    CompileOptions options;
    options.mode = Mode::exhaustive;
    options.tune_seconds = 2;
    options.input_devices["x"] = there;
    options.output_devices["y"] = there;
    CompiledGraph compiled = compile(doubling(), context, options);
    const PortMemory x = on(context, there, {1, 2});
    compiled.set("x", x.data(), {1, 2});
    compiled.run();
    EXPECT_THAT(result(context, compiled, "y"), ElementsAre(2, 4));
    EXPECT_THAT(details(compiled.explain()), AllOf(HasSubstr("measured"), Not(HasSubstr("failed"))));
}

}  // namespace
}  // namespace cairn::test
