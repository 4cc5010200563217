// Attention of f32, with keys and values as they are stored: what the kernels for single queries and for tiles of
// queries share.

/// The operands for one head. Strides, in elements, are those between queries or keys; values are contiguous.
template <class StoredKeys, class StoredValues>
struct AttentionOperands {
    using Keys = StoredKeys;
    using Values = StoredValues;
    const float* q;
    const typename Keys::Element* k;
    const typename Values::Element* v;
    i64 queries, keys, q_stride, k_stride, v_stride;
    float hidden_score;              // what hides a key in place of its score
    bool q_wide, k_wide, v_wide;     // 16 bytes at once
};

/// A maximum so much above the score of hidden keys that these have the weight 0.
CAIRN_DEVICE bool outweighs(float largest, float hidden_score) { return largest - hidden_score > 200.0f; }

/// The largest score, or 0 if all are minus infinity, so that the exponential of the difference is 0 and not NaN.
CAIRN_DEVICE float finite_shift(float largest) { return largest == minus_infinity() ? 0.0f : largest; }

/// Four elements from a multiple of 4 on; elements from `size` on are 0.
template <class Stored>
CAIRN_DEVICE float4 four_elements(const typename Stored::Element* source, int at, int size, bool wide) {
    const auto element = [&](int e) { return at + e < size ? Stored::widen(source[at + e]) : 0.0f; };
    if (!wide) return make_float4(element(0), element(1), element(2), element(3));
    if constexpr (sizeof(typename Stored::Element) == 4) {
        return *(const float4*)(source + at);
    } else {
        float four[4];
        Stored::unpack(*(const uint2*)(source + at), four);
        return make_float4(four[0], four[1], four[2], four[3]);
    }
}

CAIRN_DEVICE float dot_of_four(float4 a, float4 b, float sum) {
    return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}
