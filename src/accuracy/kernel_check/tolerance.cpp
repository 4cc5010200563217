#include "accuracy/kernel_check/tolerance.hpp"

#include "accuracy/metric/float_limits.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/problem_graph.hpp"
#include "graph/ir/scalar_cast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <utility>

namespace cairn::kernel_check {
namespace {

using accuracy::smallest_normal, accuracy::unit_roundoff;

bool is_product(const std::string& name) { return name == "matmul" || name.starts_with("linear"); }
bool is_sum(const std::string& name) { return name == "sum" || name == "mean"; }

bool has_two_weights(const std::string& name) { return name == "linear_swiglu" || name.starts_with("linear_geglu"); }
bool has_low_rank(const std::string& name) { return name == "linear_low_rank"; }
bool is_gated_by_half(const std::string& name) { return name.starts_with("linear_halves_"); }

// The product of these operands: x, a weight, and a bias if there is one.
std::vector<double> product_of(Problem problem, std::span<const Definition> definitions,
                               const std::vector<interpreter::Value>& inputs,
                               std::initializer_list<std::size_t> operands) {
    std::vector<interpreter::Value> values;
    std::vector<TensorDesc> descs;
    for (const std::size_t i : operands) {
        if (i >= inputs.size()) continue;
        values.push_back(inputs[i]);
        descs.push_back(problem.inputs[i]);
    }
    problem.definition = values.size() == 2 ? "matmul" : "linear";
    problem.attributes = {};
    problem.inputs = std::move(descs);
    return evaluate_definition(problem, definitions, std::move(values)).outputs.at(0).data;
}

// sum |terms| of a product or sum, by the same oracle on absolute values. For gate(x @ w) * (x @ v) the errors of both
// factors count, each multiplied by the sum |terms| of the other.
std::vector<double> term_sums(const Problem& problem, std::span<const Definition> definitions,
                              const Expected& expected) {
    std::vector<interpreter::Value> inputs = expected.inputs;
    for (interpreter::Value& input : inputs)
        for (double& x : input.data) x = std::fabs(x);
    if (has_two_weights(problem.definition)) {
        std::vector<double> sums = product_of(problem, definitions, inputs, {0, 1, 3});
        const std::vector<double> others = product_of(problem, definitions, inputs, {0, 2, 4});
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] *= 2 * others[i];
        return sums;
    }
    if (is_gated_by_half(problem.definition)) {
        const std::vector<double> both = product_of(problem, definitions, inputs, {0, 1, 2});
        const auto columns = static_cast<std::size_t>(expected.outputs[0].shape.back());
        std::vector<double> sums;
        for (std::size_t i = 0; i < expected.outputs[0].size(); ++i) {
            const std::size_t first = i / columns * 2 * columns + i % columns;
            sums.push_back(2 * both[first] * both[first + columns]);
        }
        return sums;
    }
    if (has_low_rank(problem.definition)) {
        std::vector<double> sums = product_of(problem, definitions, inputs, {0, 1, 4});
        const std::vector<double> all = evaluate_definition(problem, definitions, std::move(inputs)).outputs.at(0).data;
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += std::fabs(all[i] - sums[i]);  // the scale has a sign
        return sums;
    }
    if (problem.definition.starts_with("linear")) return product_of(problem, definitions, inputs, {0, 1, 2});
    return evaluate_definition(problem, definitions, std::move(inputs)).outputs.at(0).data;
}

// The epilogue of a `fused` problem, with `product` in place of operands 0 and 1.
std::vector<double> epilogue_result(const Problem& epilogue, std::span<const Definition> definitions,
                                    const Expected& expected, interpreter::Value product, std::size_t output) {
    std::vector<interpreter::Value> inputs{std::move(product)};
    inputs.insert(inputs.end(), expected.inputs.begin() + 2, expected.inputs.end());
    return evaluate_definition(epilogue, definitions, std::move(inputs)).outputs.at(output).data;
}

// How far the result of a `fused` problem changes when the product is off by its allowance, in either direction.
std::vector<double> propagated_errors(const Problem& problem, std::span<const Definition> definitions,
                                      const Expected& expected, std::size_t output) {
    const std::optional<FusedParts> parts = parts_of_fused(problem);
    Expected of_product{{expected.inputs[0], expected.inputs[1]}, {}};
    of_product.outputs = evaluate_definition(parts->product, definitions, of_product.inputs).outputs;
    const std::vector<double> errors = allowed_errors(parts->product, definitions, of_product, 0);
    const std::vector<double>& exact = expected.outputs[output].data;
    std::vector<double> moved(exact.size(), 0);
    for (const double sign : {1.0, -1.0}) {
        interpreter::Value product = of_product.outputs[0];
        for (std::size_t i = 0; i < errors.size(); ++i) product.data[i] += sign * errors[i];
        const std::vector<double> perturbed =
            epilogue_result(parts->epilogue, definitions, expected, std::move(product), output);
        for (std::size_t i = 0; i < exact.size(); ++i)
            moved[i] = std::fmax(moved[i], std::fabs(perturbed[i] - exact[i]));
    }
    return moved;
}

// A fraction of an infinite value would allow any number in its place.
double finite(double x) { return std::isfinite(x) ? std::fabs(x) : 0; }

double term_count(const Problem& problem) {
    if (has_low_rank(problem.definition))  // rounded twice: over the depth, and over the rank
        return static_cast<double>((problem.inputs[0].shape.back() + problem.inputs[2].shape.back()).constant());
    if (is_product(problem.definition)) return static_cast<double>(problem.inputs[0].shape.back().constant());
    const double in = static_cast<double>(element_count(problem.inputs[0].shape).constant());
    return in / std::max(1.0, static_cast<double>(element_count(problem.outputs[0].shape).constant()));
}

// One of the two numbers of the dtype around `number`; `number` itself if it is one.
double round_up_or_down(DType dtype, double number, std::mt19937_64& random) {
    const double nearest = ir::round_to(dtype, number);
    const bool is_exact = nearest == number || !std::isfinite(nearest) || std::fabs(nearest) < smallest_normal(dtype);
    if (is_exact || random() % 2 == 0) return nearest;
    const double spacing = std::ldexp(2 * unit_roundoff(dtype), std::ilogb(nearest));
    return nearest + std::copysign(spacing, number - nearest);
}

}  // namespace

