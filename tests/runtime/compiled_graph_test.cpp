#include "cairn/cairn.hpp"
#include "tests/errors/message.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

namespace cairn {
namespace {

using test::message;

/// y = softmax(x @ w + b), with any number of rows.
Graph dense_layer() {
    Graph g("dense");
    const Dim n = g.symbol("N", 1, 64);
    const Tensor x = g.input("x", DType::f32, {n, 8});
    g.output("y", softmax(linear(x, g.weight("w", DType::f32, {8, 4}), g.weight("b", DType::f32, {4}))));
    g.output("h", relu(x));
    return g;
}

struct Layer {
    std::vector<float> w, b;
    Layer() : w(32), b(4) {
        for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 7) * 0.25f - 0.5f;
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i) * 0.5f;
    }
    WeightSource source() const {
        return [this](std::string_view name) {
            InputView view;
            view.data = name == "w" ? w.data() : name == "b" ? b.data() : nullptr;
            view.shape = name == "w" ? std::vector<std::int64_t>{8, 4} : std::vector<std::int64_t>{4};
            return view;
        };
    }
    std::vector<float> expected(const std::vector<float>& x) const {
        std::vector<float> y;
        for (std::size_t row = 0; row < x.size() / 8; ++row) {
            double out[4], sum = 0;
            for (std::size_t j = 0; j < 4; ++j) {
                out[j] = static_cast<double>(b[j]);
                for (std::size_t k = 0; k < 8; ++k)
                    out[j] += static_cast<double>(x[row * 8 + k]) * static_cast<double>(w[k * 4 + j]);
                sum += out[j] = std::exp(out[j]);
            }
            for (const double value : out) y.push_back(static_cast<float>(value / sum));
        }
        return y;
    }
};

std::vector<float> rows(std::size_t count) {
    std::vector<float> x(count * 8);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 37) % 19) * 0.1f - 0.9f;
    return x;
}

void expect_near(std::span<const float> actual, const std::vector<float>& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 2e-6) << i;
}

TEST(CompiledGraph, RunsAtEachSizeInSequence) {
    const Layer layer;
    CompiledGraph model = compile(dense_layer(), Context({.threads = 2}),
                                  {
                                      .verify = true,
                                  });
    model.bind(layer.source());
    for (const std::size_t n : {1, 64, 3, 17, 2}) {
        const std::vector<float> x = rows(n);
        model.set("x", x.data(), {static_cast<std::int64_t>(n), 8});
        model.run();
        expect_near(model.output("y").as<float>(), layer.expected(x));
        EXPECT_EQ(model.output("y").shape[0], static_cast<std::int64_t>(n));
    }
}

TEST(CompiledGraph, WritesOutputsToTheCallersMemory) {
    const Layer layer;
    CompiledGraph model = compile(dense_layer(), Context());
    model.bind(layer.source());
    const std::vector<float> x = rows(5);
    std::vector<float> y(20, NAN), h(40, NAN);
    model.set("x", x.data(), {5, 8});
    model.set_output("y", y.data(), y.size() * sizeof(float));
    model.set_output("h", h.data(), h.size() * sizeof(float));
    model.run();
    expect_near(y, layer.expected(x));
    for (std::size_t i = 0; i < h.size(); ++i) EXPECT_EQ(h[i], std::max(x[i], 0.0f));
    model.set_output("y", y.data(), 79);
    EXPECT_EQ(message([&] { model.run(); }), "[run] output \"y\" needs 80 bytes, the memory given has 79");
    model.set_output("y", nullptr, 0);
    model.run();
    expect_near(model.output("y").as<float>(), layer.expected(x));
}

TEST(CompiledGraph, AcceptsStridedInputsAndReleasesThem) {
    const Layer layer;
    CompiledGraph model = compile(dense_layer(), Context());
    model.bind(layer.source());
    const std::vector<float> x = rows(2);
    std::vector<float> transposed(16);
    for (std::size_t r = 0; r < 2; ++r)
        for (std::size_t c = 0; c < 8; ++c) transposed[c * 2 + r] = x[r * 8 + c];
    int released = 0;
    InputView view;
    view.data = transposed.data();
    view.shape = {2, 8};
    view.strides = {1, 2};
    view.owner = &released;
    view.release = [](void* owner) { ++*static_cast<int*>(owner); };
    model.set("x", view);
    EXPECT_EQ(released, 1);  // it was copied
    model.run();
    expect_near(model.output("y").as<float>(), layer.expected(x));
    view.data = x.data();
    view.strides = {};
    model.set("x", view);
    EXPECT_EQ(released, 1);
    model.run();
    model.set("x", x.data(), {2, 8});
    EXPECT_EQ(released, 2);
}

