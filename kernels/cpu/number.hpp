#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

/// The scalar type on which the formulas of elementwise ops are evaluated (element_ops.hpp).
namespace cairn::kernels::cpu {

/// A float with the functions of <cmath>, or an integer that wraps modulo 2^bits. Its functions are found by
/// argument-dependent lookup, so one formula serves scalars and vectors.
///
///     Number<std::int32_t>{x} + Number<std::int32_t>{y}      // no overflow
template <typename T>
struct Number {
    T value;

    static constexpr bool is_whole = std::is_integral_v<T>;
    using Bits = typename std::conditional_t<is_whole, std::make_unsigned<T>, std::type_identity<T>>::type;

    Number(T number) : value(number) {}
    Bits bits() const { return static_cast<Bits>(value); }
    static Number of(Bits bits) { return Number(static_cast<T>(bits)); }
    explicit operator bool() const { return value != 0; }

    friend Number operator-(Number x) {
        if constexpr (is_whole)
            return of(0 - x.bits());
        else
            return -x.value;
    }
    friend Number operator+(Number x, Number y) { return of(x.bits() + y.bits()); }
    friend Number operator-(Number x, Number y) { return of(x.bits() - y.bits()); }
    friend Number operator*(Number x, Number y) { return of(x.bits() * y.bits()); }
    /// Integer division truncates toward zero; division by zero gives 0.
    friend Number operator/(Number x, Number y) {
        if constexpr (is_whole) {
            if (y.value == 0) return T{0};
            if (y.value == -1) return -x;
        }
        return x.value / y.value;
    }
    friend Number operator&(Number x, Number y) { return of(x.bits() & y.bits()); }
    friend bool operator==(Number x, Number y) { return x.value == y.value; }
    friend bool operator<(Number x, Number y) { return x.value < y.value; }
    friend bool operator<=(Number x, Number y) { return x.value <= y.value; }
    friend bool operator>(Number x, Number y) { return x.value > y.value; }
    friend bool operator>=(Number x, Number y) { return x.value >= y.value; }

    /// NaN if either operand is NaN.
    friend Number min(Number x, Number y) { return x.value < y.value || x.value != x.value ? x : y; }
    friend Number max(Number x, Number y) { return x.value > y.value || x.value != x.value ? x : y; }
    friend Number abs(Number x) {
        if constexpr (is_whole)
            return x.value < 0 ? -x : x;
        else
            return std::fabs(x.value);
    }

    friend Number exp(Number x) { return std::exp(x.value); }
    friend Number log(Number x) { return std::log(x.value); }
    friend Number sqrt(Number x) { return std::sqrt(x.value); }
    friend Number sin(Number x) { return std::sin(x.value); }
    friend Number cos(Number x) { return std::cos(x.value); }
    friend Number tanh(Number x) { return std::tanh(x.value); }
    friend Number erf(Number x) { return std::erf(x.value); }
    friend Number floor(Number x) { return std::floor(x.value); }
    friend Number pow(Number x, Number y) { return std::pow(x.value, y.value); }
    /// f(x); the vector overloads apply f to each lane.
    template <typename F>
    friend Number for_each_lane(Number x, F f) {
        return f(x.value);
    }
};

}  // namespace cairn::kernels::cpu
