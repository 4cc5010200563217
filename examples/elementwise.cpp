// A formula of two inputs that broadcast, computed by one kernel: how close points are to three centers.
//
//     y[n, k] = exp(-(x[n] - center[k])^2 / 2)

#include <cairn/cairn.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <span>
#include <vector>

using namespace cairn;

namespace {

std::vector<double> by_loops(const std::vector<float>& x, const std::vector<float>& center) {
    std::vector<double> y;
    for (const double point : x)
        for (const double c : center) y.push_back(std::exp(-(point - c) * (point - c) / 2));
    return y;
}

double largest_difference(std::span<const float> y, const std::vector<double>& expected) {
    if (y.size() != expected.size()) return HUGE_VAL;
    double largest = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double difference = std::abs(y[i] - expected[i]);
        if (std::isnan(difference)) return difference;
        largest = std::max(largest, difference);
    }
    return largest;
}

}  // namespace

int main() {
    // Ops on tensors compute nothing: they build a graph, and check shapes and dtypes at once.
    Graph graph("elementwise");
    const Dim points = graph.symbol("N", 1, 1000);  // a size that each run may choose anew
    const Tensor x = graph.input("x", DType::f32, {points, 1});
    const Tensor center = graph.input("center", DType::f32, {3});
    const Tensor distance = x - center;  // [N, 1] and [3] broadcast to [N, 3], as in NumPy
    graph.output("y", exp(-(distance * distance) / 2));

    // Everything is decided here, for all sizes: which kernels run, and where their results lie in memory.
    CompiledGraph model = compile(graph, Context());
    const auto instructions = model.explain().buckets[0].instructions.size();
    std::cout << "5 ops, instructions: " << instructions << '\n';
    if (instructions != 1) return 1;

    const std::vector<float> centers = {-1, 0, 2};
    model.set("center", centers);
    for (const std::vector<float>& values : {std::vector<float>{0.5f}, std::vector<float>{-1, 0, 1, 2}}) {
        model.set("x", values);  // N is the number of values
        model.run();
        const std::span<const float> y = model.output("y").as<float>();  // row-major
        for (std::size_t n = 0; n < values.size(); ++n)
            std::cout << "x = " << values[n] << ": " << y[3 * n] << ' ' << y[3 * n + 1] << ' ' << y[3 * n + 2] << '\n';

        const double difference = largest_difference(y, by_loops(values, centers));
        std::cout << "largest difference from plain loops: " << difference << '\n';
        if (!(difference < 1e-6)) return 1;
    }
}
