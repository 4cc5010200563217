// Values in partial sums: `parts` dense tensors of `size` elements, one after another, whose sum is the value.

/// An element of the value, whose element of the first part is at `first`. Parts are added in their order.
template <int parts>
CAIRN_DEVICE float sum_of_parts(float* first, i64 size) {
    float sum = first[0];
#pragma unroll
    for (int part = 1; part < parts; ++part) sum += first[part * size];
    return sum;
}

/// Four neighbours, as bits. The address is aligned to 16 bytes, and `size` is a multiple of 4.
template <int parts>
CAIRN_DEVICE uint4 sum_of_wide_parts(float* first, i64 size) {
    float4 sum = *(float4*)first;
#pragma unroll
    for (int part = 1; part < parts; ++part) {
        const float4 next = *(float4*)(first + part * size);
        sum.x += next.x, sum.y += next.y, sum.z += next.z, sum.w += next.w;
    }
    return make_uint4(__float_as_uint(sum.x), __float_as_uint(sum.y), __float_as_uint(sum.z), __float_as_uint(sum.w));
}
