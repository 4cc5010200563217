#include "cairn/cairn.hpp"
#include "cairn/models/gpt2.hpp"
#include "cairn/paths.hpp"
#include "selection/cost/cost.hpp"
#include "tests/autotune/measurement/second_device.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/graph/ir/random_graph.hpp"
#include "tests/graph/ir/reference_results.hpp"
#include "tests/rewrite/alternatives/random_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>

// Programs on the CPU and a second device with its own kernels.
namespace cairn::test {
namespace {

struct Used {
    int cpu = 0, device = 0, copies = 0;
};

Used used_by(const runtime::ProgramSet& set) {
    Used used;
    for (const runtime::BucketProgram& bucket : set.buckets)
        for (const auto* section : {&bucket.program.bind, &bucket.program.run})
            for (const program::Instruction& instruction : *section) {
                const bool is_copy = instruction.problem->definition == "copy_to";
                const bool is_on_device = instruction.kernel.starts_with("cuda.");
                ++(is_copy ? used.copies : is_on_device ? used.device : used.cpu);
            }
    return used;
}

runtime::ProgramSet compiled(const Graph& graph, const Context& context, const CompileOptions& options = {}) {
    return runtime::parse_program_set(compile(graph, context, options).program());
}

/// Rates for which the CPU, the device or both are the fastest choice.
DeviceRates random_rates(std::mt19937_64& random) {
    const auto power = [&](double low, double high) {
        return std::pow(10, std::uniform_real_distribution<>(low, high)(random));
    };
    return {Device::cuda(), power(8, 13), power(8, 13), power(-9, -7), power(8, 13), power(-9, -7)};
}

/// Runs and compares the programs of compile() and of some other paths; returns how many of them use both devices.
/// Every other graph has inputs and outputs in the memory of either device.
int check_mixed(const Graph& graph, const Context& context, std::uint64_t seed) {
    CompileOptions options;
    options.verify = true;
    if (seed % 2 == 1) options = with_random_ports(graph, Device::cuda(), seed, options);
    std::vector<runtime::ProgramSet> programs{compiled(graph, context, options)};
    const Paths all_paths = paths(graph, context, options);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 6; ++i)
        programs.push_back(runtime::parse_program_set(all_paths.sample(random).compile().program()));
    int mixed = 0;
    for (const auto& sizes : random_sizes(*graph.data(), 2, seed)) {
        interpreter::Inputs inputs = random_inputs(*graph.data(), sizes, seed + 17);
        const ReferenceResults expected = reference_results(*graph.data(), inputs);
        for (const runtime::ProgramSet& set : programs) {
            CompiledRun run(set, context, inputs);
            std::vector<std::string> overrun;
            EXPECT_EQ(difference(run.run(inputs), expected), "")
                << "seed " << seed << '\n'
                << to_string(graph) << program::to_string(set.buckets[0].program);
            if (&set != &programs.front()) continue;
            EXPECT_EQ(difference(run.run_in_callers_memory(inputs, overrun), expected), "")
                << "seed " << seed << ", in memory of the caller\n"
                << to_string(graph) << program::to_string(set.buckets[0].program);
            EXPECT_TRUE(overrun.empty()) << "seed " << seed;
        }
    }
    for (const runtime::ProgramSet& set : programs) {
        const Used used = used_by(set);
        mixed += used.cpu > 0 && used.device > 0 ? 1 : 0;
    }
    return mixed;
}

int check_mixed(Graph (*graph_of)(std::uint64_t), std::uint64_t begin, std::uint64_t end) {
    int mixed = 0;
    std::mt19937_64 random(begin);
    std::optional<Context> context;
    for (std::uint64_t seed = begin; seed < end && !testing::Test::HasFailure(); ++seed) {
        if (seed % 15 == 0) context.emplace(with_second_device(random_rates(random)));
        const Graph graph = graph_of(seed);
        try {
            mixed += check_mixed(graph, *context, seed);
        } catch (const Error& error) {
            ADD_FAILURE() << "seed " << seed << ": " << error.what() << '\n' << to_string(graph);
        }
    }
    return mixed;
}

TEST(DevicesReference, RandomGraphsGiveEqualResultsOnAllDevices) {
    EXPECT_GT(check_mixed([](std::uint64_t seed) { return random_graph(seed, {.devices = seed % 2 == 0}); }, 0, 250),
              500);
}

TEST(DevicesReference, RandomModelsGiveEqualResultsOnAllDevices) {
    EXPECT_GT(check_mixed([](std::uint64_t seed) { return random_model(seed); }, 0, 20), 40);
}

/// Operation count of each op, as stated by the kernels of both devices.
std::map<std::string, double, std::less<>> operations;

Cost stated_cost(const Problem& problem) {
    const auto it = operations.find(problem.definition);
    return {it == operations.end() ? 0 : it->second, 0, 1};
}

// A chain of ops, each faster on one device, with copies of any cost: as fast as the best of all 2^n placements.
TEST(Devices, AChainRunsOnTheDevicesOfTheLowestCost) {
    using Op = Tensor (*)(const Operand&);
    const std::vector<std::pair<std::string, Op>> ops{{"exp", exp}, {"sin", sin},   {"cos", cos}, {"tanh", tanh},
                                                      {"abs", abs}, {"sqrt", sqrt}, {"log", log}};
    std::mt19937_64 random(7);
    const auto between = [&](double low, double high) { return std::uniform_real_distribution<>(low, high)(random); };
    const double cpu_rate = selection::nominal_machine(levels::baseline, 1).flops, call = 3e-8;
    std::set<int> kinds;
    for (int trial = 0; trial < 60; ++trial) {
        const DeviceRates rates{Device::cuda(), cpu_rate * between(0.5, 8),     1e12, between(0, 2e-5),
                                1e18,           std::pow(10, between(-8, -4.5))};
        ContextOptions options;
        options.reference_only = true;
        options.features = levels::baseline;
        options.extra = second_device(rates, stated_cost);
        for (const Kernel& kernel : second_device(rates, stated_cost).kernels) {
            Kernel& here = options.extra.kernels.emplace_back(kernel);
            here.id = "test" + kernel.id.substr(kernel.id.find('.'));
            here.device = Device::cpu;
        }
        for (const auto& [name, op] : ops) operations[name] = between(1e5, 2e6);
        Graph graph("chain");
        Tensor x = graph.input("x", DType::f32, {4'000'000});  // reference kernels without a stated cost take longer
        std::vector<std::string> names;
        for (int i = 0; i < 10; ++i) {
            const auto& [name, op] = ops[random() % ops.size()];
            if (!names.empty() && names.back() == name) continue;
            names.push_back(name);
            x = op(x);
        }
        graph.output("y", x);
        double best = std::numeric_limits<double>::infinity();
        for (unsigned assignment = 0; assignment < 1U << names.size(); ++assignment) {
            double seconds = 0;
            bool before = false;
            for (std::size_t i = 0; i <= names.size(); ++i) {
                const bool on_device = i < names.size() && (assignment >> i & 1U) != 0;
                if (on_device != before) seconds += rates.link_seconds;
                before = on_device;
                if (i < names.size())
                    seconds += on_device ? rates.launch_seconds + operations[names[i]] / rates.flops
                                         : call + operations[names[i]] / cpu_rate;
            }
            best = std::min(best, seconds);
        }
        const runtime::ProgramSet set =
            compiled(graph, Context(options), {.disable = {"simplify", "fuse", "elementwise", "expand"}});
        double seconds = 0;
        for (const program::Instruction& instruction : set.buckets[0].program.run) seconds += instruction.seconds;
        EXPECT_NEAR(seconds, best, 1e-9 * best) << trial;
        const Used used = used_by(set);
        kinds.insert((used.cpu > 0 ? 1 : 0) + (used.device > 0 ? 2 : 0));
    }
    EXPECT_EQ(kinds, (std::set<int>{1, 2, 3})) << "all here, all there, some here and some there";
}

/// The numbers in "cost C, at least L with free transfers".
std::pair<double, double> cost_and_low(const Graph& graph, const Context& context) {
    const auto folder = std::filesystem::path(CAIRN_BINARY_DIR) / "devices_test_stages";
    std::filesystem::remove_all(folder);
    compile(graph, context, {.dump_stages = folder});
    std::pair<double, double> found{-1, -1};
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        std::ifstream file(entry.path());
        for (std::string line; std::getline(file, line);)
            if (line.starts_with("cost "))
                std::sscanf(line.c_str(), "cost %lf, at least %lf", &found.first, &found.second);
    }
    return found;
}

