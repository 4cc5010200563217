#include "cairn/cairn.hpp"
#include "tests/device/cuda/host_stream.hpp"
#include "tests/driver/cuda_test_device.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Runs in streams of the host program, and runs that are not waited for.
namespace cairn::test {
namespace {

using device::cuda::DeviceAddress;
using device::cuda::DriverTable;
using device::cuda::HostStream;
using testing::ElementsAre;
using testing::HasSubstr;

/// Memory of the device that the host program has allocated.
template <typename T>
class HostsArray {
public:
    HostsArray(HostStream& stream, const std::vector<T>& values) : stream_(stream), bytes_(values.size() * sizeof(T)) {
        stream.call(&DriverTable::memory_alloc, &address_, bytes_);
        stream.call(&DriverTable::copy_to_device, address_, static_cast<const void*>(values.data()), bytes_,
                    stream.handle());
        stream.synchronize();
    }
    ~HostsArray() { stream_.call(&DriverTable::memory_free, address_); }
    HostsArray(const HostsArray&) = delete;
    HostsArray& operator=(const HostsArray&) = delete;

    T* data() const { return reinterpret_cast<T*>(address_); }
    std::size_t bytes() const { return bytes_; }
    DeviceAddress address() const { return address_; }
    /// The values once the work in the stream is complete.
    std::vector<T> read() const {
        std::vector<T> values(bytes_ / sizeof(T));
        stream_.call(&DriverTable::copy_to_host, static_cast<void*>(values.data()), address_, bytes_, stream_.handle());
        stream_.synchronize();
        return values;
    }

private:
    HostStream& stream_;
    DeviceAddress address_ = 0;
    std::size_t bytes_;
};

RunOptions in(const HostStream& stream, bool wait = false) {
    RunOptions options;
    options.stream = {Device::cuda(), stream.handle()};
    options.wait = wait;
    return options;
}

/// A model that appends the row of a table that an index names, and returns the sum of all rows and the index after it.
Graph stepper() {
    Graph g("stepper");
    const Dim p = g.symbol("P", 0, 15);
    State rows = g.state("rows", DType::f32, {p, 4}, 0, 16);
    const Tensor index = g.input("index", DType::i32, {1});
    std::vector<float> table;
    for (int i = 0; i < 64; ++i) table.push_back(static_cast<float>(i));
    const Tensor row = gather(g.constant(table, {16, 4}), index, 0);
    g.output("sum", sum(rows.append(row), {0}));
    g.output("next", index + g.constant(std::vector<std::int32_t>{1}, {1}));
    return g;
}

/// The sums after the rows 0, 1, ... .
std::vector<float> sums_after(int steps) {
    std::vector<float> sums(4, 0);
    for (int step = 0; step < steps; ++step)
        for (int i = 0; i < 4; ++i) sums[static_cast<std::size_t>(i)] += static_cast<float>(4 * step + i);
    return sums;
}

CompileOptions on_the_device() {
    CompileOptions options;
    options.input_devices = {{"index", Device::cuda()}};
    options.output_devices = {{"sum", Device::cuda()}, {"next", Device::cuda()}};
    return options;
}

class AsynchronousRuns : public testing::TestWithParam<bool> {
protected:
    AsynchronousRuns() {
        ContextOptions options;
        options.cuda_graphs = GetParam();
        context.emplace(device.context(options));
    }
    void TearDown() override {
        context.reset();
        stream.reset();
        EXPECT_THAT(device.faults(), testing::IsEmpty());
    }

