// Formats in which elements are given to tensor cores, whose operands have 16 bits: rounded, or split into parts, of
// whose products the largest are added. Kernels of products and of attention have a format as a parameter.

/// The magnitude 2^-108, as bits: the last part of a smaller element may be too small for bf16.
constexpr u32 least_split = 0x09800000u;

/// The parts of four neighbours, the largest parts first.
template <int count>
CAIRN_DEVICE void split_four(float (&x)[4], uint2 (&parts)[count]) {
#pragma unroll
    for (int part = 0; part < count; ++part) {
        parts[part] = {f32_to_bf16x2(x[0], x[1]), f32_to_bf16x2(x[2], x[3])};
        // What is left is exact: the rounding error of bf16 has at most 16 bits.
        x[0] -= __uint_as_float(parts[part].x << 16), x[1] -= __uint_as_float(parts[part].x & 0xffff0000u);
        x[2] -= __uint_as_float(parts[part].y << 16), x[3] -= __uint_as_float(parts[part].y & 0xffff0000u);
    }
}

/// Exact products: each element is the sum of three bf16 parts, which hold its 24 bits; of the nine products of parts,
/// the six that f32 can tell apart are added, the small ones to sums of their own. An f16 is the sum of two parts,
/// which leaves five products, and a bf16 is one part, which leaves three. The result is closer to the exact one than
/// that of a chain of f32 operations.
struct SplitBf16 {
    static constexpr int depth = 32, most_parts = 3;  // of a slice; of an element
    static constexpr float small_scale = 1.0f;  // of the sums of small products
    template <class Stored>
    static constexpr int parts = Stored::bf16_parts;
    /// Magnitudes of elements of both operands.
    struct Range {
        u32 least = ~0u;  // of those that are not 0: the bits, shifted left by one, less one
    };

    template <bool of_b>
    CAIRN_DEVICE void extend(Range& range, float x) {
        const u32 magnitude = 2 * __float_as_uint(x) - 1;
        range.least = magnitude < range.least ? magnitude : range.least;
    }
    template <int count>
    CAIRN_DEVICE void convert(float (&x)[4], uint2 (&parts)[count]) {
        split_four(x, parts);
    }
    CAIRN_DEVICE void multiply(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) { mma_bf16(d, a, b); }

    /// Whether the operands of all threads can be split. `any_small`: whether one is below 2^-40, so that products of
    /// parts may be subnormal.
    CAIRN_DEVICE bool fits(const Range& range, bool& any_small) {
        any_small = __syncthreads_or(range.least < 2 * 0x2b800000u - 1);
        return !__syncthreads_or(range.least < 2 * least_split - 1);
    }
};

/// Two f16 parts of four neighbours, the second one times 2^11: an element is their sum to 22 bits, or to 2^-36 where
/// they are subnormal numbers.
CAIRN_DEVICE void split_four_f16(const float (&x)[4], uint2 (&parts)[2]) {
    parts[0] = {f32_to_f16x2(x[0], x[1]), f32_to_f16x2(x[2], x[3])};
    const float2 low = f16x2_to_f32(parts[0].x), high = f16x2_to_f32(parts[0].y);
    parts[1] = {f32_to_f16x2((x[0] - low.x) * 0x1p11f, (x[1] - low.y) * 0x1p11f),
                f32_to_f16x2((x[2] - high.x) * 0x1p11f, (x[3] - high.y) * 0x1p11f)};
}

/// Whether an operand with this largest magnitude, of all threads, has an element of at least 2^-8, beside which the
/// subnormal numbers of f16 are exact enough, or none but 0.
CAIRN_DEVICE bool fits_f16(u32 most) { return __syncthreads_or(most >= 0x3b800000u) || !__syncthreads_or(most != 0); }

/// What the formats of f16 share: elements of one part, and the largest magnitudes of both operands.
struct F16Format {
    struct Range {
        u32 most_of_a = 0, most_of_b = 0;  // as bits
    };

    template <bool of_b>
    CAIRN_DEVICE void extend(Range& range, float x) {
        const u32 magnitude = __float_as_uint(x) & 0x7fffffffu;
        u32& most = of_b ? range.most_of_b : range.most_of_a;
        most = magnitude > most ? magnitude : most;
    }
    CAIRN_DEVICE void convert(const float (&x)[4], uint2 (&parts)[1]) {
        parts[0] = {f32_to_f16x2(x[0], x[1]), f32_to_f16x2(x[2], x[3])};
    }
    CAIRN_DEVICE void multiply(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) { mma_f16(d, a, b); }
    CAIRN_DEVICE bool fits(const Range& range, bool& any_small) {
        any_small = false;
        return fits_f16(range.most_of_a) && fits_f16(range.most_of_b);
    }
};

/// Products of elements that are the sum of two f16 parts, which hold 22 bits, with an error of at most 2^-21: of the
/// four products of parts, the three largest are added. An f16 or bf16 is one part, which leaves two products.
struct SplitF16 : F16Format {
    static constexpr int depth = 32, most_parts = 2;
    static constexpr float small_scale = 0x1p-11f;
    template <class Stored>
    static constexpr int parts = sizeof(typename Stored::Element) == 4 ? 2 : 1;

    using F16Format::convert;
    CAIRN_DEVICE void convert(const float (&x)[4], uint2 (&parts)[2]) { split_four_f16(x, parts); }
};

/// Products of elements rounded to f16, with an error of at most 2^-11.
template <int slice>
struct RoundedF16 : F16Format {
    static constexpr int depth = slice, most_parts = 1;
    static constexpr float small_scale = 1.0f;
    template <class Stored>
    static constexpr int parts = 1;
};