TEST(CompiledGraph, WrongCallsGiveOneSentenceErrors) {
    const Layer layer;
    CompiledGraph model = compile(dense_layer(), Context());
    const std::vector<float> x = rows(2);
    EXPECT_EQ(message([&] { model.run(); }), "[run] the weights are not bound");
    EXPECT_EQ(message([&] { model.bind({}); }),
              "[bind] weight \"w\": there is no source of weights; weight \"b\": there is no source of weights");
    const WeightSource wrong = [&](std::string_view) {
        InputView view;
        view.data = x.data();
        view.shape = {4, 4};
        return view;
    };
    EXPECT_EQ(message([&] { model.bind(wrong); }),
              "[bind] weight \"w\": expected f32[8,4], got f32[4,4]; weight \"b\": expected f32[4], got f32[4,4]");
    model.bind(layer.source());
    EXPECT_EQ(message([&] { model.bind(layer.source()); }),
              "[bind] the weights are bound already; compile or load again for others");
    EXPECT_EQ(message([&] { model.run(); }), "[run] the size N is not set");
    EXPECT_EQ(message([&] { model.set("z", x.data(), {2, 8}); }), "[set] there is no input called \"z\"");
    EXPECT_EQ(message([&] { model.set("x", x.data(), {2, 7}); }), "[set] input \"x\" is f32[N,8], got 7 on axis 1");
    EXPECT_EQ(message([&] { model.set("x", x.data(), {16}); }), "[set] input \"x\" is f32[N,8], got 1 axes");
    EXPECT_EQ(message([&] { model.set("x", x.data(), {65, 8}); }), "[set] N = 65 is not in 1..64");
    EXPECT_EQ(message([&] { model.set("x", nullptr, {2, 8}); }), "[set] input \"x\" has no data");
    EXPECT_EQ(message([&] { model.set("M", 3); }), "[set] there is no input or symbol called \"M\"");
    model.set("N", 2);
    EXPECT_EQ(message([&] { model.run(); }), "[run] input \"x\" is not set");
    model.set("x", x.data(), {2, 8});
    EXPECT_EQ(message([&] { (void)model.output("y"); }), "[output] there was no successful run since the last change");
    model.set("N", 1);
    EXPECT_EQ(message([&] { model.run(); }), "[run] input \"x\" has size 2 on axis 0, expected N = 1");
    model.set("N", 2);
    model.run();
    EXPECT_EQ(message([&] { (void)model.output("q"); }), "[output] there is no output called \"q\"");
    EXPECT_EQ(message([&] { (void)model.output("y").as<double>(); }),
              "[output] its elements are f32, requested as f64");
    EXPECT_EQ(message([&] { model.rewind("N", 0); }), "[rewind] N is not the length of a state");
    expect_near(model.output("y").as<float>(), layer.expected(x));
}

/// The dtypes whose elements can be read as a C++ type.
template <typename T>
std::string shown_as(const CompiledGraph& model) {
    std::string shown;
    for (const char* name : {"f64", "f32", "f16", "bf16", "i64", "i32", "i8", "u8", "bool"})
        if (message([&] { (void)model.output(name).as<T>(); }) == "nothing was thrown")
            shown += std::string(" ") + name;
    return shown;
}

