#include "cairn/cairn.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(Instances, AFullStateIsAnError) {
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

/// What bind() of one thread ended with: empty, or the message.
std::string bind_outcome(CompiledGraph& model, const WeightSource& source) {
    try {
        model.bind(source);
        return {};
    } catch (const Error& error) { return error.what(); }
}

// The weights depend on the binder, so that a mixture of two binds would show.
TEST(Instances, OneOfManyBinds) {
    for (int round = 0; round < 20; ++round) {
        CompiledGraph model = compile(running_total(), Context());
        std::vector<CompiledGraph> instances;
        for (int i = 0; i < 4; ++i) instances.push_back(model.instance());
        std::array<std::array<float, 4>, 4> scales;
        std::array<std::string, 4> outcomes;
        std::array<float, 4> totals{};
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                scales[t].fill(static_cast<float>(t + 1));
                outcomes[t] = bind_outcome(instances[t], [&](std::string_view) {
                    InputView view;
                    view.data = scales[t].data();
                    view.shape = {4};
                    return view;
                });
                const float x[] = {1, 1, 1, 1};
                instances[t].set("x", x, {1, 4});
                instances[t].run();
                totals[t] = instances[t].output("total").as<float>()[3];
            });
        for (std::thread& thread : threads) thread.join();
        const auto bound = std::find(outcomes.begin(), outcomes.end(), "") - outcomes.begin();
        ASSERT_LT(bound, 4);
        for (std::size_t t = 0; t < 4; ++t) {
            EXPECT_EQ(totals[t], static_cast<float>(bound + 1));
            if (static_cast<std::ptrdiff_t>(t) != bound) {
                EXPECT_EQ(outcomes[t], "[bind] the weights are bound already; compile or load again for others");
            }
        }
    }
}

TEST(Instances, ABindThatFailsLetsTheNextOneTry) {
    CompiledGraph model = compile(running_total(), Context());
    CompiledGraph other = model.instance();
    std::string inner, waiting;
    std::thread second;
    const std::string first = bind_outcome(model, [&](std::string_view) -> InputView {
        inner = bind_outcome(model, scale());
        second = std::thread([&] { waiting = bind_outcome(other, scale()); });
        throw Error(ErrorKind::file, "no disk");
    });
    second.join();
    EXPECT_EQ(first, "[bind] weight \"scale\": no disk");
    EXPECT_EQ(inner, "[bind] called from inside a bind of the same graph");
    EXPECT_EQ(waiting, "");
    const float x[] = {1, 1, 1, 1};
    model.set("x", x, {1, 4});
    model.run();
    EXPECT_EQ(model.output("total").as<float>()[3], 4);
}

TEST(Instances, AWaitingBindCanBeStopped) {
    CompiledGraph model = compile(running_total(), Context());
    CompiledGraph other = model.instance();
    bool cancelled = false;
    model.bind([&](std::string_view name) {
        std::stop_source stop;
        std::thread second([&] {
            try {
                other.bind(scale(), {}, stop.get_token());
            } catch (const Cancelled&) { cancelled = true; }
        });
        stop.request_stop();
        second.join();
        return scale()(name);
    });
    EXPECT_TRUE(cancelled);
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
