#include "graph/ir/scalar_cast.hpp"
#include "tests/graph/ir/random_generator.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>

namespace cairn::test {
namespace {

// 3 for `i7.below3`; 0 for a name without such an end.
std::int64_t bound_in(std::string_view name) {
    constexpr std::string_view mark = ".below";
    const auto at = name.rfind(mark);
    std::int64_t bound = 0;
    if (at != std::string_view::npos) std::from_chars(name.data() + at + mark.size(), name.data() + name.size(), bound);
    return bound;
}

double special_float(RandomGenerator& random, DType dtype) {
    const double least = dtype == DType::f64 ? 0x1p-1074 : dtype == DType::f16 ? 0x1p-24 : 0x1p-133;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double list[] = {std::nan(""), infinity, -infinity, 0.0, -0.0, least, -3 * least, 0x1p-126};
    return list[random.below(8)];
}

double element(RandomGenerator& random, DType dtype, std::int64_t bound, int special_in) {
    if (special_in > 0 && dtype != DType::boolean && bound == 0 && random.one_in(special_in)) {
        if (is_float(dtype)) return special_float(random, dtype);
        return static_cast<double>(random.one_in(2) ? ir::lowest_integer(dtype) : ir::highest_integer(dtype));
    }
    if (dtype == DType::boolean) return random.below(2);
    if (is_float(dtype)) return static_cast<double>(random.between(-16, 16)) / 8;
    if (bound > 0) return static_cast<double>(random.between(0, bound - 1));
    return static_cast<double>(random.between(dtype == DType::u8 ? 0 : -8, 8));
}

// A byte of a q8_0 block: a scale of 1/16, or any with special values, and codes in -8..8, or the ends of their range.
double block_byte(RandomGenerator& random, std::size_t byte, int special_in) {
    const bool is_special = special_in > 0 && random.one_in(special_in);
    if (byte < 2) return is_special ? static_cast<double>(random.below(256)) : byte == 0 ? 0 : 0x2c;
    if (is_special) return random.one_in(2) ? 128 : 127;
    return static_cast<double>(static_cast<std::uint8_t>(random.between(-8, 8)));
}

bool close(double actual, double expected, double tolerance) {
    if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
    return actual == expected || std::fabs(actual - expected) <= tolerance;
}

}  // namespace

interpreter::Inputs random_inputs(const ir::GraphData& graph, const std::map<std::string, std::int64_t>& sizes,
                                  std::uint64_t seed, int special_in) {
    RandomGenerator random(seed);
    interpreter::Inputs inputs{sizes, {}};
    std::vector<std::int64_t> symbols;
    for (const auto& symbol : graph.symbols()->list()) symbols.push_back(sizes.at(symbol.name));
    for (const ir::Node& node : graph.nodes()) {
        if (node.op != ir::Op::input && node.op != ir::Op::weight && node.op != ir::Op::state_read) continue;
        std::vector<std::int64_t> shape;
        std::size_t count = 1;
        for (const Dim& size : node.shape) {
            shape.push_back(size.evaluate(symbols));
            count *= static_cast<std::size_t>(shape.back());
        }
        std::vector<double> elements;
        const std::int64_t bound = bound_in(node.name);
        for (std::size_t i = 0; i < count; ++i)
            elements.push_back(node.name.ends_with(".blocks") ? block_byte(random, i % 34, special_in)
                                                              : element(random, node.dtype, bound, special_in));
        inputs.tensors.emplace(node.name, interpreter::make_value(node.dtype, shape, elements));
    }
    return inputs;
}

std::vector<std::map<std::string, std::int64_t>> random_sizes(const ir::GraphData& graph, int count,
                                                              std::uint64_t seed) {
    RandomGenerator random(seed);
    std::vector<std::map<std::string, std::int64_t>> result;
    for (int i = 0; i < count; ++i) {
        std::map<std::string, std::int64_t> sizes;
        for (const auto& symbol : graph.symbols()->list())
            sizes[symbol.name] = i == 0 ? symbol.low : i == 1 ? symbol.high : random.between(symbol.low, symbol.high);
        result.push_back(std::move(sizes));
    }
    return result;
}

std::string difference(const interpreter::Value& actual, const interpreter::Value& expected, double tolerance) {
    std::ostringstream text;
    if (actual.dtype != expected.dtype || actual.shape != expected.shape || actual.size() != expected.size()) {
        const auto type = [](const interpreter::Value& value) {
            return to_string(value.dtype, Shape(value.shape.begin(), value.shape.end()));
        };
        return type(actual) + ", expected " + type(expected);
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (is_float(expected.dtype) ? close(actual.data[i], expected.data[i], tolerance)
                                     : actual.integers[i] == expected.integers[i])
            continue;
        text.precision(17);
        text << '[' << i << "]: ";
        if (is_float(expected.dtype))
            text << actual.data[i] << ", expected " << expected.data[i];
        else
            text << actual.integers[i] << ", expected " << expected.integers[i];
        return text.str();
    }
    return {};
}

}  // namespace cairn::test