TEST(Devices, NoAdditionalCopyBeatsTheReportedLowerBound) {
    int apart = 0, met = 0;
    std::mt19937_64 random(3);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const Context context = with_second_device(random_rates(random));
        const auto [cost, low] = cost_and_low(random_model(seed), context);
        if (low < 0) continue;  // the search was truncated, so no bound is printed
        EXPECT_GE(cost, low * (1 - 1e-3)) << seed << ": four digits are printed";
        (low < 0.99 * cost ? apart : met) += 1;
    }
    EXPECT_GT(apart, 5);
    EXPECT_GT(met, 1);
}

DeviceRates quick() { return {Device::cuda(), 1e15, 1e14, 1e-9, 1e13, 1e-9}; }

TEST(Devices, AStateIsOnOneDeviceInAllBuckets) {
    models::Gpt2Config config;
    config.vocabulary = 512, config.positions = 64, config.width = 64, config.heads = 4, config.layers = 3,
    config.inner = 256;
    const Graph graph = models::gpt2_graph(config, models::gpt2_weights(config), {.logits = models::Logits::last});
    for (const double speed : {1e-6, 1.0}) {
        DeviceRates rates = quick();
        rates.flops *= speed, rates.bandwidth *= speed;
        const runtime::ProgramSet set =
            compiled(graph, with_second_device(rates), {.splits = {{"T", {1, 12}}}, .verify = true});
        std::set<Device> of_states;
        for (const runtime::BucketProgram& bucket : set.buckets)
            for (const program::Buffer& buffer : bucket.program.buffers)
                if (buffer.kind == program::BufferKind::state) of_states.insert(buffer.device);
        EXPECT_EQ(of_states, std::set<Device>{speed < 1 ? Device::cpu : Device::cuda()});
    }
}

