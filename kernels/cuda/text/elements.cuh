// Arithmetic of elements with the results of the reference kernels: every operation is rounded to its type and never
// contracted, integers wrap, division of an integer by zero gives 0. f16 and bf16 are computed as f32.

#ifdef CAIRN_EMULATED
CAIRN_DEVICE double rounded_sum(double x, double y) { return x + y; }
CAIRN_DEVICE double rounded_product(double x, double y) { return x * y; }
#else
CAIRN_DEVICE double rounded_sum(double x, double y) { return __dadd_rn(x, y); }
CAIRN_DEVICE double rounded_product(double x, double y) { return __dmul_rn(x, y); }
#endif

template <class T>
CAIRN_DEVICE T element_neg(T x) {
    return T(u64(0) - u64(x));
}
template <class T>
CAIRN_DEVICE T element_add(T x, T y) {
    return T(u64(x) + u64(y));
}
template <class T>
CAIRN_DEVICE T element_sub(T x, T y) {
    return T(u64(x) - u64(y));
}
template <class T>
CAIRN_DEVICE T element_mul(T x, T y) {
    return T(u64(x) * u64(y));
}
template <class T>
CAIRN_DEVICE T element_div(T x, T y) {
    if (y == T(0)) return T(0);
    if (T(-1) < T(0) && y == T(-1)) return element_neg(x);
    return T(x / y);
}
template <class T>
CAIRN_DEVICE T element_abs(T x) {
    return x < T(0) ? element_neg(x) : x;
}

CAIRN_DEVICE float element_neg(float x) { return -x; }
CAIRN_DEVICE float element_add(float x, float y) { return __fadd_rn(x, y); }
CAIRN_DEVICE float element_sub(float x, float y) { return __fsub_rn(x, y); }
CAIRN_DEVICE float element_mul(float x, float y) { return __fmul_rn(x, y); }
CAIRN_DEVICE float element_div(float x, float y) { return __fdiv_rn(x, y); }
CAIRN_DEVICE float element_abs(float x) { return fabsf(x); }
CAIRN_DEVICE double element_neg(double x) { return -x; }
CAIRN_DEVICE double element_add(double x, double y) { return rounded_sum(x, y); }
CAIRN_DEVICE double element_sub(double x, double y) { return rounded_sum(x, -y); }
CAIRN_DEVICE double element_mul(double x, double y) { return rounded_product(x, y); }
CAIRN_DEVICE double element_div(double x, double y) { return x / y; }
CAIRN_DEVICE double element_abs(double x) { return fabs(x); }

/// NaN if either operand is NaN.
template <class T>
CAIRN_DEVICE T element_min(T x, T y) {
    return x < y || x != x ? x : y;
}
template <class T>
CAIRN_DEVICE T element_max(T x, T y) {
    return x > y || x != x ? x : y;
}

CAIRN_DEVICE float element_exp(float x) { return expf(x); }
CAIRN_DEVICE float element_log(float x) { return logf(x); }
CAIRN_DEVICE float element_sqrt(float x) { return __fsqrt_rn(x); }
CAIRN_DEVICE float element_rsqrt(float x) { return __fdiv_rn(1.0f, __fsqrt_rn(x)); }
CAIRN_DEVICE float element_sin(float x) { return sinf(x); }
CAIRN_DEVICE float element_cos(float x) { return cosf(x); }
CAIRN_DEVICE float element_tanh(float x) { return tanhf(x); }
CAIRN_DEVICE float element_erf(float x) { return erff(x); }
CAIRN_DEVICE float element_floor(float x) { return floorf(x); }
CAIRN_DEVICE float element_pow(float x, float y) { return powf(x, y); }
CAIRN_DEVICE double element_exp(double x) { return exp(x); }
CAIRN_DEVICE double element_log(double x) { return log(x); }
CAIRN_DEVICE double element_sqrt(double x) { return sqrt(x); }
CAIRN_DEVICE double element_rsqrt(double x) { return 1.0 / sqrt(x); }
CAIRN_DEVICE double element_tanh(double x) { return tanh(x); }
CAIRN_DEVICE double element_erf(double x) { return erf(x); }
CAIRN_DEVICE double element_floor(double x) { return floor(x); }
CAIRN_DEVICE double element_pow(double x, double y) { return pow(x, y); }

// Activations that are steps of a body. Forms without cancellation are equal to their definitions.
CAIRN_DEVICE float element_relu(float x) { return element_max(x, 0.0f); }
CAIRN_DEVICE float element_sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
CAIRN_DEVICE float element_silu(float x) { return x / (1.0f + expf(-x)); }
CAIRN_DEVICE float element_gelu(float x) { return 0.5f * x * erfcf(-0.70710678118654752f * x); }
/// As x times the sigmoid of twice the argument of tanh.
CAIRN_DEVICE float element_gelu_tanh(float x) {
    return x / (1.0f + expf(-1.5957691216057308f * (x + 0.044715f * x * x * x)));
}
