#include "tests/kernels/cuda/references.hpp"

#include "accuracy/kernel_check/tolerance.hpp"
#include "cairn/kernels.hpp"
#include "kernels/cuda/definitions.hpp"
#include "kernels/partial_sums.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace cairn::kernels::cuda {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

using Row = std::vector<double>;

/// A row of the result of a definition: of the row x, its factors gamma and beta, and eps.
Row wanted_row(const std::string& name, const Row& x, const Row& gamma, const Row& beta, double eps) {
    const auto n = static_cast<double>(x.size());
    double sum = 0, largest = -inf;
    std::size_t place = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
        sum += x[j];
        if ((x[j] > largest || j == 0 || std::isnan(x[j])) && !std::isnan(largest)) largest = x[j], place = j;
    }
    const double mean = sum / n;
    double squares = 0, exps = 0;
    const bool is_centered = name.find("layer_norm") != std::string::npos || name == "variance";
    for (const double value : x) {
        squares += (value - (is_centered ? mean : 0)) * (value - (is_centered ? mean : 0));
        exps += std::exp(value - largest);
    }
    if (name == "sum") return {sum};
    if (name == "mean") return {mean};
    if (name == "max_reduce") return {largest};
    if (name == "variance") return {squares / n};
    if (name == "argmax") return {static_cast<double>(place)};
    Row y;
    for (std::size_t j = 0; j < x.size(); ++j) {
        double value;
        if (name == "softmax") {
            value = std::exp(x[j] - largest) / exps;
        } else if (name == "log_softmax") {
            value = x[j] - largest - std::log(exps);
        } else {
            value = (x[j] - (is_centered ? mean : 0)) / std::sqrt(squares / n + eps);
            if (!gamma.empty()) value *= gamma[j];
            if (!beta.empty()) value += beta[j];
        }
        y.push_back(value);
    }
    return y;
}

Row doubles(const Numbers& numbers) { return Row(numbers.begin(), numbers.end()); }

double number(const Problem& problem, const char* name, double otherwise) {
    for (const Attribute& attribute : problem.attributes)
        if (attribute.name == name)
            return std::holds_alternative<double>(attribute.value)
                       ? std::get<double>(attribute.value)
                       : static_cast<double>(problem.attributes.integer(name));
    return otherwise;
}

std::array<std::size_t, 4> four(const Shape& shape) {
    std::array<std::size_t, 4> sizes{1, 1, 1, 1};
    for (std::size_t i = 0; i < shape.size(); ++i)
        sizes[4 - shape.size() + i] = static_cast<std::size_t>(shape[i].constant());
    return sizes;
}

// The element of a mask or bias beside a score; axes of size 1 are repeated.
double beside(const Problem& problem, const std::vector<Numbers>& inputs, std::size_t input,
              std::array<std::size_t, 4> at) {
    std::array<std::size_t, 4> sizes = four(problem.inputs[input].shape);
    if (number(problem, "pairs", 0) == 0) sizes = {sizes[2], 1, 1, sizes[3]};
    std::size_t index = 0;
    for (std::size_t axis = 0; axis < 4; ++axis) index = index * sizes[axis] + (sizes[axis] == 1 ? 0 : at[axis]);
    return static_cast<double>(inputs[input][index]);
}

}  // namespace

std::vector<Numbers> row_reference(const Problem& problem, const std::vector<Numbers>& inputs, std::size_t axes) {
    const bool adds = problem.definition.starts_with("add_");
    const Shape& shape = problem.inputs[0].shape;
    std::size_t size = 1;
    for (std::size_t axis = shape.size() - axes; axis < shape.size(); ++axis)
        size *= static_cast<std::size_t>(shape[axis].constant());
    const std::size_t first = adds ? 2 : 1;
    const Row gamma = inputs.size() > first ? doubles(inputs[first]) : Row(),
              beta = inputs.size() > first + 1 ? doubles(inputs[first + 1]) : Row();
    Numbers x = inputs[0], y;
    for (std::size_t i = 0; adds && i < x.size(); ++i)
        x[i] = static_cast<float>(static_cast<float>(x[i]) + static_cast<float>(inputs[1][i]));
    std::size_t rows = 1;
    for (std::size_t axis = 0; axis < shape.size() - axes; ++axis)
        rows *= static_cast<std::size_t>(shape[axis].constant());
    for (std::size_t row = 0; row < rows; ++row) {
        const Row values(x.begin() + static_cast<std::ptrdiff_t>(row * size),
                         x.begin() + static_cast<std::ptrdiff_t>((row + 1) * size));
        const double eps = problem.attributes.has("eps") ? problem.attributes.number("eps") : 0;
        for (const double value : wanted_row(problem.definition, values, gamma, beta, eps)) y.push_back(value);
    }
    if (adds) return {x, y};
    return {y};
}