Expected evaluate_definition(const Problem& problem, std::span<const Definition> definitions,
                             std::vector<interpreter::Value> inputs, const interpreter::Rounding& rounding) {
    const Graph graph = ir::problem_graph(problem, definitions);
    interpreter::Inputs given;
    for (std::size_t i = 0; i < inputs.size(); ++i) given.tensors["in" + std::to_string(i)] = inputs[i];
    interpreter::Results results = interpreter::interpret(*graph.data(), given, rounding);
    Expected expected{std::move(inputs), {}};
    for (std::size_t i = 0; i < problem.outputs.size(); ++i)
        expected.outputs.push_back(results.outputs.at("out" + std::to_string(i)));
    return expected;
}

std::vector<double> allowed_errors(const Problem& problem, std::span<const Definition> definitions,
                                   const Expected& expected, std::size_t output) {
    const interpreter::Value& wanted = expected.outputs[output];
    if (!is_float(wanted.dtype)) return std::vector<double>(wanted.integers.size(), 0);
    double eps = unit_roundoff(wanted.dtype);
    for (const interpreter::Value& input : expected.inputs)
        if (is_float(input.dtype) && problem.definition != "cast" && problem.body.empty())
            eps = std::max(eps, unit_roundoff(input.dtype));
    std::vector<double> allowed;
    const double floor = smallest_normal(wanted.dtype);
    if (is_product(problem.definition) || is_sum(problem.definition)) {
        const std::vector<double> sums = term_sums(problem, definitions, expected);
        const bool is_gated = has_two_weights(problem.definition) || is_gated_by_half(problem.definition);
        for (std::size_t i = 0; i < wanted.data.size(); ++i)
            allowed.push_back(is_gated && !std::isfinite(wanted.data[i])
                                  ? std::numeric_limits<double>::infinity()
                                  : (term_count(problem) + 16) * eps * 1.13 * finite(sums[i]) +
                                        8 * eps * finite(wanted.data[i]) + floor);
        return allowed;
    }
    const std::vector<double> moved = problem.definition == "fused"
                                          ? propagated_errors(problem, definitions, expected, output)
                                          : std::vector<double>(wanted.data.size(), 0);
    double squares = 0, numbers = 0;
    for (const double r : wanted.data) squares += finite(r) * finite(r), numbers += std::isfinite(r) ? 1 : 0;
    const double rms = std::sqrt(squares / std::max(1.0, numbers));
    const bool is_one_op = ir::find_op(problem.definition).has_value();
    for (std::size_t i = 0; i < wanted.data.size(); ++i) {
        const double r = finite(wanted.data[i]);
        allowed.push_back((is_one_op ? 16 * eps * r : 64 * eps * (r + rms)) + moved[i] + floor);
    }
    return allowed;
}

std::vector<double> roundoff_errors(const Problem& problem, std::span<const Definition> definitions,
                                    const Expected& expected, std::size_t output) {
    constexpr int evaluations = 4, rounding_errors = 16;
    const std::vector<double>& exact = expected.outputs[output].data;
    std::vector<double> errors(exact.size(), 0);
    std::mt19937_64 random;
    const auto rounding = [&](DType dtype, double number) { return round_up_or_down(dtype, number, random); };
    for (int evaluation = 0; evaluation < evaluations; ++evaluation) {
        const std::vector<double> rounded =
            evaluate_definition(problem, definitions, expected.inputs, rounding).outputs[output].data;
        for (std::size_t i = 0; i < exact.size(); ++i)
            if (const double error = std::fabs(rounded[i] - exact[i]); std::isfinite(error))
                errors[i] = std::max(errors[i], rounding_errors * error);
    }
    return errors;
}

std::string first_difference(const interpreter::Value& got, const interpreter::Value& wanted,
                             const std::vector<double>& allowed) {
    if (got.shape != wanted.shape || got.dtype != wanted.dtype) return "shape or dtype differs from the definition's";
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!is_float(wanted.dtype)) {
            if (got.integers[i] == wanted.integers[i]) continue;
            return "element " + std::to_string(i) + " is " + std::to_string(got.integers[i]) + ", not " +
                   std::to_string(wanted.integers[i]);
        }
        const double y = got.data[i], r = wanted.data[i];
        if (std::isnan(y) && std::isnan(r)) continue;
        if (y == r || std::fabs(y - r) <= allowed[i]) continue;
        if (std::isinf(allowed[i]) && !std::isfinite(y) && !std::isfinite(r)) continue;
        if (accuracy::is_overflow(y, r, wanted.dtype) || accuracy::is_overflow(r, y, wanted.dtype)) continue;
        char text[160];
        std::snprintf(text, sizeof text, "element %zu is %.9g, not %.9g (off by %.3g, allowed %.3g)", i, y, r,
                      std::fabs(y - r), allowed[i]);
        return text;
    }
    return {};
}

}  // namespace cairn::kernel_check
