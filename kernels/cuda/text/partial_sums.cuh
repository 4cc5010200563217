// Values in partial sums: `parts` dense tensors of `size` elements, one after another, whose sum is the value.

/// An element of the value, whose element of the first part is at `first`. Parts are added in their order; all are
/// loaded before the first is waited for.
template <int parts>
CAIRN_DEVICE float sum_of_parts(const float* first, i64 size) {
    float part[parts];
#pragma unroll
    for (int i = 0; i < parts; ++i) part[i] = load_f32(first + i * size);
    float sum = part[0];
#pragma unroll
    for (int i = 1; i < parts; ++i) sum += part[i];
    return sum;
}

/// Four neighbours, as bits. The address is aligned to 16 bytes, and `size` is a multiple of 4.
template <int parts>
CAIRN_DEVICE uint4 sum_of_wide_parts(const float* first, i64 size) {
    uint4 part[parts];
#pragma unroll
    for (int i = 0; i < parts; ++i) part[i] = load_16_bytes(first + i * size);
    float4 sum = make_float4(__uint_as_float(part[0].x), __uint_as_float(part[0].y), __uint_as_float(part[0].z),
                             __uint_as_float(part[0].w));
#pragma unroll
    for (int i = 1; i < parts; ++i) {
        sum.x += __uint_as_float(part[i].x), sum.y += __uint_as_float(part[i].y);
        sum.z += __uint_as_float(part[i].z), sum.w += __uint_as_float(part[i].w);
    }
    return make_uint4(__float_as_uint(sum.x), __float_as_uint(sum.y), __float_as_uint(sum.z), __float_as_uint(sum.w));
}