TEST(Devices, ACopyToPinsAValue) {
    Graph graph("g");
    const Tensor x = graph.input("x", DType::f32, {64});
    graph.output("y", exp(copy_to(sin(x), Device::cuda())));
    DeviceRates slow = quick();
    slow.flops = slow.bandwidth = slow.link_bandwidth = 1e6;
    const runtime::ProgramSet set = compiled(graph, with_second_device(slow), {.verify = true});
    std::vector<Device> written;
    for (const program::Instruction& instruction : set.buckets[0].program.run)
        written.push_back(
            set.buckets[0].program.buffers[static_cast<std::size_t>(instruction.outputs[0].buffer)].device);
    EXPECT_EQ(written, (std::vector{Device::cpu, Device::cuda(), Device::cpu, Device::cpu}))
        << "sin, to the device, back, exp";
    EXPECT_THROW(compile(graph, Context()), Error);
}

// Rows of a state have the strides of its capacity, and a link copies bytes that follow one another.
TEST(Devices, APinnedCopyOfAStateThatIsNotContiguousIsCopiedDensely) {
    for (const Device pin : {Device::cpu, Device::cuda()}) {
        Graph graph("g");
        const Dim c = graph.symbol("C", 1, 5), p = graph.symbol("P", 0, 3);
        const State of_rows = graph.state("rows", DType::f32, {p, 2, c}, 0, 8);
        const State of_columns = graph.state("columns", DType::f32, {2, p}, 1, 8);
        graph.output("y", exp(copy_to(of_rows.read(), pin)));
        graph.output("z", exp(copy_to(of_columns.read(), pin)));
        check_mixed(graph, with_second_device(quick()), 1);
    }
}

TEST(Devices, APinnedCopyOfABoundValueIsReadOnTheCpu) {
    Graph graph("g");
    const Tensor pinned = copy_to(sin(graph.weight("w", DType::f32, {4})), Device::cuda());
    graph.output("pinned", pinned);
    graph.output("y", graph.input("x", DType::f32, {4}) + exp(pinned));
    check_mixed(graph, with_second_device(quick()), 1);
}

