#include "io/onnx_operators/elementwise_functions.hpp"

#include <cstddef>
#include <numbers>
#include <span>

namespace cairn::inline v0::onnx {
namespace {

// P of atan(s) = s + s z P(z) with z = s^2, 0 <= s <= tan(pi/8): minimax fits of the relative error (Remez exchange in
// 50 digits). Errors: 6.8e-10 and 1.3e-18.
constexpr double atan_f32[] = {-0.3333331518836310402, 0.1999847150251728789, -0.1424353311686951053,
                               0.1059381210455511647, -0.06078217366727776844};
constexpr double atan_f64[] = {-0.3333333333333319617,  0.1999999999995324751,   -0.1428571428016657808,
                               0.1111111078215577507,   -0.09090897725269626744, 0.07692059717657912981,
                               -0.06663099205303561099, 0.05847859277108219873,  -0.05039190412028234568,
                               0.03806213881803785498,  -0.01790503759128077899};

/// From here on x^2 + 1 is x^2, and asinh(x) is log(2 x).
constexpr double inverse_large = 0x1p28;

Tensor elementwise_polynomial(const Tensor& z, std::span<const double> coefficients) {
    Tensor p = z * coefficients.back() + coefficients[coefficients.size() - 2];
    for (std::size_t i = coefficients.size() - 2; i-- > 0;) p = p * z + coefficients[i];
    return p;
}

/// An odd function of x from its values at |x|: NaN and the zeros of both signs are x itself.
Tensor elementwise_odd(const Tensor& x, const Tensor& positive) {
    const Tensor is_negative = x < 0, negative = where(is_negative, -positive, x);
    return where(x > 0, positive, negative);
}

}  // namespace

Tensor exp_minus_one_below_zero(const Tensor& x) {
    const Tensor t = tanh(x * 0.5), twice = t * 2;
    return twice / (1 - t);
}

// The quotient makes up for the rounding of 1 + x (Kahan; Goldberg, ACM Computing Surveys 23(1), 1991, theorem 4).
Tensor log_one_plus(const Tensor& x) {
    const Tensor w = x + 1, logarithm = log(w);
    const Tensor is_tiny = w == 1;
    const Tensor corrected = where(is_tiny, x, logarithm * (x / (w - 1)));
    return where(x < 1, corrected, logarithm);
}

Tensor tan_of(const Tensor& x) {
    const Tensor sine = sin(x);
    return sine / cos(x);
}

// e^(x/2) squared overflows only where sinh does; near 0 the exponentials would cancel.
Tensor sinh_of(const Tensor& x) {
    const Tensor a = abs(x), t = tanh(x * 0.5), h = exp(a * 0.5);
    const Tensor twice = t * 2, near = twice / (1 - t * t);
    const Tensor growing = h * 0.5 * h, falling = 0.5 / h / h;
    const Tensor far = elementwise_odd(x, growing - falling);
    return where(a < 1, near, far);
}

Tensor cosh_of(const Tensor& x) {
    const Tensor h = exp(abs(x) * 0.5);
    const Tensor growing = h * 0.5 * h, falling = 0.5 / h / h;
    return growing + falling;
}

// Arguments above 1 are inverted, those above tan(pi/8) rotated by pi/4.
Tensor atan_of(const Tensor& x) {
    const Tensor a = abs(x);
    const Tensor is_inverted = a > 1;
    const Tensor r = where(is_inverted, 1 / a, a);
    const Tensor is_rotated = r > std::numbers::sqrt2 - 1;
    const Tensor below = r - 1;
    const Tensor s = where(is_rotated, below / (r + 1), r);
    const Tensor z = s * s;
    const Tensor p =
        x.dtype() == DType::f64 ? elementwise_polynomial(z, atan_f64) : elementwise_polynomial(z, atan_f32);
    const Tensor angle = s + s * (z * p);
    const Tensor rotated = where(is_rotated, angle + std::numbers::pi / 4, angle);
    return elementwise_odd(x, where(is_inverted, std::numbers::pi / 2 - rotated, rotated));
}

// The opposite side over the adjacent one; both factors of the latter are accurate near 1.
Tensor asin_of(const Tensor& x) {
    const Tensor below = 1 - x, above = 1 + x;
    return atan_of(x / sqrt(below * above));
}

// The half angle, whose tangent does not cancel anywhere.
Tensor acos_of(const Tensor& x) {
    const Tensor below = 1 - x, above = 1 + x;
    return atan_of(sqrt(below / above)) * 2;
}

// log(a + sqrt(a^2 + 1)), written as log(1 + u).
Tensor asinh_of(const Tensor& x) {
    const Tensor a = abs(x), square = a * a;
    const Tensor u = a + square / (1 + sqrt(square + 1));
    const Tensor moderate = log_one_plus(u), large = log(a) + std::numbers::ln2;
    return elementwise_odd(x, where(a < inverse_large, moderate, large));
}

// log(x + sqrt(x^2 - 1)) with t = x - 1; the square root of a negative t makes it NaN below 1.
Tensor acosh_of(const Tensor& x) {
    const Tensor t = x - 1, root = sqrt(t);
    const Tensor moderate = log_one_plus(t + root * sqrt(t + 2)), large = log(x) + std::numbers::ln2;
    return where(x > inverse_large, large, moderate);
}

Tensor atanh_of(const Tensor& x) {
    const Tensor a = abs(x);
    const Tensor twice = a * 2;
    return elementwise_odd(x, log_one_plus(twice / (1 - a)) * 0.5);
}

}  // namespace cairn::inline v0::onnx
