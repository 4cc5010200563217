#include "io/onnx_operators/small_floats.hpp"

#include "cairn/composites.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace cairn::inline v0::onnx {
namespace {

/// A float of a sign, an exponent and a mantissa, from the highest bit on.
struct SmallFloat {
    ElementType type;
    int bits, mantissa, bias;
    int largest;   ///< magnitude bits of the largest finite value
    int overflow;  ///< bits, without a sign, of what is larger
    int nan;       ///< those of NaN
    bool has_negative_zero = true;
};

constexpr std::array<SmallFloat, 5> small_floats{{{ElementType::f8_e4m3fn, 8, 3, 7, 0x7e, 0x7f, 0x7f},
                                                  {ElementType::f8_e4m3fnuz, 8, 3, 8, 0x7f, 0x80, 0x80, false},
                                                  {ElementType::f8_e5m2, 8, 2, 15, 0x7b, 0x7c, 0x7f},
                                                  {ElementType::f8_e5m2fnuz, 8, 2, 16, 0x7f, 0x80, 0x80, false},
                                                  {ElementType::f4_e2m1, 4, 1, 1, 0x7, 0x7, 0x7}}};

const SmallFloat* find_small_float(ElementType type) noexcept {
    for (const SmallFloat& format : small_floats)
        if (format.type == type) return &format;
    return nullptr;
}

double value_of_bits(const SmallFloat& format, int code) {
    const int sign = code >> (format.bits - 1), magnitude = code & ((1 << (format.bits - 1)) - 1);
    if (!format.has_negative_zero && code == format.nan) return std::numeric_limits<double>::quiet_NaN();
    if (format.type == ElementType::f8_e5m2 && magnitude == format.overflow) return sign != 0 ? -HUGE_VAL : HUGE_VAL;
    if (magnitude > format.largest) return std::numeric_limits<double>::quiet_NaN();
    const int exponent = magnitude >> format.mantissa, fraction = magnitude & ((1 << format.mantissa) - 1);
    const double value = exponent == 0
                             ? std::ldexp(fraction, 1 - format.bias - format.mantissa)
                             : std::ldexp((1 << format.mantissa) + fraction, exponent - format.bias - format.mantissa);
    return sign != 0 ? -value : value;
}

/// All values in the order of their bits. FLOAT8E8M0: 2^(bits - 127), the last one NaN.
std::vector<double> values_of(ElementType type) {
    std::vector<double> values;
    if (const SmallFloat* const format = find_small_float(type))
        for (int code = 0; code < 1 << format->bits; ++code) values.push_back(value_of_bits(*format, code));
    else
        for (int code = 0; code < 256; ++code)
            values.push_back(code < 255 ? std::ldexp(1, code - 127) : std::numeric_limits<double>::quiet_NaN());
    return values;
}

}  // namespace

bool is_small_float(ElementType type) noexcept {
    return type == ElementType::f8_e8m0 || find_small_float(type) != nullptr;
}

Tensor small_float_values(const Tensor& bits, ElementType type) {
    const std::vector<double> values = values_of(type);
    // All but FLOAT8E8M0 are exact in f16: a weight that is gathered from such a table may be kept in 16 bits.
    const DType dtype = type == ElementType::f8_e8m0 ? DType::f32 : DType::f16;
    const Tensor table = Graph(bits.graph()).constant(dtype, {static_cast<std::int64_t>(values.size())}, values);
    const Tensor gathered = gather(table, cast(bits, DType::i32), 0);
    return dtype == DType::f32 ? gathered : cast(gathered, DType::f32);
}

Tensor small_float_bits(const Tensor& x, ElementType type, bool saturate) {
    const SmallFloat& format = *find_small_float(type);
    const std::int64_t dropped = std::int64_t{1} << (23 - format.mantissa);
    const Tensor magnitude = bitwise_and(bitcast(x, DType::i32), std::int32_t{0x7fffffff});
    // Normal values: the exponent of f32 less the difference of the biases, which the carry of rounding may raise.
    const Tensor is_odd = bitwise_and(magnitude / dropped, 1);
    const Tensor normal = (magnitude + (dropped / 2 - 1) + is_odd) / dropped - ((127 - format.bias) << format.mantissa);
    // Smaller ones are multiples of the smallest value.
    const Tensor in_units = abs(x) * std::ldexp(1.0, format.bias - 1 + format.mantissa);
    const Tensor is_normal = magnitude >= std::int64_t{128 - format.bias} << 23;
    const Tensor rounded = where(is_normal, normal, cast(round(in_units), DType::i32));
    const Tensor code = where(rounded > format.largest, saturate ? format.largest : format.overflow, rounded);
    const int sign = 1 << (format.bits - 1);
    const Tensor is_negative = bitcast(x, DType::i32) < 0;
    const Tensor has_sign = format.has_negative_zero ? is_negative : is_negative && code != 0 && code < sign;
    return cast(where(x != x, format.nan, where(has_sign, code + sign, code)), DType::u8);
}

}  // namespace cairn::inline v0::onnx
