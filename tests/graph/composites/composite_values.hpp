#pragma once

#include "cairn/composites.hpp"
#include "graph/interpreter/interpreter.hpp"

#include <map>
#include <string>
#include <vector>

/// Runs composites on given numbers, for tests that compare them with the same formula in plain loops.
namespace cairn::test {

using Numbers = std::vector<double>;

/// Irregular numbers in -2..2, the same for the same seed.
inline Numbers some_numbers(std::size_t count, unsigned seed = 1) {
    Numbers numbers;
    std::uint32_t state = seed * 2654435761U + 12345U;
    for (std::size_t i = 0; i < count; ++i) {
        state = state * 1664525U + 1013904223U;
        numbers.push_back(static_cast<double>(state >> 16U) / 16384.0 - 2.0);
    }
    return numbers;
}

/// A graph under test, with its sizes and inputs.
struct Trial {
    Graph graph;
    interpreter::Inputs inputs;

    Tensor input(const std::string& name, DType dtype, const Shape& shape, const std::vector<std::int64_t>& sizes,
                 const Numbers& numbers) {
        inputs.tensors.emplace(name, interpreter::make_value(dtype, sizes, numbers));
        return graph.input(name, dtype, shape);
    }
    Tensor input(const std::string& name, const std::vector<std::int64_t>& sizes, const Numbers& numbers,
                 DType dtype = DType::f64) {
        return input(name, dtype, Shape(sizes.begin(), sizes.end()), sizes, numbers);
    }
    Dim symbol(const std::string& name, std::int64_t low, std::int64_t high, std::int64_t value) {
        inputs.sizes[name] = value;
        return graph.symbol(name, low, high);
    }
    interpreter::Value value_of(const Tensor& tensor) const {
        return interpreter::interpret_nodes(*graph.data(), inputs)[tensor.id()];
    }
};

}  // namespace cairn::test
