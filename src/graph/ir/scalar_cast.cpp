#include "graph/ir/scalar_cast.hpp"

#include "graph/types/half.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace cairn::ir {
namespace {

/// 2^n, for n in -1022..1023.
double power_of_two(int n) noexcept { return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + n) << 52); }

// Rounds to `digits` significant bits, nearest even, in a format whose smallest normal number has the frexp exponent
// `low` and whose largest finite value is `largest`. Rounding directly from double avoids the double rounding of a
// conversion via float.
double round_bits(double value, int digits, int low, double largest) noexcept {
    if (!std::isfinite(value) || value == 0) return value;
    int exponent = 0;
    std::frexp(value, &exponent);
    const int last = std::max(exponent - digits, low - digits);
    const double rounded = std::nearbyint(value * power_of_two(-last)) * power_of_two(last);
    return std::fabs(rounded) > largest ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
}

}  // namespace

std::int64_t lowest_integer(DType dtype) noexcept {
    switch (dtype) {
        case DType::i64: return std::numeric_limits<std::int64_t>::min();
        case DType::i32: return std::numeric_limits<std::int32_t>::min();
        case DType::i8: return -128;
        default: return 0;
    }
}

std::int64_t highest_integer(DType dtype) noexcept {
    switch (dtype) {
        case DType::i64: return std::numeric_limits<std::int64_t>::max();
        case DType::i32: return std::numeric_limits<std::int32_t>::max();
        case DType::i8: return 127;
        case DType::u8: return 255;
        default: return 1;
    }
}

std::int64_t truncate_to(DType dtype, double value) noexcept {
    if (dtype == DType::boolean) return value != 0 ? 1 : 0;
    if (std::isnan(value)) return 0;
    const std::int64_t low = lowest_integer(dtype), high = highest_integer(dtype);
    if (value <= static_cast<double>(low)) return low;
    if (value >= static_cast<double>(high)) return high;
    return static_cast<std::int64_t>(value);
}

std::int64_t wrap_to(DType dtype, std::int64_t value) noexcept {
    switch (dtype) {
        case DType::i32: return static_cast<std::int32_t>(value);
        case DType::i8: return static_cast<std::int8_t>(value);
        case DType::u8: return static_cast<std::uint8_t>(value);
        case DType::boolean: return value != 0 ? 1 : 0;
        default: return value;
    }
}

std::int64_t saturate_to(DType dtype, std::int64_t value) noexcept {
    if (dtype == DType::boolean) return value != 0 ? 1 : 0;
    return std::min(std::max(value, lowest_integer(dtype)), highest_integer(dtype));
}

double round_to(DType dtype, double value) noexcept {
    if (std::isnan(value) && is_float(dtype)) return std::numeric_limits<double>::quiet_NaN();
    switch (dtype) {
        case DType::f64: return value;
        case DType::f32: return static_cast<float>(value);
        case DType::f16: return round_bits(value, 11, -13, 65504.0);
        case DType::bf16: return round_bits(value, 8, -125, 0x1.fep127);
        default: return static_cast<double>(truncate_to(dtype, value));
    }
}

double round_integer(DType dtype, std::int64_t value) noexcept {
    // Conversion via the nearest double would round the last bits of a large integer twice.
    return dtype == DType::f64 ? static_cast<double>(value) : round_to(dtype, types::i64_to_f64_odd(value));
}

bool can_hold(DType dtype, double value) noexcept {
    if (is_float(dtype)) return true;
    if (dtype == DType::boolean) return value == 0 || value == 1;
    return std::trunc(value) == value && value >= static_cast<double>(lowest_integer(dtype)) &&
           (dtype == DType::i64 ? value < 0x1p63 : value <= static_cast<double>(highest_integer(dtype)));
}

bool can_hold_integer(DType dtype, std::int64_t value) noexcept {
    return is_float(dtype) || (value >= lowest_integer(dtype) && value <= highest_integer(dtype));
}

bool is_exact_double(std::int64_t value) noexcept {
    const auto nearest = static_cast<double>(value);
    return nearest < 0x1p63 && static_cast<std::int64_t>(nearest) == value;
}

}  // namespace cairn::ir