    TestDevice device;
    std::optional<Context> context;
    std::optional<HostStream> stream{std::in_place, device.driver_table()};
};
INSTANTIATE_TEST_SUITE_P(Launches, AsynchronousRuns, testing::Bool(),
                         [](const auto& info) { return info.param ? "AsGraphs" : "OneByOne"; });

// Each step reads what the step before has written, and the host waits for none of them.
TEST_P(AsynchronousRuns, ALoopOverTokensRunsAhead) {
    CompiledGraph compiled = compile(stepper(), *context, on_the_device());
    const HostsArray<std::int32_t> first(*stream, {0}), second(*stream, {-1});
    const HostsArray<float> sums(*stream, {0, 0, 0, 0});
    compiled.set_output("sum", sums.data(), sums.bytes());
    constexpr int steps = 7;
    const std::int64_t before = device.launches();
    for (int step = 0; step < steps; ++step) {
        const auto& [from, to] = step % 2 == 0 ? std::tie(first, second) : std::tie(second, first);
        compiled.set("index", from.data(), {1});
        compiled.set_output("next", to.data(), to.bytes());
        compiled.run(in(*stream));
        EXPECT_EQ(compiled.output("next").data, to.data());
    }
#if !defined(CAIRN_REAL_GPU)
    EXPECT_EQ(device.launches(), before) << "the host has waited for nothing";
#endif
    EXPECT_EQ(sums.read(), sums_after(steps));
    EXPECT_GT(device.launches(), before);
    EXPECT_THAT((steps % 2 == 0 ? first : second).read(), ElementsAre(steps));
    compiled.wait();
    EXPECT_EQ(compiled.state("rows").shape[0], steps);
    // Without a stream of the host program, and with results in Cairn's memory.
    compiled.set_output("sum", nullptr, 0);
    for (int run = 0; run < 2; ++run) {
        compiled.reset_states();
        for (int step = 0; step < 3; ++step) {
            compiled.set("index", (step % 2 == 0 ? second : first).data(), {1});
            compiled.set_output("next", (step % 2 == 0 ? first : second).data(), sizeof(std::int32_t));
            compiled.run({.wait = false});
        }
        compiled.wait();
    }
    EXPECT_THAT((steps % 2 == 0 ? second : first).read(), ElementsAre(steps + 5))
        << "the second text begins where the first has written last but one";
}

TEST_P(AsynchronousRuns, WorkOfTheHostProgramIsOrderedAroundThem) {
    Graph g("double");
    const Tensor value = g.input("x", DType::f32, {g.symbol("N", 1, 64), 4});
    g.output("y", value + value);
    CompiledGraph compiled =
        compile(g, *context, {.input_devices = {{"x", Device::cuda()}}, .output_devices = {{"y", Device::cuda()}}});
    const HostsArray<std::uint32_t> x(*stream, std::vector<std::uint32_t>(8)),
        kept(*stream, std::vector<std::uint32_t>(8));
    const HostsArray<std::uint32_t> y(*stream, std::vector<std::uint32_t>(8));
    compiled.set("x", reinterpret_cast<const float*>(x.data()), {2, 4});
    compiled.set_output("y", static_cast<void*>(y.data()), y.bytes());
    // 1.0 and 3.0 as bits: the work before writes the input, the work after reads the output, which the next run
    // overwrites.
    for (const unsigned bits : {0x3f800000U, 0x40400000U}) {
        stream->call(&DriverTable::set_words, x.address(), bits, std::size_t{8}, stream->handle());
        compiled.run(in(*stream));
        stream->call(&DriverTable::copy_on_device, kept.address(), y.address(), y.bytes() / 2, stream->handle());
        stream->call(&DriverTable::set_words, x.address(), 0U, std::size_t{8}, stream->handle());
    }
    EXPECT_THAT(kept.read(), ElementsAre(0x40c00000U, 0x40c00000U, 0x40c00000U, 0x40c00000U, 0, 0, 0, 0));
    compiled.wait();
}

TEST_P(AsynchronousRuns, ResultsInTheHostsMemoryAreWaitedFor) {
    CompiledGraph compiled = compile(stepper(), *context);
    CompiledGraph others = compiled.instance();
    for (int step = 0; step < 3; ++step) {
        compiled.set("index", {static_cast<std::int32_t>(step)}, {1});  // a copy, which the run before has read
        compiled.run({.wait = false});
    }
    EXPECT_THAT(compiled.output("sum").as<float>(), testing::ElementsAreArray(sums_after(3)));
    compiled.run({.wait = false});
    EXPECT_EQ(compiled.state("rows").shape[0], 4);
    compiled.run({.wait = false});
    compiled.rewind("P", 2);
    EXPECT_EQ(compiled.state("rows").shape[0], 2);
    compiled.set("index", {std::int32_t{16}}, {1});
    compiled.run({.wait = false});
    EXPECT_THAT(message([&] { compiled.output("sum"); }), HasSubstr("out of range"));
    // The memory of the caller is written when the run is complete.
    std::vector<float> sums(4);
    others.set("index", {std::int32_t{1}}, {1});
    others.set_output("sum", sums);
    others.run({.wait = false});
    others.wait();
    EXPECT_THAT(sums, ElementsAre(4, 5, 6, 7));
}

TEST_P(AsynchronousRuns, AFailureIsReportedByTheWaitAndTakesTheRowsBack) {
    CompiledGraph compiled = compile(stepper(), *context, on_the_device());
    const HostsArray<std::int32_t> right(*stream, {2}), wrong(*stream, {16});
    const auto step = [&](const HostsArray<std::int32_t>& index, bool wait = false) {
        compiled.set("index", index.data(), {1});
        compiled.run(in(*stream, wait));
    };
    const auto rows = [&] { return compiled.state("rows").shape[0]; };
    const std::string told = "index is out of range of the indexed axis";
    step(right, true);
    for (const bool by_run : {false, true}) {
        step(right);
        step(wrong);
        step(right);
        if (by_run) {
            EXPECT_THAT(message([&] { step(right, true); }), HasSubstr(told));
        } else {
            EXPECT_THAT(message([&] { compiled.wait(); }), HasSubstr(told));
        }
        EXPECT_THAT(message([&] { compiled.output("next"); }), HasSubstr("no successful run"));
        EXPECT_EQ(rows(), 1) << "as before the first run that was not waited for";
        compiled.wait();
        step(right, true);
        EXPECT_EQ(rows(), 2);
        compiled.rewind("P", 1);
    }
    // Calls that need the states wait, too.
    step(wrong);
    EXPECT_THAT(message([&] { rows(); }), HasSubstr(told));
    step(wrong);
    compiled.set("index", right.data(), {1});
    EXPECT_THAT(message([&] { compiled.reset_states(); }), HasSubstr(told));
    compiled.reset_states();
    EXPECT_EQ(rows(), 0);
}

TEST_P(AsynchronousRuns, ARunOfAnotherBucketWaits) {
    Graph g("rows");
    const Tensor index = g.input("index", DType::i32, {g.symbol("N", 1, 8)});
    std::vector<float> table(16, 1);
    g.output("y", gather(g.constant(table, {4, 4}), index, 0) * 2.0F);
    CompileOptions options;
    options.splits = {{"N", {1}}};
    options.input_devices = {{"index", Device::cuda()}};
    options.output_devices = {{"y", Device::cuda()}};
    CompiledGraph compiled = compile(g, *context, options);
    const HostsArray<std::int32_t> indices(*stream, {0, 9, 3, 2});
    const auto submit = [&](std::int64_t first, std::int64_t rows) {
        compiled.set("index", indices.data() + first, {rows});
        compiled.run(in(*stream));
    };
    submit(1, 1);
    submit(0, 1);
    EXPECT_THAT(message([&] { submit(2, 2); }), HasSubstr("\"index\"[0] is 9"));
    submit(2, 2);
    submit(1, 2);
    submit(2, 2);
    EXPECT_THAT(message([&] { submit(0, 1); }), HasSubstr("\"index\"[0] is 9"));
    submit(0, 1);
    compiled.wait();
    EXPECT_EQ(compiled.output("y").shape[0], 1);
}

TEST_P(AsynchronousRuns, AFailureMakesStatesInvalidThatARunOverwrites) {
    Graph g("overwriting");
    State last = g.state("last", DType::f32, {4});
    std::vector<float> table(16, 1);
    const Tensor row = gather(g.constant(table, {4, 4}), g.input("index", DType::i32, {1}), 0);
    g.output("y", last.assign(last.read() + reshape(row, {4})));
    CompiledGraph compiled =
        compile(g, *context, {.input_devices = {{"index", Device::cuda()}}, .output_devices = {{"y", Device::cuda()}}});
    const HostsArray<std::int32_t> right(*stream, {3}), wrong(*stream, {4});
    for (const auto* index : {&right, &wrong}) {
        compiled.set("index", index->data(), {1});
        compiled.run(in(*stream));
    }
    EXPECT_THAT(message([&] { compiled.wait(); }), HasSubstr("out of range"));
    EXPECT_THAT(message([&] { compiled.run(in(*stream)); }), HasSubstr("overwritten parts of state \"last\""));
    compiled.reset_states();
    compiled.set("index", right.data(), {1});
    compiled.run(in(*stream));
    EXPECT_THAT(compiled.state("last").as<float>(), ElementsAre(1, 1, 1, 1));
}

TEST_P(AsynchronousRuns, AViewIsReleasedWhenTheRunsThatReadItAreComplete) {
    CompiledGraph compiled = compile(stepper(), *context, on_the_device());
    const HostsArray<std::int32_t> index(*stream, {2});
    struct Released {
        const TestDevice& device;
        std::int64_t at = -1;
    } released{device};
    InputView view;
    view.data = index.data();
    view.dtype = DType::i32;
    view.shape = {1};
    view.device = Device::cuda();
    view.owner = &released;
    view.release = [](void* owner) {
        auto& noted = *static_cast<Released*>(owner);
        noted.at = noted.device.launches();
    };
    compiled.set("index", view);
    const std::int64_t before = device.launches();
    compiled.run(in(*stream));
    EXPECT_EQ(released.at, -1);
    compiled.set("index", index.data(), {1});
    EXPECT_GT(released.at, before) << "its kernels have run";
    compiled.run(in(*stream, true));
    EXPECT_THAT(compiled.state("rows").as<float>(), ElementsAre(8, 9, 10, 11, 8, 9, 10, 11));
}

TEST_P(AsynchronousRuns, EndWithTheObject) {
    {
        CompiledGraph compiled = compile(stepper(), *context, on_the_device());
        const HostsArray<std::int32_t> index(*stream, {2});
        compiled.set("index", index.data(), {1});
        compiled.run(in(*stream));
        CompiledGraph moved = std::move(compiled);
        moved.run({.wait = false});
        moved = compile(stepper(), *context);
    }
    EXPECT_THAT(device.faults(), testing::Not(testing::Contains(HasSubstr("in flight"))));
}

TEST_P(AsynchronousRuns, AProgramOfTheCpuIsComplete) {
    CompiledGraph compiled = compile(stepper(), Context());
    compiled.set("index", {std::int32_t{1}}, {1});
    compiled.run({.wait = false});
    EXPECT_THAT(compiled.output("sum").as<float>(), ElementsAre(4, 5, 6, 7));
    compiled.wait();
}

TEST_P(AsynchronousRuns, ForeignStreamsAreRefused) {
    CompiledGraph compiled = compile(stepper(), *context);
    compiled.set("index", {std::int32_t{1}}, {1});
    RunOptions options = in(*stream);
    options.stream->device = Device::cuda(1);
    EXPECT_THAT(message([&] { compiled.run(options); }), HasSubstr("one of cuda:1, which is no GPU of this Context"));
    options.stream->device = Device::cpu;
    EXPECT_THAT(message([&] { compiled.run(options); }), HasSubstr("one of cpu, which is no GPU"));
    stream->call(&DriverTable::capture_begin, stream->handle(), device::cuda::CaptureMode::relaxed);
    EXPECT_THAT(message([&] { compiled.run(in(*stream)); }), HasSubstr("captured into a graph"));
    device::cuda::GraphHandle graph = nullptr;
    stream->call(&DriverTable::capture_end, stream->handle(), &graph);
    stream->call(&DriverTable::graph_destroy, graph);
    compiled.run(in(*stream));
    EXPECT_THAT(compiled.output("sum").as<float>(), ElementsAre(4, 5, 6, 7));
}

}  // namespace
}  // namespace cairn::test