// The copied value is read as a view of memory on its own device, and has to be made dense there.
TEST(Devices, AViewOfAPinnedCopyIsComputed) {
    for (const Device states : {Device::cpu, Device::cuda()})
        for (const Device pin : {Device::cpu, Device::cuda()}) {
            Graph graph("g");
            const Dim c = graph.symbol("C", 2, 5), p = graph.symbol("P", 0, 3);
            State state = graph.state("s", DType::f32, {p}, 0, 8);
            const Tensor x = graph.input("x", DType::f32, {c});
            const Tensor all = state.append(x);
            const Tensor copied = copy_to(concat({all, x}, 0), pin);
            graph.output("y", slice(copied, 0, Dim(0), floordiv(p + 2 * c + 1, Dim(2)), 2));
            DeviceRates rates = quick();
            if (states == Device::cpu) rates.flops = rates.bandwidth = 1e6;
            check_mixed(graph, with_second_device(rates), 1);
        }
}

TEST(Devices, AProgramForTwoDevicesIsSavedAndLoaded) {
    Graph graph("g");
    const Tensor x = graph.input("x", DType::f32, {4, 64});
    graph.output("y", matmul(x, graph.weight("w", DType::f32, {64, 64})));
    const Context context = with_second_device(quick());
    const CompiledGraph fast = compile(graph, context);
    EXPECT_GT(used_by(runtime::parse_program_set(fast.program())).device, 0);
    const auto path = std::filesystem::path(CAIRN_BINARY_DIR) / "two_devices.cairn";
    fast.save(path);
    EXPECT_EQ(CompiledGraph::load(path, context).program(), fast.program());
    try {
        CompiledGraph::load(path, Context());
        FAIL() << "without the device";
    } catch (const Error& error) {
        EXPECT_NE(std::string_view(error.what()).find("device cuda"), std::string_view::npos) << error.what();
    }
}

TEST(Devices, AProfileAndAnExplanationNameTheDeviceOfEachInstruction) {
    Graph graph("g");
    graph.output("y", exp(copy_to(sin(graph.input("x", DType::f32, {64})), Device::cuda())));
    DeviceRates slow = quick();
    slow.flops = slow.bandwidth = slow.link_bandwidth = 1e6;
    CompiledGraph mixed = compile(graph, with_second_device(slow));
    const std::vector<float> x(64, 1);
    mixed.set("x", x.data(), {64});
    mixed.run({.profile = true});
    std::vector<Device> devices;
    double end = 0;
    for (const InstructionProfile& each : mixed.profile()) {
        devices.push_back(each.device);
        ASSERT_EQ(each.threads.size(), 1U) << each.kernel;
        EXPECT_GE(each.threads[0].begin, end) << "all are on one time axis";
        end = each.threads[0].end;
    }
    // sin, to the device, back, exp
    EXPECT_EQ(devices, (std::vector{Device::cpu, Device::cuda(), Device::cuda(), Device::cpu}));
    const Explanation why = mixed.explain();
    std::vector<Device> explained;
    for (const ExplainedInstruction& each : why.buckets[0].instructions) explained.push_back(each.device);
    EXPECT_EQ(explained, devices);
    EXPECT_NE(details(why).find(" on cuda "), std::string::npos) << details(why);
    EXPECT_NE(to_string(why).find(" on cuda"), std::string::npos) << to_string(why);
}

TEST(Devices, RefuseInvalidRates) {
    const auto fault = [](const DeviceRates& rates) -> std::string {
        try {
            with_second_device(rates);
        } catch (const Error& error) { return error.what(); }
        return {};
    };
    DeviceRates rates = quick();
    EXPECT_EQ(fault(rates), "");
    rates.link_bandwidth = 0;
    EXPECT_EQ(fault(rates), "[context] a rate of device cuda is 0: it must be above 0");
    rates = quick(), rates.launch_seconds = -1;
    EXPECT_EQ(fault(rates), "[context] a time of device cuda is -1: it must not be below 0");
    rates = quick(), rates.cache_bandwidth = -2;
    EXPECT_EQ(fault(rates), "[context] a rate of device cuda is -2: it must not be below 0");
    rates = quick(), rates.arithmetic_flops[static_cast<std::size_t>(Arithmetic::bf16)] = -2;
    EXPECT_EQ(fault(rates), "[context] a rate of device cuda is -2: it must not be below 0");
    rates = quick(), rates.device = Device::cpu;
    EXPECT_EQ(fault(rates), "[context] the rates of the CPU are measured and cannot be given");
}

}  // namespace
}  // namespace cairn::test
