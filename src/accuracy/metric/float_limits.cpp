#include "accuracy/metric/float_limits.hpp"

#include "cairn/error.hpp"

#include <cmath>

namespace cairn::accuracy {
namespace {

struct Limits {
    double roundoff, smallest, largest;
};

Limits limits_of(DType dtype) {
    switch (dtype) {
        case DType::f64: return {0x1p-53, 0x1p-1022, 0x1.fffffffffffffp1023};
        case DType::f32: return {0x1p-24, 0x1p-126, 0x1.fffffep127};
        case DType::f16: return {0x1p-11, 0x1p-14, 65504};
        case DType::bf16: return {0x1p-8, 0x1p-126, 0x1.fep127};
        case DType::i64:
        case DType::i32:
        case DType::i8:
        case DType::u8:
        case DType::boolean: break;
    }
    throw InternalError("accuracy", "integers have no unit roundoff");
}

}  // namespace

double unit_roundoff(DType dtype) { return limits_of(dtype).roundoff; }
double smallest_normal(DType dtype) { return limits_of(dtype).smallest; }
double largest_finite(DType dtype) { return limits_of(dtype).largest; }

bool is_too_large(double number, DType dtype) {
    return std::fabs(number) >= largest_finite(dtype) * (1 - 16 * unit_roundoff(dtype));
}

bool is_overflow(double y, double r, DType dtype) {
    return std::isinf(y) && std::signbit(y) == std::signbit(r) && is_too_large(r, dtype);
}

bool is_valid_error_bound(double error) { return error >= 0 && std::isfinite(error); }

}  // namespace cairn::accuracy