std::vector<Numbers> product_reference(const Problem& problem, const std::vector<Numbers>& inputs) {
    const Shape &a = problem.inputs[0].shape, &b = problem.inputs[1].shape;
    const auto depth = static_cast<std::size_t>(a.back().constant()),
               columns = static_cast<std::size_t>(b.back().constant());
    const auto rows = static_cast<std::size_t>(a[a.size() - 2].constant());
    std::size_t batches = 1;
    for (std::size_t axis = 0; axis + 2 < a.size(); ++axis) batches *= static_cast<std::size_t>(a[axis].constant());
    const bool has_batches = b.size() > 2;
    Numbers product(batches * rows * columns);
    for (std::size_t batch = 0; batch < batches; ++batch)
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t column = 0; column < columns; ++column) {
                double sum = 0;
                for (std::size_t k = 0; k < depth; ++k)
                    sum += static_cast<double>(inputs[0][(batch * rows + row) * depth + k]) *
                           static_cast<double>(inputs[1][((has_batches ? batch : 0) * depth + k) * columns + column]);
                product[(batch * rows + row) * columns + column] = sum;
            }
    if (problem.definition == "matmul") return {product};
    std::vector<Numbers> values(inputs.begin(), inputs.end());
    for (const Step& step : problem.body) {
        Numbers made;
        for (std::size_t i = 0; i < product.size(); ++i) {
            const auto x = static_cast<double>(
                step.op == "matmul" ? product[i] : values[static_cast<std::size_t>(step.operands[0])][i]);
            if (step.op == "matmul") made.push_back(x);
            if (step.op == "add")
                made.push_back(x + static_cast<double>(values[static_cast<std::size_t>(step.operands[1])][i]));
            if (step.op == "relu") made.push_back(std::max(x, 0.0));
            if (step.op == "gelu") made.push_back(x / 2 * (1 + std::erf(x / std::sqrt(2.0))));
            if (step.op == "gelu_tanh")
                made.push_back(x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))));
        }
        values.push_back(made);
    }
    std::vector<Numbers> results;
    for (std::size_t o = 0; o < problem.outputs.size(); ++o) {
        const Numbers& value = values[static_cast<std::size_t>(problem.results[o])];
        if (!problem.attributes.has("columns")) {
            results.push_back(value);
            continue;
        }
        const auto first = static_cast<std::size_t>(problem.attributes.dims("columns")[o].constant());
        const auto count =
            static_cast<std::size_t>(count_of(problem.outputs[o])) / std::max<std::size_t>(batches * rows, 1);
        Numbers part;
        for (std::size_t row = 0; row < batches * rows; ++row)
            for (std::size_t column = 0; column < count; ++column)
                part.push_back(value[row * columns + first + column]);
        results.push_back(part);
    }
    return results;
}

void repeat_elements(const Problem& problem, std::vector<Numbers>& inputs) {
    for (std::size_t n = 0; n < inputs.size(); ++n) {
        const TensorDesc& tensor = problem.inputs[n];
        for (std::size_t i = 0; i < inputs[n].size(); ++i) {
            std::size_t rest = i, first = 0, step = 1;
            for (std::size_t axis = tensor.shape.size(); axis-- > 0;) {
                const auto size = static_cast<std::size_t>(tensor.shape[axis].constant());
                if (!(tensor.strides[axis] == Dim(0))) first += rest % size * step;
                rest /= size, step *= size;
            }
            inputs[n][i] = inputs[n][first];
        }
    }
}

