// The README's program: a graph with any number of rows, compiled and run.

#include <cairn/cairn.hpp>
#include <iostream>

int main() {
    cairn::Graph graph;
    const cairn::Dim rows = graph.symbol("N", 1, 1024);  // any number of rows
    const auto x = graph.input("x", cairn::DType::f32, {rows, 3});
    graph.output("y", cairn::softmax(x * 2.0f + 1.0f, -1));

    auto model = cairn::compile(graph, cairn::Context());  // everything is decided here
    const float data[] = {1, 2, 3};
    model.set("x", data, {1, 3});
    model.run();  // and only run here
    for (float value : model.output("y").as<float>()) std::cout << value << ' ';
    std::cout << '\n';
}
