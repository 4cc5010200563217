#include "cairn/cairn.hpp"
#include "runtime/compiled_graph.hpp"
#include "tests/errors/message.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <functional>

namespace cairn {
namespace {

using test::message;

std::vector<float> values(const OutputView& view) {
    const auto elements = view.as<float>();
    return {elements.begin(), elements.end()};
}

std::vector<std::int64_t> shape(const OutputView& view) { return {view.shape.begin(), view.shape.end()}; }

std::filesystem::path file_of(std::string_view name) {
    return std::filesystem::path(CAIRN_BINARY_DIR) / (std::string(name) + ".safetensors");
}

/// h = h + x, and how often it was done: states of fixed size.
Graph counter() {
    Graph g("counter");
    State h = g.state("h", DType::f32, {2, 2}), steps = g.state("steps", DType::i64, {});
    g.output("h", h.assign(h.read() + g.input("x", DType::f32, {2, 2})));
    g.output("steps", steps.assign(steps.read() + 1));
    return g;
}

/// Two caches of one length, one growing along its last axis.
Graph caches() {
    Graph g("caches");
    const Dim past = g.symbol("P", 0, 7), t = g.symbol("T", 1, 4), batch = g.symbol("B", 1, 2);
    State keys = g.state("keys", DType::f32, {batch, past}, 1, 8), rows = g.state("rows", DType::f32, {past, 2}, 0, 8);
    g.output("keys", keys.append(g.input("k", DType::f32, {batch, t})));
    g.output("rows", rows.append(g.input("r", DType::f32, {t, 2})));
    return g;
}

void step(CompiledGraph& model, std::vector<float> k, std::vector<float> r, std::int64_t batch = 2) {
    const auto t = static_cast<std::int64_t>(r.size() / 2);
    model.set("k", k.data(), {batch, t});
    model.set("r", r.data(), {t, 2});
    model.run();
}

CompiledGraph filled_caches(const Context& context) {
    CompiledGraph model = compile(caches(), context, {.verify = true});
    step(model, {1, 2, 3, 4}, {5, 6, 7, 8});
    step(model, {10, 20}, {50, 60});
    return model;
}

TEST(States, OfFixedSizeBeginAtZeroAndKeepTheirContentsBetweenRuns) {
    CompiledGraph model = compile(counter(), Context(), {.verify = true});
    EXPECT_EQ(values(model.state("h")), (std::vector<float>{0, 0, 0, 0}));
    const float x[] = {1, 2, 3, 4};
    model.set("x", x, {2, 2});
    model.run();
    model.run();
    EXPECT_EQ(values(model.output("h")), (std::vector<float>{2, 4, 6, 8}));
    EXPECT_EQ(values(model.state("h")), (std::vector<float>{2, 4, 6, 8}));
    EXPECT_EQ(shape(model.state("h")), (std::vector<std::int64_t>{2, 2}));
    EXPECT_EQ(model.state("steps").as<std::int64_t>()[0], 2);
    EXPECT_EQ(shape(model.state("steps")), std::vector<std::int64_t>{});
    CompiledGraph second = model.instance();
    EXPECT_EQ(values(second.state("h")), (std::vector<float>{0, 0, 0, 0}));
    model.reset_states();
    EXPECT_EQ(values(model.state("h")), (std::vector<float>{0, 0, 0, 0}));
    EXPECT_EQ(model.state("steps").as<std::int64_t>()[0], 0);
}

/// h = 2 h + x and a step counter with initial contents, and an f16 table that no run changes.
Graph begun() {
    Graph g("begun");
    const Dim n = g.symbol("N", 1, 8);
    State h = g.state("h", DType::f32, {2}, std::array{1.0F, -3.0F});
    State step = g.state("step", DType::i64, {}, {std::int64_t{9007199254740993}});
    State table = g.state("table", DType::f16, {2, 1}, {std::uint16_t{0x3c00}, std::uint16_t{0x7e00}});  // 1, NaN
    const Tensor x = g.input("x", DType::f32, {n, 2});
    g.output("h", h.assign(h.read() * 2.0f + sum(x, {0})));
    g.output("step", step.assign(step.read() + 1));
    g.output("table", table.read());
    return g;
}

void expect_begun(const CompiledGraph& model) {
    EXPECT_EQ(values(model.state("h")), (std::vector<float>{1, -3}));
    EXPECT_EQ(model.state("step").as<std::int64_t>()[0], 9007199254740993);
    const auto table = model.state("table").as<std::uint16_t>();
    EXPECT_EQ((std::vector<std::uint16_t>(table.begin(), table.end())), (std::vector<std::uint16_t>{0x3c00, 0x7e00}));
}

TEST(States, BeginWithTheirInitialValuesAndResetToThem) {
    for (const bool in_buckets : {false, true}) {
        CompileOptions options{.verify = true};
        if (in_buckets) options.splits = {{"N", {1, 4}}};
        CompiledGraph model = compile(begun(), Context(), options);
        expect_begun(model);
        model.set("x", {1.0F, 1.0F, 0.0F, 0.5F}, {2, 2});
        model.run();
        EXPECT_EQ(values(model.output("h")), (std::vector<float>{3, -4.5}));
        EXPECT_EQ(model.output("step").as<std::int64_t>()[0], 9007199254740994);
        model.set("x", {1.0F, 1.0F}, {1, 2});
        model.run();
        EXPECT_EQ(values(model.output("h")), (std::vector<float>{7, -8}));
        CompiledGraph second = model.instance();
        expect_begun(second);
        EXPECT_EQ(values(model.state("h")), (std::vector<float>{7, -8})) << "each instance has its own";
        model.set_state("h", std::vector<float>{5, 5});
        EXPECT_EQ(values(model.state("h")), (std::vector<float>{5, 5}));
        model.reset_states();
        expect_begun(model);
        model.run();
        EXPECT_EQ(values(model.output("h")), (std::vector<float>{3, -5}));
    }
}

TEST(States, OfASavedProgramBeginWithTheirInitialValues) {
    const Context context;
    const std::filesystem::path path = std::filesystem::path(CAIRN_BINARY_DIR) / "begun.cairn";
    CompiledGraph model = compile(begun(), context, {.splits = {{"N", {1}}}});
    model.set("x", {1.0F, 1.0F}, {1, 2});
    model.run();
    model.save(path);
    CompiledGraph loaded = CompiledGraph::load(path, context);
    expect_begun(loaded);
    EXPECT_EQ(loaded.program(), model.program());
    EXPECT_EQ(loaded.memory().constants, model.memory().constants);
    EXPECT_GE(loaded.memory().constants, 2 * (8 + 8 + 4)) << "what states begin with, in each of two programs";
    CompiledGraph parsed = compile(parse_graph(to_string(begun())), context);
    expect_begun(parsed);
    std::filesystem::remove(path);
}

TEST(States, ARecurrenceComputesItsStepsInOrder) {
    Graph g;
    State h = g.state("h", DType::f32, {1, 3});
    const Tensor x = g.input("x", DType::f32, {1, 3}), before = h.read();
    h.assign(tanh(x + before * 0.5f));
    g.output("sum", sum(before + h.latest()));
    CompiledGraph model = compile(g, Context({.threads = 2}), {.verify = true});
    std::vector<float> expected(3, 0);
    for (int run = 0; run < 5; ++run) {
        const float given[] = {0.1f * static_cast<float>(run), -0.5f, 1};
        model.set("x", given, {1, 3});
        model.run();
        float total = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            const float next = std::tanh(given[i] + expected[i] * 0.5f);
            total += expected[i] + next;
            expected[i] = next;
        }
        EXPECT_NEAR(model.output("sum").as<float>()[0], total, 1e-5) << run;
    }
}

TEST(States, TheLivePartIsReadDense) {
    CompiledGraph model = filled_caches(Context());
    EXPECT_EQ(shape(model.state("keys")), (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(values(model.state("keys")), (std::vector<float>{1, 2, 10, 3, 4, 20}));
    EXPECT_EQ(shape(model.state("rows")), (std::vector<std::int64_t>{3, 2}));
    EXPECT_EQ(values(model.state("rows")), (std::vector<float>{5, 6, 7, 8, 50, 60}));
    model.rewind("P", 1);
    EXPECT_EQ(values(model.state("keys")), (std::vector<float>{1, 3}));
    model.reset_states();
    EXPECT_EQ(shape(model.state("rows")), (std::vector<std::int64_t>{0, 2}));
    step(model, {1, 2}, {3, 4});
    EXPECT_EQ(values(model.output("rows")), (std::vector<float>{3, 4}));
}

TEST(States, CanBeSet) {
    CompiledGraph model = compile(counter(), Context());
    const float first[] = {1, 2, 3, 4};
    model.set_state("h", first, {2, 2});
    model.set_state("steps", std::vector<std::int64_t>{41});
    const float x[] = {1, 1, 1, 1};
    model.set("x", x, {2, 2});
    model.run();
    EXPECT_EQ(values(model.output("h")), (std::vector<float>{2, 3, 4, 5}));
    EXPECT_EQ(model.output("steps").as<std::int64_t>()[0], 42);
    InputView view;
    view.data = first;
    view.shape = {2, 2};
    int released = 0;
    view.owner = &released;
    view.release = [](void* owner) { ++*static_cast<int*>(owner); };
    model.set_state("h", view);
    EXPECT_EQ(released, 1);
    EXPECT_EQ(values(model.state("h")), (std::vector<float>{1, 2, 3, 4}));
}

TEST(States, OfOneLengthFollowTheOneThatIsSet) {
    CompiledGraph model = filled_caches(Context());
    model.rewind("P", 1);
    const float keys[] = {1, 2, 3, 4, 5, 6, 7, 8};
    model.set_state("keys", keys, {2, 4});
    EXPECT_EQ(values(model.state("keys")), (std::vector<float>(keys, keys + 8)));
    EXPECT_EQ(values(model.state("rows")), (std::vector<float>{5, 6, 0, 0, 0, 0, 0, 0}));
    model.set_state("rows", std::vector<float>{9, 8, 7, 6});
    EXPECT_EQ(values(model.state("rows")), (std::vector<float>{9, 8, 7, 6}));
    EXPECT_EQ(values(model.state("keys")), (std::vector<float>{1, 2, 5, 6}));
    step(model, {0, 0}, {1, 2});
    EXPECT_EQ(values(model.output("keys")), (std::vector<float>{1, 2, 0, 5, 6, 0}));
}

TEST(States, RefusedContentsChangeNothing) {
    CompiledGraph model = filled_caches(Context());
    const std::vector<float> some(32, 9);
    EXPECT_EQ(message([&] { (void)model.state("key"); }), "[state] there is no state called \"key\"");
    EXPECT_EQ(message([&] { model.set_state("key", some); }), "[set_state] there is no state called \"key\"");
    EXPECT_EQ(message([&] {
                  model.set_state("keys", some.data(), {2, 9});
              }),
              "[set_state] state \"keys\" is f32[B,P], got f32[2,9]: P = 9 is not in 0..8");
    EXPECT_EQ(message([&] {
                  model.set_state("keys", some.data(), {3, 2});
              }),
              "[set_state] state \"keys\" is f32[B,P], got f32[3,2]: B = 3 is not in 1..2");
    EXPECT_EQ(message([&] {
                  model.set_state("rows", some.data(), {2, 3});
              }),
              "[set_state] state \"rows\" is f32[P,2], got f32[2,3]");
    EXPECT_EQ(message([&] {
                  const std::vector<double> wide(4, 9);
                  model.set_state("rows", wide.data(), {2, 2});
              }),
              "[set_state] state \"rows\" is f32[P,2], got elements of f64");
    EXPECT_EQ(message([&] { model.set_state("rows", some.data(), {2}); }),
              "[set_state] state \"rows\" is f32[P,2], got f32[2]");
    EXPECT_EQ(message([&] {
                  model.set_state("rows", nullptr, {1, 2});
              }),
              "[set_state] state \"rows\" is given no data");
    EXPECT_EQ(message([&] { model.set_state("rows", std::vector<float>(5)); }),
              "[set_state] state \"rows\" is f32[P,2], got 5 elements");
    EXPECT_EQ(message([&] { model.set_state("rows", std::vector<double>(4)); }),
              "[set_state] state \"rows\" is f32[P,2], got elements of f64");
    InputView view;
    view.data = some.data();
    view.shape = {2, 2};
    view.strides = {1, 2};
    EXPECT_EQ(message([&] { model.set_state("rows", view); }),
              "[set_state] state \"rows\" is f32[P,2], got memory that is not dense");
    view.dtype = DType::i32;
    EXPECT_EQ(message([&] { model.set_state("rows", view); }), "[set_state] state \"rows\" is f32[P,2], got i32");
    EXPECT_EQ(values(model.state("keys")), (std::vector<float>{1, 2, 10, 3, 4, 20}));
    EXPECT_EQ(values(model.state("rows")), (std::vector<float>{5, 6, 7, 8, 50, 60}));
    EXPECT_EQ(message([&] { (void)compile(caches(), Context()).state("keys"); }),
              "[state] state \"keys\" is f32[B,P], and the size B is not set");
}

TEST(States, AcceptOnlyElementsOfTheirOwnType) {
    Graph g("types");
    for (const DType dtype : {DType::i8, DType::u8, DType::boolean, DType::f16, DType::bf16, DType::i32}) {
        State state = g.state(to_string(dtype), dtype, {2});
        g.output("y" + std::string(to_string(dtype)), state.assign(state.read()));
    }
    CompiledGraph model = compile(g, Context());
    const std::array<std::int8_t, 2> i8 = {1, -1};
    const std::array<std::uint8_t, 2> u8 = {1, 255};
    const std::array<bool, 2> flags = {true, false};
    const std::array<std::uint16_t, 2> halves = {0x3c00, 0};
    model.set_state("i8", i8);
    model.set_state("u8", std::span(u8));
    model.set_state("bool", flags);
    model.set_state("f16", halves);
    model.set_state("bf16", halves);
    EXPECT_EQ(model.state("i8").as<std::int8_t>()[1], -1);
    EXPECT_EQ(model.state("u8").as<std::uint8_t>()[1], 255);
    EXPECT_EQ(message([&] { model.set_state("i8", u8); }), "[set_state] state \"i8\" is i8[2], got elements of u8");
    EXPECT_EQ(message([&] { model.set_state("u8", i8); }), "[set_state] state \"u8\" is u8[2], got elements of i8");
    EXPECT_EQ(message([&] { model.set_state("bool", u8); }),
              "[set_state] state \"bool\" is bool[2], got elements of u8");
    EXPECT_EQ(message([&] { model.set_state("i32", std::vector<float>(2)); }),
              "[set_state] state \"i32\" is i32[2], got elements of f32");
    EXPECT_EQ(message([&] { model.set_state("i32", halves); }),
              "[set_state] state \"i32\" is i32[2], got elements of f16 or bf16 (std::uint16_t)");
}

TEST(States, AreSavedToAFileAndLoaded) {
    const Context context;
    CompiledGraph model = filled_caches(context);
    model.save_states(file_of("caches"));
    CompiledGraph later = compile(caches(), Context({.threads = 2}), {.splits = {{"T", {1}}}});
    later.load_states(file_of("caches"));
    EXPECT_EQ(values(later.state("keys")), (std::vector<float>{1, 2, 10, 3, 4, 20}));
    for (CompiledGraph* each : {&model, &later}) step(*each, {7, 8}, {9, 10});
    EXPECT_EQ(values(later.output("keys")), values(model.output("keys")));
    EXPECT_EQ(values(later.output("rows")), (std::vector<float>{5, 6, 7, 8, 50, 60, 9, 10}));

    const Safetensors file = Safetensors::open(file_of("caches"));
    EXPECT_EQ(file.view("keys").shape, (std::vector<std::int64_t>{2, 3}));

    CompiledGraph count = compile(counter(), context);
    const float x[] = {1, 2, 3, 4};
    count.set("x", x, {2, 2});
    count.run();
    count.save_states(file_of("counter"));
    count.run();
    count.load_states(file_of("counter"));
    EXPECT_EQ(values(count.state("h")), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(count.state("steps").as<std::int64_t>()[0], 1);
}

TEST(States, AnEmptyCacheIsSavedAndLoaded) {
    CompiledGraph model = compile(caches(), Context());
    model.set("B", 1);
    model.save_states(file_of("empty"));
    step(model, {1}, {2, 3}, 1);
    model.load_states(file_of("empty"));
    EXPECT_EQ(shape(model.state("keys")), (std::vector<std::int64_t>{1, 0}));
}

TEST(States, AFileOfOtherStatesIsRefusedAndChangesNothing) {
    CompiledGraph model = filled_caches(Context()), other = compile(counter(), Context());
    other.save_states(file_of("other"));
    const std::string path = file_of("other").string();
    EXPECT_EQ(
        message([&] { model.load_states(file_of("other")); }),
        "[load_states] " + path +
            ": there is no state \"keys\"; there is no state \"rows\"; the graph has no state \"h\"; the graph has "
            "no state \"steps\"");
    const float keys[] = {1, 2, 3, 4, 5, 6};
    const std::int32_t wrong[] = {1, 2, 3, 4};
    InputView three, two, integers;
    three.data = two.data = keys;
    integers.data = wrong;
    three.shape = {2, 3};
    two.shape = integers.shape = {2, 2};
    integers.dtype = DType::i32;
    write_safetensors(file_of("other"), {{"keys", three}, {"rows", two}});
    EXPECT_EQ(message([&] { model.load_states(file_of("other")); }),
              "[load_states] " + path + ": state \"rows\" is f32[P,2], got f32[2,2]: P is 3 in another state");
    write_safetensors(file_of("other"), {{"keys", two}, {"rows", integers}});
    EXPECT_EQ(message([&] { model.load_states(file_of("other")); }),
              "[load_states] " + path + ": state \"rows\" is f32[P,2], got i32");
    EXPECT_EQ(message([&] { model.load_states(file_of("none")); }).find("[safetensors] "), 0U);
    EXPECT_EQ(values(model.state("keys")), (std::vector<float>{1, 2, 10, 3, 4, 20}));
    EXPECT_EQ(values(model.state("rows")), (std::vector<float>{5, 6, 7, 8, 50, 60}));
}

/// y = h[i], and h becomes x before or after that: an index out of range fails the run.
Graph with_failure() {
    Graph g;
    State h = g.state("h", DType::f32, {2, 2}), seen = g.state("seen", DType::f32, {g.symbol("P", 0, 7), 2}, 0, 8);
    const Tensor x = g.input("x", DType::f32, {2, 2});
    const Tensor after = h.assign(x);
    seen.append(gather(after, g.input("i", DType::i32, {1}), 0));
    g.output("y", seen.latest());
    return g;
}

TEST(States, AFailedRunKeepsAppendedAndInvalidatesOverwrittenStates) {
    CompiledGraph model = compile(with_failure(), Context());
    const float x[] = {1, 2, 3, 4};
    std::int32_t i[] = {1};
    model.set("x", x, {2, 2});
    model.set("i", i, {1});
    model.run();
    i[0] = 2;
    const std::string failed = message([&] { model.run(); });
    EXPECT_NE(failed.find("out of range of the indexed axis"), std::string::npos) << failed;
    EXPECT_EQ(values(model.state("seen")), (std::vector<float>{3, 4}));
    i[0] = 0;
    EXPECT_EQ(message([&] { model.run(); }),
              "[run] a failed run has overwritten parts of state \"h\": set its contents again, or reset_states() "
              "first");
    EXPECT_EQ(message([&] { (void)model.state("h"); }),
              "[state] state \"h\" has been overwritten in part by a failed run");
    EXPECT_EQ(message([&] { model.save_states(file_of("failed")); }),
              "[save_states] state \"h\" has been overwritten in part by a failed run");
    model.set_state("h", x, {2, 2});
    model.run();
    EXPECT_EQ(values(model.output("y")), (std::vector<float>{3, 4, 1, 2}));
    i[0] = 2;
    EXPECT_THROW(model.run(), Error);
    model.reset_states();
    EXPECT_EQ(values(model.state("h")), (std::vector<float>{0, 0, 0, 0}));
    i[0] = 0;
    model.run();
    EXPECT_EQ(values(model.output("y")), (std::vector<float>{1, 2}));
}

TEST(States, AnOverwrittenStateIsValidAgainWhenItsLengthIsZero) {
    Graph g;
    const Dim p = g.symbol("P", 0, 7), q = g.symbol("Q", 0, 7);
    State a = g.state("a", DType::f32, {p}, 0, 8), b = g.state("b", DType::f32, {q}, 0, 8);
    const Tensor x = g.input("x", DType::f32, {1});
    for (State* each : {&a, &b}) {
        each->append(x);
        each->write(x * 2.0f, 0);
    }
    g.output("y", gather(concat({a.latest(), b.latest()}, 0), g.input("i", DType::i32, {1})));
    CompiledGraph model = compile(g, Context());
    const float one[] = {1};
    std::int32_t i[] = {0};
    model.set("x", one, {1});
    model.set("i", i, {1});
    model.run();
    i[0] = 9;
    EXPECT_THROW(model.run(), Error);
    i[0] = 0;
    model.rewind("P", 0);
    EXPECT_NE(message([&] { model.run(); }).find("parts of state \"b\""), std::string::npos);
    model.rewind("Q", 0);
    model.run();
}

TEST(States, AreFullWhenTheirLengthExceedsItsBound) {
    Graph g;
    State s = g.state("s", DType::f32, {g.symbol("P", 0, 2)}, 0, 8);
    g.output("y", s.append(g.input("x", DType::f32, {2})));
    CompiledGraph model = compile(g, Context());
    const float x[] = {1, 2};
    model.set("x", x, {2});
    model.run();
    model.run();
    EXPECT_EQ(message([&] { model.run(); }), "[run] the states of length P are full: P is 4, its bound is 2");
    EXPECT_EQ(values(model.state("s")), (std::vector<float>{1, 2, 1, 2}));
}

TEST(States, ThatShareALengthButGrowDifferentlyAreRefused) {
    Graph g;
    const Dim past = g.symbol("P", 0, 7);
    State keys = g.state("keys", DType::f32, {past}, 0, 8);
    g.state("values", DType::f32, {past}, 0, 8);
    g.output("y", keys.append(g.input("x", DType::f32, {1})));
    EXPECT_EQ(message([&] { compile(g, Context()); }),
              "[compile] the states \"keys\" and \"values\" have the length P, but grow to 1 + P and P");
}

TEST(States, OfASavedProgramAreTheSame) {
    const Context context;
    CompiledGraph model = compile(counter(), context);
    const std::filesystem::path path = std::filesystem::path(CAIRN_BINARY_DIR) / "counter.cairn";
    model.save(path);
    CompiledGraph loaded = CompiledGraph::load(path, context);
    EXPECT_EQ(loaded.program(), model.program());
    const float x[] = {1, 2, 3, 4};
    loaded.set("x", x, {2, 2});
    loaded.run();
    EXPECT_EQ(values(loaded.state("h")), (std::vector<float>{1, 2, 3, 4}));
    loaded.reset_states();
    EXPECT_EQ(loaded.state("steps").as<std::int64_t>()[0], 0);
}

TEST(States, CannotBeReadOrChangedDuringARun) {
    CompiledGraph model = filled_caches(Context());
    const std::filesystem::path path = file_of("busy");
    model.save_states(path);
    int refused = 0;
    const auto expect_busy = [&](const std::function<void()>& work) {
        EXPECT_THROW(work(), Busy);
        ++refused;
    };
    const std::vector<float> k{1, 2}, rows{3, 4};
    model.set("k", k, {2, 1});
    model.set("r", rows, {1, 2});
    RunOptions options;
    options.progress = [&](const Progress&) {
        expect_busy([&] { (void)model.state("rows"); });
        expect_busy([&] { model.set_state("rows", rows); });
        expect_busy([&] { model.set_state("rows", rows.data(), {1, 2}); });
        expect_busy([&] { model.set_state("rows", InputView{.data = rows.data(), .shape = {1, 2}}); });
        expect_busy([&] { model.reset_states(); });
        expect_busy([&] { model.save_states(path); });
        expect_busy([&] { model.load_states(path); });
    };
    model.run(options);
    EXPECT_GE(refused, 7);
    EXPECT_EQ(values(model.state("rows")), (std::vector<float>{5, 6, 7, 8, 50, 60, 3, 4}));
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace cairn
