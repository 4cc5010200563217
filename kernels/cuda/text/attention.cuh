// Attention of f32: what the kernels for single queries and for tiles of queries share.

/// The operands for one head. Strides, in elements, are those between queries or keys; values are contiguous.
struct AttentionOperands {
    float *q, *k, *v;
    i64 queries, keys, q_stride, k_stride, v_stride;
    float hidden_score;              // what hides a key in place of its score
    bool q_wide, k_wide, v_wide;     // 16 bytes at once
};

/// A maximum so much above the score of hidden keys that these have the weight 0.
CAIRN_DEVICE bool outweighs(float largest, float hidden_score) { return largest - hidden_score > 200.0f; }

/// The largest score, or 0 if all are minus infinity, so that the exponential of the difference is 0 and not NaN.
CAIRN_DEVICE float finite_shift(float largest) { return largest == minus_infinity() ? 0.0f : largest; }

/// Four elements from a multiple of 4 on; elements from `size` on are 0.
CAIRN_DEVICE float4 four_elements(float* source, int at, int size, bool wide) {
    if (wide) return *(float4*)(source + at);
    return make_float4(at < size ? source[at] : 0.0f, at + 1 < size ? source[at + 1] : 0.0f,
                       at + 2 < size ? source[at + 2] : 0.0f, at + 3 < size ? source[at + 3] : 0.0f);
}

CAIRN_DEVICE float dot_of_four(float4 a, float4 b, float sum) {
    return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}
