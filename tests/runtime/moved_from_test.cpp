#include "cairn/cairn.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

namespace cairn {
namespace {

struct Case {
    const char* name;
    std::function<void()> call;
};

/// Each call must throw an Error of that kind which says that the handle is moved-from.
void expect_refused(const std::vector<Case>& cases, ErrorKind kind) {
    for (const Case& each : cases) try {
            each.call();
            ADD_FAILURE() << each.name << " threw nothing";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), kind) << each.name;
            EXPECT_NE(std::string(error.what()).find("moved-from"), std::string::npos) << each.name << error.what();
        }
}

Graph small() {
    Graph g;
    g.output("y", g.input("x", DType::f32, {2}) * 2.0f);
    return g;
}

TEST(MovedFrom, GraphThrows) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {2});
    const Graph taken = std::move(g);
    const double one = 1;
    expect_refused({{"symbol", [&] { g.symbol("N", 1, 2); }},
                    {"input", [&] { g.input("z", DType::f32, {2}); }},
                    {"weight", [&] { g.weight("w", DType::f32, {2}); }},
                    {"state",
                     [&] {
                         g.state("s", DType::f32, {Symbols::create()->add("P", 0, 8), 4}, 0, 8);
                     }},
                    {"constant values", [&] { g.constant(DType::f32, {1}, std::span(&one, 1)); }},
                    {"constant", [&] { g.constant(DType::f32, 1.0); }},
                    {"constant Dim", [&] { g.constant(DType::i32, Dim(3)); }},
                    {"output", [&] { g.output("z", x); }},
                    {"name", [&] { (void)g.name(); }},
                    {"symbols", [&] { (void)g.symbols(); }},
                    {"size", [&] { (void)g.size(); }},
                    {"data", [&] { (void)g.data(); }},
                    {"to_string", [&] { (void)to_string(g); }},
                    {"iota", [&] { (void)iota(g, 4); }},
                    {"compile", [&] { (void)compile(g, Context()); }}},
                   ErrorKind::graph);
    EXPECT_EQ(taken.name(), "graph");
}

TEST(MovedFrom, StateThrows) {
    Graph g;
    State s = g.state("s", DType::f32, {g.symbol("P", 0, 8), 4}, 0, 8);
    const Tensor row = g.input("row", DType::f32, {1, 4});
    const State taken = std::move(s);
    expect_refused({{"read", [&] { (void)s.read(); }},
                    {"latest", [&] { (void)s.latest(); }},
                    {"assign", [&] { (void)s.assign(row); }},
                    {"append", [&] { (void)s.append(row); }},
                    {"write", [&] { (void)s.write(row, 0); }}},
                   ErrorKind::graph);
    EXPECT_EQ(taken.read().rank(), 2);
}

TEST(MovedFrom, ContextThrows) {
    const std::filesystem::path path = std::filesystem::path(CAIRN_BINARY_DIR) / "moved_context.cairn";
    compile(small(), Context()).save(path);
    Context context;
    const Context taken = std::move(context);
    expect_refused({{"threads", [&] { (void)context.threads(); }},
                    {"features", [&] { (void)context.features(); }},
                    {"kernels", [&] { (void)context.kernels(); }},
                    {"parts", [&] { (void)context.impl(); }},
                    {"compile", [&] { (void)compile(small(), context); }},
                    {"load", [&] { (void)CompiledGraph::load(path, context); }}},
                   ErrorKind::argument);
    EXPECT_EQ(taken.threads(), 1);
}

TEST(MovedFrom, CompiledGraphThrows) {
    CompiledGraph model = compile(small(), Context());
    CompiledGraph taken = std::move(model);
    const std::vector<float> x(2, 1);
    const std::int64_t shape[] = {2};
    std::vector<float> y(2);
    InputView view;
    view.data = x.data();
    view.shape = {2};
    const void* const bytes = x.data();
    expect_refused({{"bind", [&] { model.bind(WeightSource()); }},
                    {"set typed", [&] { model.set("x", x, {2}); }},
                    {"set shapeless", [&] { model.set("x", x); }},
                    {"set written down",
                     [&] {
                         model.set("x", {1.f, 2.f}, {2});
                     }},
                    {"set written down, shapeless",
                     [&] {
                         model.set("x", {1.f, 2.f});
                     }},
                    {"set pointer", [&] { model.set("x", x.data(), {2}); }},
                    {"set raw", [&] { model.set("x", bytes, {2}); }},
                    {"set raw span", [&] { model.set("x", bytes, std::span(shape)); }},
                    {"set view", [&] { model.set("x", view); }},
                    {"set symbol", [&] { model.set("N", 1); }},
                    {"set_output", [&] { model.set_output("y", y.data(), 8); }},
                    {"set_output typed", [&] { model.set_output("y", y); }},
                    {"run", [&] { model.run(); }},
                    {"output", [&] { (void)model.output("y"); }},
                    {"rewind", [&] { model.rewind("P", 0); }},
                    {"state", [&] { (void)model.state("s"); }},
                    {"set_state pointer", [&] { model.set_state("s", x.data(), {2}); }},
                    {"set_state raw", [&] { model.set_state("s", bytes, {2}); }},
                    {"set_state view", [&] { model.set_state("s", view); }},
                    {"set_state typed", [&] { model.set_state("s", x); }},
                    {"reset_states", [&] { model.reset_states(); }},
                    {"save_states", [&] { model.save_states("no/such/folder"); }},
                    {"load_states", [&] { model.load_states("no/such/folder"); }},
                    {"instance", [&] { (void)model.instance(); }},
                    {"memory", [&] { (void)model.memory(); }},
                    {"memory at sizes",
                     [&] {
                         (void)model.memory({{"N", 1}});
                     }},
                    {"reserve", [&] { model.reserve({}); }},
                    {"explain", [&] { (void)model.explain(); }},
                    {"profile", [&] { (void)model.profile(); }},
                    {"program", [&] { (void)model.program(); }},
                    {"arena_bytes_touched", [&] { (void)model.arena_bytes_touched(); }},
                    {"save", [&] { model.save(std::filesystem::path(CAIRN_BINARY_DIR) / "moved.cairn"); }}},
                   ErrorKind::argument);
    model = std::move(taken);
    model.set("x", x);
    model.run();
    EXPECT_EQ(model.output("y").as<float>()[0], 2);
}

TEST(MovedFrom, SafetensorsThrows) {
    const std::filesystem::path path = std::filesystem::path(CAIRN_BINARY_DIR) / "moved.safetensors";
    const float values[] = {1, 2};
    InputView view;
    view.data = values;
    view.shape = {2};
    write_safetensors(path, {{"w", view}});
    Safetensors file = Safetensors::open(path);
    const Safetensors taken = std::move(file);
    Graph g;
    g.output("y", g.input("x", DType::f32, {2}) * g.weight("w", DType::f32, {2}));
    CompiledGraph open = compile(g, Context());
    expect_refused({{"tensors", [&] { (void)file.tensors(); }},
                    {"contains", [&] { (void)file.contains("w"); }},
                    {"metadata", [&] { (void)file.metadata("format"); }},
                    {"view", [&] { (void)file.view("w"); }},
                    {"source", [&] { (void)file.source(); }},
                    {"bind", [&] { open.bind(file); }}},
                   ErrorKind::argument);
    EXPECT_TRUE(taken.contains("w"));
}

}  // namespace
}  // namespace cairn
