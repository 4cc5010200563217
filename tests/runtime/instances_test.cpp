#include "cairn/cairn.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <thread>

namespace cairn {
namespace {

/// Adds each row to a running total: the output depends on all rows since the last rewind.
Graph running_total() {
    Graph g("total");
    const Dim past = g.symbol("P", 0, 63), t = g.symbol("T", 1, 8);
    State rows = g.state("rows", DType::f32, {past, 4}, 0, 64);
    g.output("total", sum(rows.append(g.input("x", DType::f32, {t, 4})) * g.weight("scale", DType::f32, {4}), {0}));
    return g;
}

WeightSource scale() {
    static constexpr float values[] = {1, 2, 3, 4};
    return [](std::string_view) {
        InputView view;
        view.data = values;
        view.shape = {4};
        return view;
    };
}

TEST(Instances, HaveStatesOfTheirOwn) {
    CompiledGraph first = compile(running_total(), Context());
    first.bind(scale());
    CompiledGraph second = first.instance();
    const float x[] = {1, 1, 1, 1};
    for (int i = 0; i < 3; ++i) {
        first.set("x", x, {1, 4});
        first.run();
    }
    second.set("x", x, {1, 4});
    second.run();
    EXPECT_EQ(first.output("total").as<float>()[1], 6);
    EXPECT_EQ(second.output("total").as<float>()[1], 2);
    first.rewind("P", 1);
    first.run();
    EXPECT_EQ(first.output("total").as<float>()[1], 4);
}

TEST(Instances, AStateThatIsFullSaysSo) {
    CompiledGraph model = compile(running_total(), Context());
    model.bind(scale());
    const std::vector<float> x(32, 1);
    for (int i = 0; i < 8; ++i) {
        model.set("x", x.data(), {8, 4});
        model.run();
    }
    try {
        model.run();
        FAIL() << "expected an Error";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "[run] state \"rows\" is full: it would hold 72 rows, its capacity is 64");
    }
    EXPECT_THROW(model.set("P", 3), Error);
    model.rewind("P", 0);
    model.run();
    EXPECT_EQ(model.output("total").as<float>()[0], 8);
}

/// Eight threads share four instances, each guarded by its own lock; the pool is shared by all.
TEST(Instances, RunFromManyThreads) {
    for (const int threads : {1, 2}) {
        CompiledGraph model = compile(running_total(), Context({.threads = threads}));
        model.bind(scale());
        std::vector<CompiledGraph> instances;
        for (int i = 0; i < 4; ++i) instances.push_back(model.instance());
        std::array<std::mutex, 4> locks;
        std::atomic<int> wrong{0};
        std::vector<std::thread> workers;
        for (int w = 0; w < 8; ++w)
            workers.emplace_back([&, w] {
                for (int i = 0; i < 50; ++i) {
                    const auto which = static_cast<std::size_t>((w + i) % 4);
                    const std::scoped_lock lock(locks[which]);
                    CompiledGraph& instance = instances[which];
                    const auto value = static_cast<float>(w + 1);
                    const std::vector<float> x(static_cast<std::size_t>(4 * (1 + i % 8)), value);
                    instance.rewind("P", 0);
                    instance.set("x", x.data(), {1 + i % 8, 4});
                    instance.run();
                    for (std::size_t k = 0; k < 4; ++k)
                        wrong += instance.output("total").as<float>()[k] !=
                                 value * static_cast<float>((k + 1) * static_cast<std::size_t>(1 + i % 8));
                }
            });
        for (std::thread& worker : workers) worker.join();
        EXPECT_EQ(wrong, 0);
    }
}

TEST(Instances, ASecondRunOfOneInstanceIsBusy) {
    CompiledGraph model = compile(running_total(), Context());
    model.bind(scale());
    const float x[] = {1, 1, 1, 1};
    model.set("x", x, {1, 4});
    bool busy = false;
    RunOptions options;
    options.progress = [&](const Progress&) {
        std::thread([&] {
            try {
                model.run();
            } catch (const Busy&) { busy = true; }
        }).join();
    };
    model.run(options);
    EXPECT_TRUE(busy);
    EXPECT_EQ(model.output("total").as<float>()[0], 1);
}

}  // namespace
}  // namespace cairn
