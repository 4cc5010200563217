
#include "io/onnx_node/known_index.hpp"
#include "io/onnx_operators/operators.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace cairn::inline v0::onnx {
namespace {

template <Tensor (*function)(const Operand&, const Operand&)>
void make_comparison(Node& node) {
    const Tensor a = node.tensor(0), b = node.tensor(1);
    node.set(0, function(a, b));
}

/// The truth about two sizes, if it is the same for all values of their symbols.
using SizeRelation = std::optional<bool> (*)(const Dim& a, const Dim& b);
using NumberRelation = bool (*)(double a, double b);

std::optional<bool> size_equal(const Dim& a, const Dim& b) {
    if (a == b) return true;
    return provably_ne(a, b) ? std::optional(false) : std::nullopt;
}

std::optional<bool> size_less(const Dim& a, const Dim& b) {
    if (provably_le(b, a)) return false;
    return provably_le(a, b) && provably_ne(a, b) ? std::optional(true) : std::nullopt;
}

std::optional<bool> size_less_or_equal(const Dim& a, const Dim& b) {
    const std::optional<bool> is_greater = size_less(b, a);
    return is_greater.has_value() ? std::optional(!*is_greater) : std::nullopt;
}

std::optional<bool> size_greater(const Dim& a, const Dim& b) { return size_less(b, a); }
std::optional<bool> size_greater_or_equal(const Dim& a, const Dim& b) { return size_less_or_equal(b, a); }

bool number_equal(double a, double b) { return a == b; }
bool number_less(double a, double b) { return a < b; }
bool number_less_or_equal(double a, double b) { return a <= b; }
bool number_greater(double a, double b) { return a > b; }
bool number_greater_or_equal(double a, double b) { return a >= b; }

std::optional<bool> truth_and(const Dim& a, const Dim& b) {
    if (a == Dim(0) || b == Dim(0)) return false;
    return a == Dim(1) && b == Dim(1) ? std::optional(true) : std::nullopt;
}

std::optional<bool> truth_or(const Dim& a, const Dim& b) {
    if (a == Dim(1) || b == Dim(1)) return true;
    return a == Dim(0) && b == Dim(0) ? std::optional(false) : std::nullopt;
}

std::optional<bool> truth_xor(const Dim& a, const Dim& b) {
    const std::optional<bool> is_equal = size_equal(a, b);
    return is_equal.has_value() ? std::optional(!*is_equal) : std::nullopt;
}

/// Compares known tensors; false if the relation of two elements is not the same for all sizes.
template <SizeRelation sizes, NumberRelation numbers>
bool fold_comparison(Node& node) {
    const Known &a = node.require_known(0, "A"), &b = node.require_known(1, "B");
    const auto dims = broadcast_dims(a.dims, b.dims);
    if (a.type != b.type || !dims.has_value() || elements_of(*dims) > most_known_elements) return false;
    const Known left = broadcast_to(a, *dims), right = broadcast_to(b, *dims);
    Known result{ElementType::boolean, *dims, {}, {}};
    for (std::size_t i = 0; i < left.count(); ++i) {
        const std::optional<bool> truth = left.is_float() ? std::optional(numbers(left.floats[i], right.floats[i]))
                                                          : sizes(left.integers[i], right.integers[i]);
        if (!truth.has_value()) return false;
        result.integers.emplace_back(*truth ? 1 : 0);
    }
    node.set(0, std::move(result));
    return true;
}

void make_not(Node& node) { node.set(0, !node.tensor(0)); }

bool fold_not(Node& node) {
    Known result = node.require_known(0, "X");
    if (result.type != ElementType::boolean || !result.is_constant()) return false;
    for (Dim& value : result.integers) value = value == Dim(0) ? 1 : 0;
    node.set(0, std::move(result));
    return true;
}

constexpr double comparison_infinity = std::numeric_limits<double>::infinity();

/// The bytes of floats of 8 bits without their sign; empty for other types.
std::optional<Tensor> magnitude_bits(const Node& node) {
    switch (node.type(0)) {
        case ElementType::f8_e4m3fn:
        case ElementType::f8_e5m2: return bitwise_and(node.held(0), 0x7f);
        case ElementType::f8_e4m3fnuz:
        case ElementType::f8_e5m2fnuz: return node.held(0);
        default: return std::nullopt;
    }
}

void make_is_nan(Node& node) {
    if (const std::optional<Tensor> bits = magnitude_bits(node)) {
        const ElementType type = node.type(0);
        return node.set(0, type == ElementType::f8_e4m3fn ? *bits == 0x7f
                           : type == ElementType::f8_e5m2 ? *bits > 0x7c
                                                          : *bits == 0x80);
    }
    const Tensor x = node.tensor(0);
    node.set(0, x != x);
}

void make_is_inf(Node& node) {
    const bool positive = node.integer("detect_positive", 1) != 0, negative = node.integer("detect_negative", 1) != 0;
    if (magnitude_bits(node).has_value()) {
        const Tensor bits = node.held(0);
        const bool has_infinities = node.type(0) == ElementType::f8_e5m2;
        const Tensor is_positive = has_infinities && positive ? bits == 0x7c : bits != bits;
        return node.set(0, has_infinities && negative ? is_positive || bits == 0xfc : is_positive);
    }
    const Tensor x = node.tensor(0);
    if (positive && negative) return node.set(0, abs(x) == comparison_infinity);
    if (positive || negative) return node.set(0, x == (positive ? comparison_infinity : -comparison_infinity));
    node.set(0, broadcast(node.graph().constant(DType::boolean, 0), x.shape()));
}

constexpr std::array<Operator, 11> comparison_rows{
    {{"Equal", 7, make_comparison<eq>, fold_comparison<size_equal, number_equal>},
     {"Less", 7, make_comparison<lt>, fold_comparison<size_less, number_less>},
     {"LessOrEqual", 12, make_comparison<le>, fold_comparison<size_less_or_equal, number_less_or_equal>},
     {"Greater", 7, make_comparison<gt>, fold_comparison<size_greater, number_greater>},
     {"GreaterOrEqual", 12, make_comparison<ge>, fold_comparison<size_greater_or_equal, number_greater_or_equal>},
     {"And", 7, make_comparison<logical_and>, fold_comparison<truth_and, number_equal>},
     {"Or", 7, make_comparison<logical_or>, fold_comparison<truth_or, number_equal>},
     {"Xor", 7, make_comparison<logical_xor>, fold_comparison<truth_xor, number_equal>},
     {"Not", 1, make_not, fold_not},
     {"IsNaN", 9, make_is_nan},
     {"IsInf", 10, make_is_inf}}};

}  // namespace

std::span<const Operator> comparison_operators() { return comparison_rows; }

}  // namespace cairn::inline v0::onnx
