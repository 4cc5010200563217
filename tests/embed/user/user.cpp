// A user's first program: y = 2 x + 1 for any number of rows, and an error that is caught.
#include <cairn/cairn.hpp>

#include <string_view>

int main() {
    cairn::Graph graph;
    const cairn::Dim rows = graph.symbol("N", 1, 8);
    const cairn::Tensor x = graph.input("x", cairn::DType::f32, {rows, 3});
    graph.output("y", x * 2.0f + 1.0f);

    const cairn::Context context;
    cairn::CompiledGraph model = cairn::compile(graph, context);
    const float data[] = {1, 2, 3, 4, 5, 6};
    model.set("x", data, {2, 3});
    model.run();
    const auto y = model.output("y").as<float>();
    if (y.size() != 6 || y[0] != 3.0f || y[5] != 13.0f) return 1;

    try {
        graph.output("y", x);
        return 2;
    } catch (const cairn::Error& error) {
        if (error.kind() != cairn::ErrorKind::graph) return 3;
        if (std::string_view(error.what()).find("user.cpp:") == std::string_view::npos) return 4;
    }
    return cairn::version() == "0.1.0" ? 0 : 5;
}
