// The program of README.md: compiles and runs a graph with a symbolic number of rows.

#include <cairn/cairn.hpp>
#include <iostream>

int main() {
    cairn::Graph graph;
    const cairn::Dim rows = graph.symbol("N", 1, 1024);  // a symbolic size from 1 to 1024
    const auto x = graph.input("x", cairn::DType::f32, {rows, 3});
    graph.output("y", cairn::softmax(x * 2.0f + 1.0f, -1));

    auto model = cairn::compile(graph, cairn::Context());  // selects kernels and plans memory
    const float data[] = {1, 2, 3};
    model.set("x", data, {1, 3});
    model.run();  // executes the compiled program
    for (float value : model.output("y").as<float>()) std::cout << value << ' ';
    std::cout << '\n';
}
