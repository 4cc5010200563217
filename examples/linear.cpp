// A linear layer, y = x w + b: its weights are bound once, then batches of any size run without compiling again.

#include <cairn/cairn.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <span>
#include <string_view>
#include <vector>

using namespace cairn;

namespace {

// The weights, as a program may have computed them or read them from a file of its own.
constexpr float w[3][2] = {{0.1f, -1}, {0.2f, 0.5f}, {0.3f, 3}};
constexpr float b[2] = {0.5f, -2};

/// Gives the weight of a name to bind().
InputView weight(std::string_view name) {
    if (name == "w") return {w, DType::f32, {3, 2}};
    return {b, DType::f32, {2}};
}

std::vector<double> by_loops(const std::vector<float>& x) {
    std::vector<double> y;
    for (std::size_t row = 0; row < x.size(); row += 3)
        for (int column = 0; column < 2; ++column) {
            double sum = b[column];
            for (std::size_t k = 0; k < 3; ++k) sum += double{x[row + k]} * w[k][column];
            y.push_back(sum);
        }
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
    Graph graph("linear");
    const Dim batch = graph.symbol("B", 1, 1024);  // the rows of x
    const Tensor x = graph.input("x", DType::f32, {batch, 3});
    const Tensor weights = graph.weight("w", DType::f32, {3, 2});
    const Tensor bias = graph.weight("b", DType::f32, {2});
    graph.output("y", linear(x, weights, bias));  // the same as matmul(x, weights) + bias

    CompiledGraph model = compile(graph, Context());
    model.bind(weight);  // the elements are read where they are, or packed once for the kernel

    std::vector<float> values;
    for (const std::int64_t rows : {1, 4, 1000}) {
        values.resize(static_cast<std::size_t>(rows) * 3);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 3;
        model.set("x", values, {rows, 3});  // B is `rows` in the next run
        model.run();
        const std::span<const float> y = model.output("y").as<float>();
        std::cout << "batch of " << rows << ", last row: " << y[y.size() - 2] << ' ' << y[y.size() - 1] << '\n';
        const double difference = largest_difference(y, by_loops(values));
        std::cout << "largest difference from plain loops: " << difference << '\n';
        if (!(difference < 1e-5)) return 1;
    }
}