TEST(CompiledGraph, ResultsAreReadOnlyAsTheirOwnType) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {2});
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i8,
                              DType::u8, DType::boolean})
        g.output(to_string(dtype), dtype == DType::f32 ? x + 1 : cast(x, dtype));
    CompiledGraph model = compile(g, Context());
    model.set("x", {1.0F, 2.0F});
    model.run();
    EXPECT_EQ(shown_as<double>(model), " f64");
    EXPECT_EQ(shown_as<float>(model), " f32");
    EXPECT_EQ(shown_as<std::uint16_t>(model), " f16 bf16");
    EXPECT_EQ(shown_as<std::int64_t>(model), " i64");
    EXPECT_EQ(shown_as<std::int32_t>(model), " i32");
    EXPECT_EQ(shown_as<std::int8_t>(model), " i8");
    EXPECT_EQ(shown_as<std::uint8_t>(model), " u8");
    EXPECT_EQ(shown_as<bool>(model), " bool");
    EXPECT_EQ(message([&] { (void)model.output("u8").as<std::int8_t>(); }),
              "[output] its elements are u8, requested as i8");
    EXPECT_EQ(message([&] { (void)model.output("bool").as<std::uint16_t>(); }),
              "[output] its elements are bool, requested as f16 or bf16 (std::uint16_t)");
}

TEST(CompiledGraph, SavedProgramsLoadAndGiveEqualBits) {
    const Layer layer;
    const Context context;
    CompiledGraph model = compile(dense_layer(), context, {.splits = {{"N", {1, 8}}}});
    const std::filesystem::path path = std::filesystem::path(CAIRN_BINARY_DIR) / "dense.cairn";
    model.save(path);
    CompiledGraph loaded = CompiledGraph::load(path, context);
    EXPECT_EQ(loaded.program(), model.program());
    model.bind(layer.source());
    loaded.bind(layer.source());
    for (const std::size_t n : {1, 5, 33}) {
        const std::vector<float> x = rows(n);
        for (CompiledGraph* each : {&model, &loaded}) {
            each->set("x", x.data(), {static_cast<std::int64_t>(n), 8});
            each->run();
        }
        const auto a = model.output("y").as<float>(), b = loaded.output("y").as<float>();
        EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
    }
    EXPECT_EQ(message([&] { CompiledGraph::load(path, Context({.threads = 2})); }),
              "[program] it was planned for 1 threads, the context has 2");
}

TEST(CompiledGraph, DamagedFilesAreRefused) {
    const std::filesystem::path path = std::filesystem::path(CAIRN_BINARY_DIR) / "damaged.cairn";
    compile(dense_layer(), Context()).save(path);
    std::string text;
    {
        std::ifstream file(path);
        text.assign(std::istreambuf_iterator<char>(file), {});
    }
    for (std::size_t at = 0; at < text.size(); at += 97) {
        std::string damaged = text;
        damaged[at] = damaged[at] == '7' ? '8' : '7';
        std::ofstream(path) << damaged;
        EXPECT_THROW(CompiledGraph::load(path, Context()), Error) << "byte " << at;
        std::ofstream(path) << text.substr(0, at);
        EXPECT_THROW(CompiledGraph::load(path, Context()), Error) << "cut at " << at;
    }
    EXPECT_THROW(CompiledGraph::load("no/such/file", Context()), Error);
}

TEST(CompiledGraph, AStopRequestEndsARunAndKeepsTheGraphUsable) {
    const Layer layer;
    CompiledGraph model = compile(dense_layer(), Context({.threads = 2}));
    model.bind(layer.source());
    const std::vector<float> x = rows(4);
    model.set("x", x.data(), {4, 8});
    std::stop_source source;
    RunOptions options;
    options.stop = source.get_token();
    std::vector<std::int64_t> done;
    options.progress = [&](const Progress& progress) {
        done.push_back(progress.done);
        source.request_stop();
    };
    const auto instructions =
        static_cast<std::int64_t>(compile(dense_layer(), Context({.threads = 2})).program().size());
    EXPECT_GT(instructions, 0);
    try {
        model.run(options);
        // With a single instruction no step is left to stop before.
        EXPECT_EQ(done.size(), 1U);
    } catch (const Cancelled&) { EXPECT_LE(done.size(), 2U); }
    model.run();
    expect_near(model.output("y").as<float>(), layer.expected(x));
    EXPECT_THROW(model.run(options), Cancelled);
}

