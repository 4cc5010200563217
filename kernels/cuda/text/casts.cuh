// Conversions of elements with the results of `cast`: floats are rounded to nearest, ties to even; conversion to an
// integer truncates and saturates, NaN becomes 0; conversion to boolean is x != 0.

template <class T>
constexpr bool is_whole_type = true;
template <>
constexpr bool is_whole_type<float> = false;
template <>
constexpr bool is_whole_type<double> = false;
template <class T>
constexpr bool is_boolean_type = false;
template <>
constexpr bool is_boolean_type<bool> = true;

template <class T>
constexpr i64 largest_whole = T(-1) < T(0) ? i64((u64(1) << (8 * sizeof(T) - 1)) - 1) : i64(T(-1));
template <class T>
constexpr i64 smallest_whole = T(-1) < T(0) ? -largest_whole<T> - 1 : 0;

template <class To, class From>
CAIRN_DEVICE To element_cast(From x) {
    if constexpr (is_boolean_type<To>) {
        return x != From(0);
    } else if constexpr (!is_whole_type<To>) {
        return To(x);
    } else if constexpr (!is_whole_type<From>) {
        if (x != x) return To(0);
        if (x <= From(smallest_whole<To>)) return To(smallest_whole<To>);
        if (x >= From(largest_whole<To>)) return To(largest_whole<To>);
        return To(x);
    } else {
        const i64 value = i64(x);
        return value < smallest_whole<To> ? To(smallest_whole<To>)
               : value > largest_whole<To> ? To(largest_whole<To>)
                                           : To(value);
    }
}

/// A float from which rounding to fewer bits gives what rounding x at once gives: exact, or truncated with the last bit
/// set (round to odd).
CAIRN_DEVICE float to_odd_float(float x) { return x; }
CAIRN_DEVICE float to_odd_float(bool x) { return float(x); }
CAIRN_DEVICE float to_odd_float(double x) {
    const float near = float(x);
    const u32 bits = __float_as_uint(near);
    if (double(near) == x || x != x || (bits & 1u) != 0) return near;
    // The other neighbour of x is odd.
    return __uint_as_float(fabs(double(near)) > fabs(x) ? bits - 1 : bits + 1);
}
template <class T>
CAIRN_DEVICE float to_odd_float(T x) {
    u64 magnitude = x < T(0) ? u64(0) - u64(x) : u64(x);
    float scale = x < T(0) ? -1.0f : 1.0f;
    while (magnitude >= (u64(1) << 24)) {
        magnitude = (magnitude >> 1) | (magnitude & 1);
        scale *= 2.0f;
    }
    return float(u32(magnitude)) * scale;
}

CAIRN_DEVICE float rounded_to_f16(float x) { return f16_to_f32(f32_to_f16(x)); }
CAIRN_DEVICE float rounded_to_bf16(float x) { return bf16_to_f32(f32_to_bf16(x)); }