Numbers attention_reference(const Problem& problem, const std::vector<Numbers>& inputs) {
    const auto [batches, heads, queries, depth] = four(problem.inputs[0].shape);
    const auto [same_batches, groups, keys, same_depth] = four(problem.inputs[1].shape);
    const std::size_t width = four(problem.inputs[2].shape)[3];
    const double scale = number(problem, "scale", 1 / std::sqrt(static_cast<double>(depth))),
                 hidden = static_cast<float>(number(problem, "masked_score", std::numeric_limits<float>::lowest())),
                 cap = number(problem, "softcap", 0), window = number(problem, "window", inf);
    const bool adds_to_hidden = number(problem, "adds_to_hidden", 0) != 0;
    Numbers y;
    for (std::size_t b = 0; b < batches; ++b)
        for (std::size_t h = 0; h < heads; ++h)
            for (std::size_t t = 0; t < queries; ++t) {
                const std::size_t kv = (b * groups + h / (heads / groups)) * keys;
                std::vector<double> scores(keys);
                double largest = -inf, sum = 0;
                bool is_nan = false;
                for (std::size_t s = 0; s < keys; ++s) {
                    double score = 0;
                    for (std::size_t d = 0; d < depth; ++d)
                        score += static_cast<double>(inputs[0][((b * heads + h) * queries + t) * depth + d]) *
                                 static_cast<double>(inputs[1][(kv + s) * depth + d]);
                    score *= scale;
                    if (cap != 0) score = std::tanh(score / cap) * cap;
                    const double before = static_cast<double>(t) + static_cast<double>(keys) -
                                          static_cast<double>(queries) - static_cast<double>(s);
                    bool seen = before < window && (number(problem, "causal", 0) == 0 || before >= 0);
                    double added = 0;
                    for (std::size_t i = 3; i < inputs.size(); ++i) {
                        const double value = beside(problem, inputs, i, {b, h, t, s});
                        if (problem.inputs[i].dtype == DType::boolean)
                            seen = seen && (value != 0) != (number(problem, "hides", 0) != 0);
                        else
                            added += value;
                    }
                    score = seen ? score + added : adds_to_hidden ? hidden + added : hidden;
                    scores[s] = score;
                    is_nan = is_nan || std::isnan(score);
                    largest = std::max(largest, score);
                }
                if (is_nan) largest = nan;
                for (double& score : scores) sum += score = std::exp(score - largest);
                for (std::size_t e = 0; e < width; ++e) {
                    double value = 0;
                    for (std::size_t s = 0; s < keys; ++s)
                        value += scores[s] / sum * static_cast<double>(inputs[2][(kv + s) * width + e]);
                    y.push_back(value);
                }
            }
    return y;
}

Numbers sums_of(const TensorDesc& tensor, const Numbers& elements) {
    const std::size_t count = elements.size() / static_cast<std::size_t>(part_count(tensor));
    Numbers sums(count, 0);
    for (std::size_t i = 0; i < elements.size(); ++i) sums[i % count] += elements[i];
    return sums;
}

std::vector<Numbers> definition_reference(const Problem& problem, const std::vector<Numbers>& inputs) {
    std::vector<Definition> definitions = cpu_kernels().definitions;
    for (Definition& definition : cuda_definitions()) definitions.push_back(std::move(definition));
    Problem plain = problem;
    for (auto* side : {&plain.inputs, &plain.outputs})
        for (TensorDesc& tensor : *side) tensor.layout.clear();
    std::vector<interpreter::Value> values;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        interpreter::Value& value = values.emplace_back();
        value.dtype = plain.inputs[i].dtype;
        for (const Dim& size : plain.inputs[i].shape) value.shape.push_back(size.constant());
        for (const Number number : sums_of(problem.inputs[i], inputs[i]))
            value.data.push_back(static_cast<double>(number));
    }
    std::vector<Numbers> results;
    for (const interpreter::Value& output :
         kernel_check::evaluate_definition(plain, definitions, std::move(values)).outputs)
        results.emplace_back(output.data.begin(), output.data.end());
    return results;
}

std::vector<Numbers> weights_like_inputs(const Problem& problem, std::uint64_t seed) {
    std::vector<Numbers> inputs = random_inputs(problem, seed);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const TensorDesc& input = problem.inputs[i];
        const bool is_matrix = input.bound && input.shape.size() == 2;
        const double scale = is_matrix ? std::sqrt(3.0 / static_cast<double>(input.shape[0].constant())) : 1;
        for (Number& number : inputs[i]) number = as_stored(static_cast<double>(number) * scale, input.dtype);
    }
    return inputs;
}

}  // namespace cairn::kernels::cuda