TEST(CompiledGraph, ProfileTimesEveryInstruction) {
    const Layer layer;
    CompiledGraph model = compile(dense_layer(), Context());
    model.bind(layer.source());
    const std::vector<float> x = rows(4);
    model.set("x", x.data(), {4, 8});
    model.run({.profile = true});
    const auto profile = model.profile();
    ASSERT_FALSE(profile.empty());
    for (const InstructionProfile& row : profile) {
        EXPECT_GT(row.seconds, 0) << row.kernel;
        EXPECT_GT(row.expected_seconds, 0) << row.kernel;
        EXPECT_FALSE(row.problem.empty());
        ASSERT_EQ(row.threads.size(), 1U);
    }
}

TEST(CompiledGraph, AProfileReportsTheBusyTimesOfEachThread) {
    Graph graph("wide");
    const Tensor x = graph.input("x", DType::f32, {512, 512});
    graph.output("y", exp(matmul(x, x)));                        // large enough to share
    graph.output("z", sqrt(graph.input("s", DType::f32, {4})));  // small: run by one thread
    CompiledGraph model = compile(graph, Context({.threads = 3}));
    const std::vector<float> values(512 * 512, 0.001f);
    model.set("x", values.data(), {512, 512});
    model.set("s", values.data(), {4});
    for (int run = 0; run < 3; ++run) {
        const auto begin = std::chrono::steady_clock::now();
        model.run({.profile = true});
        const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        std::vector<double> ends(3);
        bool is_shared = false, is_alone = false;
        for (const InstructionProfile& row : model.profile()) {
            ASSERT_EQ(row.threads.size(), 3U);
            int working = 0;
            for (std::size_t t = 0; t < 3; ++t) {
                const ThreadSpan& span = row.threads[t];
                if (span == ThreadSpan()) continue;
                ++working;
                EXPECT_GE(span.begin, ends[t]) << "one behind the other";
                EXPECT_GE(span.end, span.begin);
                ends[t] = span.end;
            }
            EXPECT_GE(row.threads[0].end, row.threads[0].begin);
            is_shared = is_shared || working == 3;
            is_alone = is_alone || working == 1;
        }
        for (const double end : ends) EXPECT_LE(end, took);
        EXPECT_TRUE(is_shared);
        EXPECT_TRUE(is_alone);
    }
}

TEST(CompiledGraph, ARunThatFailedLeavesNoProfile) {
    const Layer layer;
    CompiledGraph model = compile(dense_layer(), Context());
    model.bind(layer.source());
    const std::vector<float> x = rows(4);
    model.set("x", x.data(), {4, 8});
    model.run({.profile = true});
    RunOptions options;
    options.profile = true;
    options.progress = [](const Progress&) { throw std::runtime_error("enough"); };
    EXPECT_THROW(model.run(options), std::runtime_error);
    EXPECT_TRUE(model.profile().empty());
    model.run();
    for (const InstructionProfile& row : model.profile()) EXPECT_EQ(row.seconds, 0);
}

TEST(CompiledGraph, AnIndexOutOfRangeFailsOnlyTheRun) {
    Graph g;
    const Tensor table = g.input("table", DType::f32, {4, 2});
    g.output("y", gather(table, g.input("ids", DType::i32, {3})));
    CompiledGraph model = compile(g, Context({.threads = 2}));
    const float data[] = {0, 1, 2, 3, 4, 5, 6, 7};
    std::int32_t ids[] = {0, 4, 1};
    model.set("table", data, {4, 2});
    model.set("ids", ids, {3});
    const std::string text = message([&] { model.run(); });
    EXPECT_NE(text.find("out of range of the indexed axis"), std::string::npos) << text;
    ids[1] = 3;
    model.run();
    EXPECT_EQ(model.output("y").as<float>()[2], 6);
}

TEST(CompiledGraph, EqualThreadsGiveEqualBits) {
    const Layer layer;
    for (const int threads : {1, 2, 3}) {
        CompiledGraph model = compile(dense_layer(), Context({.threads = threads}));
        model.bind(layer.source());
        const std::vector<float> x = rows(33);
        model.set("x", x.data(), {33, 8});
        model.run();
        const auto first = model.output("y").as<float>();
        const std::vector<float> once(first.begin(), first.end());
        for (int i = 0; i < 100; ++i) {
            model.run();
            const auto again = model.output("y").as<float>();
            ASSERT_TRUE(std::equal(once.begin(), once.end(), again.begin(), again.end()));
        }
    }
}

}  // namespace
}  // namespace cairn
