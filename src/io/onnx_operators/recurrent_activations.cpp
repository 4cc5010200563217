#include "io/onnx_operators/activations.hpp"
#include "io/onnx_operators/recurrent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace cairn::inline v0::onnx {
namespace {

/// A parameter of a function, and its default: not all have one.
struct FunctionParameter {
    bool is_taken = false;
    std::optional<double> otherwise = {};
};

struct RecurrentFunction {
    std::string_view name;  ///< in lower case
    FunctionParameter alpha, beta;
    Tensor (*apply)(const Tensor& x, double alpha, double beta);
};

using FunctionArgument = const Tensor&;
constexpr FunctionParameter no_parameter{}, without_default{true};
constexpr std::array<RecurrentFunction, 11> recurrent_functions{{
    {"relu", no_parameter, no_parameter, [](FunctionArgument x, double, double) { return relu(x); }},
    {"tanh", no_parameter, no_parameter, [](FunctionArgument x, double, double) { return tanh(x); }},
    {"sigmoid", no_parameter, no_parameter, [](FunctionArgument x, double, double) { return sigmoid(x); }},
    {"affine", without_default, without_default, [](FunctionArgument x, double a, double b) { return x * a + b; }},
    {"leakyrelu", {true, 0.01}, no_parameter, [](FunctionArgument x, double a, double) { return leaky_relu_of(x, a); }},
    {"thresholdedrelu",
     {true, 1},
     no_parameter,
     [](FunctionArgument x, double a, double) { return where(x >= a, x, 0); }},
    {"scaledtanh", without_default, without_default,
     [](FunctionArgument x, double a, double b) { return tanh(x * b) * a; }},
    {"hardsigmoid",
     {true, 0.2},
     {true, 0.5},
     [](FunctionArgument x, double a, double b) { return hard_sigmoid_of(x, a, b); }},
    {"elu", {true, 1}, no_parameter, [](FunctionArgument x, double a, double) { return elu_of(x, a); }},
    {"softsign", no_parameter, no_parameter, [](FunctionArgument x, double, double) { return softsign_of(x); }},
    {"softplus", no_parameter, no_parameter, [](FunctionArgument x, double, double) { return softplus_of(x); }},
}};

const RecurrentFunction& function_named(const Node& node, std::string_view name) {
    std::string lower(name);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto it = std::ranges::find(recurrent_functions, lower, &RecurrentFunction::name);
    if (it == recurrent_functions.end()) node.refuse(fmt::format("there is no activation function '{}' here", name));
    return *it;
}

/// Entries of activation_alpha or activation_beta, in the order of the functions that take one.
class FunctionParameters {
public:
    FunctionParameters(const Node& node, std::string_view attribute)
        : node_(node), attribute_(attribute), values_(node.reals(attribute)) {}

    double next(const FunctionParameter& parameter) {
        if (!parameter.is_taken) return 0;
        if (used_ < values_.size()) return values_[used_++];
        if (!parameter.otherwise) node_.refuse(fmt::format("its {} has too few entries", attribute_));
        return *parameter.otherwise;
    }
    bool all_used() const { return used_ == values_.size(); }

private:
    const Node& node_;
    std::string_view attribute_;
    std::vector<double> values_;
    std::size_t used_ = 0;
};

}  // namespace

std::vector<ActivationFunction> recurrent_activations(const Node& node, std::size_t count,
                                                      const std::vector<std::string_view>& defaults) {
    std::vector<std::string> names = node.texts("activations");
    while (!node.has_attribute("activations") && names.size() < count)
        names.insert(names.end(), defaults.begin(), defaults.end());
    if (names.size() < count)
        node.refuse(fmt::format("it names {} activation functions instead of {}", names.size(), count));
    FunctionParameters alphas(node, "activation_alpha"), betas(node, "activation_beta");
    std::vector<ActivationFunction> result;
    for (std::size_t i = 0; i < count; ++i) {
        const RecurrentFunction& function = function_named(node, names[i]);
        const double alpha = alphas.next(function.alpha), beta = betas.next(function.beta);
        result.emplace_back([apply = function.apply, alpha, beta](const Tensor& x) { return apply(x, alpha, beta); });
    }
    if (!alphas.all_used() || !betas.all_used())
        node.refuse("it has more of activation_alpha or activation_beta than its activation functions take");
    return result;
}

}  // namespace cairn::inline v0::onnx
