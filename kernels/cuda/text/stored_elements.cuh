// Operands as they are stored, in f32, f16 or bf16; kernels widen the elements to f32.

struct StoredF32 {
    using Element = float;
    static constexpr int count = 4;       // elements in 16 bytes
    static constexpr int bf16_parts = 3;  // bf16 values whose sum holds any element
    CAIRN_DEVICE float widen(float element) { return element; }
    CAIRN_DEVICE float narrow(float value) { return value; }
    CAIRN_DEVICE float load(const float* source) { return load_f32(source); }
    CAIRN_DEVICE void unpack(uint4 bits, float (&values)[4]) {
        values[0] = __uint_as_float(bits.x), values[1] = __uint_as_float(bits.y);
        values[2] = __uint_as_float(bits.z), values[3] = __uint_as_float(bits.w);
    }
    CAIRN_DEVICE uint4 pack(const float (&elements)[4]) {
        return make_uint4(__float_as_uint(elements[0]), __float_as_uint(elements[1]), __float_as_uint(elements[2]),
                          __float_as_uint(elements[3]));
    }
};

template <int parts, float (*to_f32)(u16 element), u16 (*from_f32)(float value), float2 (*pair_to_f32)(u32 pair)>
struct StoredHalf {
    using Element = u16;
    static constexpr int count = 8;
    static constexpr int bf16_parts = parts;
    CAIRN_DEVICE float widen(u16 element) { return to_f32(element); }
    CAIRN_DEVICE u16 narrow(float value) { return from_f32(value); }
    CAIRN_DEVICE float load(const u16* source) { return to_f32(load_u16(source)); }
    CAIRN_DEVICE void unpack(uint2 bits, float (&values)[4]) {
        const float2 low = pair_to_f32(bits.x), high = pair_to_f32(bits.y);
        values[0] = low.x, values[1] = low.y, values[2] = high.x, values[3] = high.y;
    }
    CAIRN_DEVICE void unpack(uint4 bits, float (&values)[8]) {
        const u32 pairs[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const float2 pair = pair_to_f32(pairs[i]);
            values[2 * i] = pair.x, values[2 * i + 1] = pair.y;
        }
    }
    CAIRN_DEVICE uint2 pack(const u16 (&elements)[4]) {
        return make_uint2(elements[0] | u32(elements[1]) << 16, elements[2] | u32(elements[3]) << 16);
    }
    CAIRN_DEVICE uint4 pack(const u16 (&elements)[8]) {
        return make_uint4(elements[0] | u32(elements[1]) << 16, elements[2] | u32(elements[3]) << 16,
                          elements[4] | u32(elements[5]) << 16, elements[6] | u32(elements[7]) << 16);
    }
};
// The 11 bits of an f16 are a bf16 and the at most 3 bits left.
using StoredF16 = StoredHalf<2, f16_to_f32, f32_to_f16, f16x2_to_f32>;
using StoredBf16 = StoredHalf<1, bf16_to_f32, f32_to_bf16, bf16x2_to_f32>;

/// Copies four neighbours to shared memory, their bytes aligned; asynchronously if they need no widening. Zeros if not
/// `valid`.
template <class Stored>
CAIRN_DEVICE void copy_four(float* target, const typename Stored::Element* source, bool valid) {
    if constexpr (sizeof(typename Stored::Element) == 4) {
        copy_16_bytes_async(target, source, valid);
    } else {
        float four[4] = {};
        if (valid) Stored::unpack(load_8_bytes(source), four);
        *(float4*)target = make_float4(four[0], four[1], four[2], four[3]);
    }
}

/// Loads neighbours aligned to their bytes in program order, as bits.
template <int bytes>
CAIRN_DEVICE auto load_neighbours(const void* source) {
    static_assert(bytes == 8 || bytes == 16, "one load");
    if constexpr (bytes == 8) {
        return load_8_bytes(source);
    } else {
        return load_16_bytes(source);
    }
}

/// The same for what this block reads once.
template <int bytes>
CAIRN_DEVICE auto load_neighbours_once(const void* source) {
    static_assert(bytes == 8 || bytes == 16, "one load");
    if constexpr (bytes == 8) {
        return load_8_bytes_once(source);
    } else {
        return load_16_bytes_once(source);
    }
}
