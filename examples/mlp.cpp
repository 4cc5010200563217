// Two layers with an activation between them, which compute the exclusive or of two bits. Names of values show in
// explain(), which tells what a run does, how long it takes and why.

#include <cairn/cairn.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace cairn;

namespace {

struct Layer {
    std::string name;
    std::int64_t inputs, outputs;
    std::vector<float> w, b;  // w[inputs, outputs], row-major, and b[outputs]
};

// The first layer counts the bits that are set, and those beyond the first; the second subtracts these twice.
const Layer hidden = {"hidden", 2, 2, {1, 1, 1, 1}, {0, -1}};
const Layer combined = {"combined", 2, 1, {1, -2}, {0}};

Tensor apply(const Layer& layer, Graph& graph, const Tensor& x) {
    const Tensor w = graph.weight(layer.name + ".w", DType::f32, {layer.inputs, layer.outputs});
    const Tensor b = graph.weight(layer.name + ".b", DType::f32, {layer.outputs});
    return name(linear(x, w, b), layer.name);
}

/// Gives the weight of a name to bind().
InputView weight(std::string_view name) {
    const Layer& layer = name.starts_with(hidden.name) ? hidden : combined;
    if (name.ends_with(".w")) return {layer.w.data(), DType::f32, {layer.inputs, layer.outputs}};
    return {layer.b.data(), DType::f32, {layer.outputs}};
}

std::vector<double> by_loops(const std::vector<float>& x) {
    std::vector<double> results;
    for (std::size_t row = 0; row < x.size(); row += 2) {
        double result = combined.b[0];
        for (std::size_t i = 0; i < 2; ++i) {
            double sum = hidden.b[i];
            for (std::size_t k = 0; k < 2; ++k) sum += x[row + k] * hidden.w[2 * k + i];
            result += std::max(sum, 0.0) * combined.w[i];
        }
        results.push_back(result);
    }
    return results;
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
    Graph graph("mlp");
    const Dim batch = graph.symbol("B", 1, 256);
    const Tensor x = graph.input("x", DType::f32, {batch, 2});
    graph.output("y", apply(combined, graph, relu(apply(hidden, graph, x))));

    CompiledGraph model = compile(graph, Context());
    model.bind(weight);

    for (const std::vector<float>& bits : {std::vector<float>{0, 0, 0, 1, 1, 0, 1, 1}, std::vector<float>{1, 0.75f}}) {
        model.set("x", bits);  // B is the number of pairs
        model.run();
        const std::span<const float> y = model.output("y").as<float>();
        for (std::size_t i = 0; i < y.size(); ++i)
            std::cout << bits[2 * i] << " xor " << bits[2 * i + 1] << " = " << y[i] << '\n';
        const double difference = largest_difference(y, by_loops(bits));
        std::cout << "largest difference from plain loops: " << difference << '\n';
        if (!(difference < 1e-6)) return 1;
    }

    std::istringstream explanation(to_string(model.explain()));
    std::string line;
    for (int i = 0; i < 4 && std::getline(explanation, line); ++i) std::cout << line << '\n';
}
