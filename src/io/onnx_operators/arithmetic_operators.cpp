#include "io/onnx_operators/operators.hpp"

#include "io/onnx_node/known_index.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

/// Arithmetic of two operands, and conversions of the element type.
namespace cairn::inline v0::onnx {
namespace {

/// Evaluates an operation of two known operands element by element. `integral` may give nothing.
template <typename Integral, typename Real>
bool fold_binary(Node& node, Integral integral, Real real) {
    const Known &a = node.elements(0), &b = node.elements(1);
    const auto dims = broadcast_dims(a.dims, b.dims);
    if (!dims.has_value() || a.type != b.type || elements_of(*dims) > most_known_elements) return false;
    const Known x = broadcast_to(a, *dims), y = broadcast_to(b, *dims);
    Known result{a.type, *dims, {}, {}};
    for (std::size_t i = 0; i < x.count(); ++i) {
        if (x.is_float()) {
            result.floats.push_back(rounded_to(a.type, real(x.floats[i], y.floats[i])));
            continue;
        }
        const std::optional<Dim> value = integral(x.integers[i], y.integers[i]);
        if (!value.has_value()) return false;
        result.integers.push_back(value->is_constant() ? Dim(wrapped_to(a.type, value->constant())) : *value);
    }
    node.set(0, std::move(result));
    return true;
}

bool fold_add(Node& node) {
    return fold_binary(node, wrapping_sum, [](double a, double b) { return a + b; });
}

bool fold_sub(Node& node) {
    return fold_binary(node, wrapping_difference, [](double a, double b) { return a - b; });
}

bool fold_mul(Node& node) {
    return fold_binary(node, wrapping_product, [](double a, double b) { return a * b; });
}

/// The division of integers truncates: that of sizes is the floor where both are known not to be negative.
std::optional<Dim> quotient(const Dim& a, const Dim& b) {
    if (a.is_constant() && b.is_constant()) {
        if (b == Dim(0)) return std::nullopt;
        return b == Dim(-1) ? wrapping_difference(0, a) : Dim(a.constant() / b.constant());
    }
    return provably_le(0, a) && provably_le(1, b) ? std::optional(a / b) : std::nullopt;
}

bool fold_div(Node& node) {
    return fold_binary(node, quotient, [](double a, double b) { return a / b; });
}

/// The remainder of integers has the sign of the divisor, as in Python.
std::optional<Dim> remainder(const Dim& a, const Dim& b) {
    if (!a.is_constant() || !b.is_constant())
        return provably_le(0, a) && provably_le(1, b) ? std::optional(a % b) : std::nullopt;
    const std::int64_t divisor = b.constant();
    if (divisor == 0) return std::nullopt;
    if (divisor == -1) return 0;
    const std::int64_t rest = a.constant() % divisor;
    return rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest;
}

bool fold_mod(Node& node) {
    if (node.integer("fmod", 0) != 0 || node.elements(0).is_float()) return false;
    return fold_binary(node, remainder, [](double a, double) { return a; });
}

bool fold_pow(Node& node) {
    if (!node.elements(0).is_float() || !node.elements(1).is_float()) return false;
    const auto none = [](const Dim&, const Dim&) { return std::optional<Dim>(); };
    return fold_binary(node, none, [](double a, double b) { return std::pow(a, b); });
}

void make_add(Node& node) { node.set(0, add(node.tensor(0), node.tensor(1))); }
void make_sub(Node& node) { node.set(0, sub(node.tensor(0), node.tensor(1))); }
void make_mul(Node& node) { node.set(0, mul(node.tensor(0), node.tensor(1))); }
void make_div(Node& node) { node.set(0, div(node.tensor(0), node.tensor(1))); }

/// The remainder of the quotient rounded toward zero, exact as C's fmod: a long division by b * 2^24k in f64, in which
/// each partial quotient times b is exact.
Tensor float_remainder(const Tensor& a, const Tensor& b) {
    const DType dtype = a.dtype();
    const Tensor x = cast(a, DType::f64), y = abs(cast(b, DType::f64));
    Tensor rest = abs(x);
    // f32 has quotients up to 2^277, f16 up to 2^40.
    for (int step = dtype == DType::f16 ? 1 : 11; step >= 0; --step) {
        const Tensor divisor = y * std::ldexp(1.0, 24 * step);
        const Tensor next = rest - floor(rest / divisor) * divisor;
        rest = where(rest < divisor, rest, next);
    }
    // The arithmetic gives NaN for an infinite x and for a divisor of zero, and a finite x for an infinite one. A
    // result of zero has the sign of x.
    return where(rest == 0, a * 0.0, cast(where(x < 0, neg(rest), rest), dtype));
}

Tensor integer_remainder(const Tensor& a, const Tensor& b) { return a - div(a, b) * b; }

void make_mod(Node& node) {
    const Tensor a = node.tensor(0), b = node.tensor(1);
    const bool is_fmod = node.integer("fmod", 0) != 0;
    if (is_float(a.dtype())) {
        if (a.dtype() == DType::f64) node.refuse("the exact remainder of f64 is not supported");
        const Tensor rest = float_remainder(a, b);
        if (is_fmod) return node.set(0, rest);
        // As Python's modulo: the sign of the divisor.
        const Tensor differs = logical_xor(rest < 0, b < 0) && rest != 0;
        return node.set(0, where(differs, rest + b, rest));
    }
    const Tensor rest = integer_remainder(a, b);
    if (is_fmod || a.dtype() == DType::u8) return node.set(0, rest);
    node.set(0, where((rest != 0) && logical_xor(rest < 0, b < 0), rest + b, rest));
}

/// Powers of integers by squaring, modulo 2^bits. Negative exponents round toward zero.
Tensor integer_power(Tensor base, const Tensor& exponent) {
    const DType dtype = base.dtype();
    const Tensor first = base;
    Tensor rest = cast(exponent, DType::i64), result = cast(rest * 0 + 1, dtype);
    const int steps = exponent.dtype() == DType::i64 ? 63 : exponent.dtype() == DType::i32 ? 31 : 8;
    for (int step = 0; step < steps; ++step) {
        result = where(bitwise_and(rest, 1) != 0, result * base, result);
        base = base * base;
        rest = rest / 2;
    }
    if (exponent.dtype() == DType::u8) return result;
    const Tensor is_odd = bitwise_and(cast(exponent, DType::i64), 1) != 0;
    Tensor inverse = where(first == 1, first, first * 0);
    if (dtype != DType::u8) inverse = where(first == -1, where(is_odd, first, first * first), inverse);
    return where(exponent < 0, inverse, result);
}

void make_pow(Node& node) {
    const Tensor base = node.tensor(0);
    const Tensor exponent = node.tensor(1);
    if (is_float(base.dtype())) return node.set(0, pow(base, cast(exponent, base.dtype())));
    if (!is_float(exponent.dtype())) return node.set(0, integer_power(base, exponent));
    node.set(0, cast(pow(cast(base, DType::f64), cast(exponent, DType::f64)), base.dtype()));
}

Known converted(const Known& from, ElementType to) {
    Known result{to, from.dims, {}, {}};
    for (std::size_t i = 0; i < from.count(); ++i) {
        if (result.is_float()) {
            const double value = from.is_float() ? from.floats[i] : static_cast<double>(from.integers[i].constant());
            result.floats.push_back(rounded_to(to, value));
        } else if (from.is_float()) {
            const double value = from.floats[i];
            result.integers.emplace_back(to == ElementType::boolean ? std::int64_t{value != 0}
                                                                    : static_cast<std::int64_t>(value));
        } else {
            const Dim& value = from.integers[i];
            result.integers.push_back(value.is_constant() ? Dim(wrapped_to(to, value.constant())) : value);
        }
    }
    return result;
}

bool fold_conversion(Node& node, ElementType to) {
    const Known& from = node.elements(0);
    if (to == from.type) {
        node.set(0, node.value_ptr(0));
        return true;
    }
    const bool is_wide = to == ElementType::i64 || to == ElementType::i32;
    if (!is_float_type(to) && !is_integer_type(to) && to != ElementType::boolean) return false;
    if (!from.is_float() && !from.is_constant() && !is_wide) return false;
    // Floats outside the integers of the type are left to the cast of tensors.
    for (const double value : from.floats)
        if (!is_float_type(to) &&
            !(std::fabs(value) < 2e9 &&
              wrapped_to(to, static_cast<std::int64_t>(value)) == static_cast<std::int64_t>(value)) &&
            to != ElementType::boolean)
            return false;
    node.set(0, converted(from, to));
    return true;
}

void make_conversion(Node& node, ElementType to) { node.set(0, cast(node.tensor(0), require_dtype(to))); }

/// The attribute `to`, which must be given.
ElementType type_of_cast(const Node& node) {
    node.integer("to");
    return node.element_type("to", ElementType::undefined);
}

void make_cast(Node& node) { make_conversion(node, type_of_cast(node)); }
bool fold_cast(Node& node) { return fold_conversion(node, type_of_cast(node)); }
void make_cast_like(Node& node) { make_conversion(node, node.type(1)); }
bool fold_cast_like(Node& node) { return fold_conversion(node, node.type(1)); }

constexpr std::array<Operator, 8> arithmetic_rows{{{"Add", 7, make_add, fold_add},
                                                   {"Sub", 7, make_sub, fold_sub},
                                                   {"Mul", 7, make_mul, fold_mul},
                                                   {"Div", 7, make_div, fold_div},
                                                   {"Mod", 10, make_mod, fold_mod},
                                                   {"Pow", 7, make_pow, fold_pow},
                                                   {"Cast", 6, make_cast, fold_cast},
                                                   {"CastLike", 15, make_cast_like, fold_cast_like}}};

}  // namespace

std::span<const Operator> arithmetic_operators() { return arithmetic_rows; }

}  // namespace cairn::inline v0::onnx
