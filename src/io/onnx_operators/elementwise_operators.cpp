#include "io/onnx_operators/activations.hpp"
#include "io/onnx_operators/elementwise_functions.hpp"
#include "io/onnx_operators/operators.hpp"

#include "io/onnx_node/known_index.hpp"

#include <array>
#include <cmath>

namespace cairn::inline v0::onnx {
namespace {

template <Tensor (*function)(const Operand&)>
void make_elementwise(Node& node) {
    node.set(0, function(node.tensor(0)));
}

template <Tensor (*function)(const Tensor&)>
void make_elementwise_wide(Node& node) {
    set_narrowed(node, function(wide_of(node.tensor(0))));
}

Tensor ceil_of(const Operand& x) { return -floor(-x.tensor()); }
Tensor reciprocal_of(const Operand& x) { return 1 / x.tensor(); }

/// Applies a function to known floats.
template <double (*function)(double)>
bool fold_elementwise(Node& node) {
    Known result = node.require_known(0, "input");
    if (!result.is_float()) return false;
    for (double& value : result.floats) value = rounded_to(result.type, function(value));
    node.set(0, std::move(result));
    return true;
}

/// The same, and another function to known integers.
template <double (*function)(double), Dim (*on_integers)(const Dim&)>
bool fold_elementwise_number(Node& node) {
    Known result = node.require_known(0, "input");
    if (result.is_float()) return fold_elementwise<function>(node);
    for (Dim& value : result.integers) {
        value = on_integers(value);
        if (value.is_constant()) value = wrapped_to(result.type, value.constant());
    }
    node.set(0, std::move(result));
    return true;
}

double floor_value(double x) { return std::floor(x); }
double ceil_value(double x) { return std::ceil(x); }
double round_value(double x) { return std::nearbyint(x); }
double sqrt_value(double x) { return std::sqrt(x); }
double reciprocal_value(double x) { return 1 / x; }
double abs_value(double x) { return std::fabs(x); }
double neg_value(double x) { return -x; }

/// The lowest 64-bit integer is its own negation.
Dim neg_size(const Dim& x) { return wrapping_difference(0, x); }

Dim abs_size(const Dim& x) {
    if (provably_le(0, x)) return x;
    return x.is_constant() ? neg_size(x) : max(x, -x);
}

constexpr std::array<Operator, 26> elementwise_rows{
    {{"Abs", 6, make_elementwise<abs>, fold_elementwise_number<abs_value, abs_size>},
     {"Acos", 7, make_elementwise_wide<acos_of>},
     {"Acosh", 9, make_elementwise_wide<acosh_of>},
     {"Asin", 7, make_elementwise_wide<asin_of>},
     {"Asinh", 9, make_elementwise_wide<asinh_of>},
     {"Atan", 7, make_elementwise_wide<atan_of>},
     {"Atanh", 9, make_elementwise_wide<atanh_of>},
     {"Ceil", 6, make_elementwise<ceil_of>, fold_elementwise<ceil_value>},
     {"Cos", 7, make_elementwise<cos>},
     {"Cosh", 9, make_elementwise_wide<cosh_of>},
     {"Erf", 9, make_elementwise<erf>},
     {"Exp", 6, make_elementwise<exp>},
     {"Floor", 6, make_elementwise<floor>, fold_elementwise<floor_value>},
     {"Log", 6, make_elementwise<log>},
     {"Neg", 6, make_elementwise<neg>, fold_elementwise_number<neg_value, neg_size>},
     {"Reciprocal", 6, make_elementwise<reciprocal_of>, fold_elementwise<reciprocal_value>},
     {"Round", 11, make_elementwise<round>, fold_elementwise<round_value>},
     {"Sigmoid", 6, make_elementwise<sigmoid>},
     {"Sign", 9, make_elementwise<sign>},
     {"Sin", 7, make_elementwise<sin>},
     {"Sinh", 9, make_elementwise_wide<sinh_of>},
     {"Sqrt", 6, make_elementwise<sqrt>, fold_elementwise<sqrt_value>},
     {"Tan", 7, make_elementwise_wide<tan_of>},
     {"Tanh", 6, make_elementwise<tanh>},
     {"Softplus", 1, make_elementwise_wide<softplus_of>},
     {"Softsign", 1, make_elementwise_wide<softsign_of>}}};

}  // namespace

std::span<const Operator> elementwise_operators() { return elementwise_rows; }

}  // namespace cairn::inline v0::onnx
