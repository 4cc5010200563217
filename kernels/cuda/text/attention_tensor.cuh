// Attention of f32 on tensor cores (flash attention), 64 queries by a block of 128 threads, 64 keys at a time. Both
// products are computed by products of parts in a format (kernels/cuda/text/tensor_formats.cuh): a tile of keys, or a
// head of at most 64, is as much as one sum on tensor cores may add. The running maximum and sum of each query are in
// registers; a warp computes 16 queries.

constexpr int tensor_queries = 64, tensor_attention_threads = 128;

/// Shared memory of the parts of 64 lines of `width` elements, a multiple of 16.
template <int width, int parts>
using TensorLines = OperandParts<64, width, true, parts>;

/// Groups of four neighbours of 64 lines that a thread loads.
template <int width>
struct LineGroups {
    static constexpr int in_line = width / 4, count = 64 * in_line / tensor_attention_threads;
    float4 four[count];

    CAIRN_DEVICE int line(int group) { return (threadIdx.x + tensor_attention_threads * group) / in_line; }
    CAIRN_DEVICE int place(int group) { return (threadIdx.x + tensor_attention_threads * group) % in_line * 4; }
};

/// Loads 64 lines from `first` on; those from `count` on are 0.
template <class Stored, int width>
CAIRN_DEVICE void load_lines(LineGroups<width>& groups, const typename Stored::Element* source, i64 first, i64 count,
                             i64 stride, bool wide) {
    using Groups = LineGroups<width>;
#pragma unroll
    for (int group = 0; group < Groups::count; ++group) {
        const i64 line = first + Groups::line(group);
        groups.four[group] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (line < count)
            groups.four[group] = four_elements<Stored>(source + line * stride, Groups::place(group), width, wide);
    }
}

/// What attention needs of a format besides: a factor of weights, so that the parts of small ones are no subnormal
/// numbers, and whether elements are in range. In formats of f16, a stands for queries and keys, which must be below
/// 2^10, and b for values, which must be below 2^15.
template <class Format>
struct AttentionFormat : F16Format {
    static constexpr float weight_scale = 0x1p14f;
    CAIRN_DEVICE bool fits(const Range& range) {
        return !__syncthreads_or(range.most_of_a >= 0x44800000u || range.most_of_b >= 0x47000000u) &&
               fits_f16(range.most_of_b);
    }
};

template <>
struct AttentionFormat<SplitBf16> {
    static constexpr float weight_scale = 0x1p60f;
    /// Whether an element is at least 2^40 or not finite, and whether a value that is not 0 is below 2^-108: where
    /// values are small, a sum of their products with weights may be small too.
    struct Range {
        bool has_large = false, has_small_value = false;
    };
    template <bool is_value>
    CAIRN_DEVICE void extend(Range& range, float x) {
        const u32 magnitude = __float_as_uint(x) & 0x7fffffffu;
        range.has_large = range.has_large || magnitude >= 0x53800000u;
        if (is_value) range.has_small_value = range.has_small_value || magnitude - 1 < least_split - 1;
    }
    CAIRN_DEVICE bool fits(const Range& range) { return !__syncthreads_or(range.has_large || range.has_small_value); }
};

/// Converts the lines to parts in shared memory.
template <class Format, bool are_values, int width, int parts>
CAIRN_DEVICE void store_lines(const LineGroups<width>& groups, OperandParts<64, width, true, parts>& lines,
                              typename AttentionFormat<Format>::Range& range) {
    using Groups = LineGroups<width>;
#pragma unroll
    for (int group = 0; group < Groups::count; ++group) {
        float x[4] = {groups.four[group].x, groups.four[group].y, groups.four[group].z, groups.four[group].w};
#pragma unroll
        for (int n = 0; n < 4; ++n) AttentionFormat<Format>::template extend<are_values>(range, x[n]);
        uint2 converted[parts];
        Format::convert(x, converted);
#pragma unroll
        for (int part = 0; part < parts; ++part)
            *(uint2*)&lines.part[part][Groups::line(group)][Groups::place(group)] = converted[part];
    }
}

/// Sums of a warp's 16 rows, as fragments of 16 by 8.
template <int fragments>
struct FragmentSums {
    float large[fragments][4] = {}, small[fragments][4] = {};
};

/// Adds the products of 16 of the depth, the smallest first.
template <class Format, int of_a, int of_b, int fragments>
CAIRN_DEVICE void add_products(FragmentSums<fragments>& sums, const u32 (&a)[of_a][4],
                               const u32 (&b)[fragments][of_b][2]) {
#pragma unroll
    for (int order = Format::most_parts - 1; order > 0; --order)
#pragma unroll
        for (int part = 0; part <= order; ++part)
            if (part < of_a && order - part < of_b)
#pragma unroll
                for (int j = 0; j < fragments; ++j) Format::multiply(sums.small[j], a[part], b[j][order - part]);
#pragma unroll
    for (int j = 0; j < fragments; ++j) Format::multiply(sums.large[j], a[0], b[j][0]);
}

/// Attention of the queries from `first_query` on. Keys from `visible` on are hidden for all of them. False, and
/// nothing is written, if elements are too large or too small for the format.
template <class Format, int depth, int width, class Operands, class Score, class Out>
CAIRN_DEVICE bool attend_tensor(const Operands& p, i64 first_query, i64 visible, const Score& score, const Out& out,
                               unsigned char* shared) {
    using Keys = typename Operands::Keys;
    using Values = typename Operands::Values;
    constexpr int parts = Format::template parts<StoredF32>, keys_parts = Format::template parts<Keys>,
                  values_parts = Format::template parts<Values>, of_keys = 8, of_width = width / 8;
    constexpr float weight_scale = AttentionFormat<Format>::weight_scale;
    auto& q_lines = *(TensorLines<depth, parts>*)shared;
    auto& k_lines = *(TensorLines<depth, keys_parts>*)(shared + sizeof(q_lines));
    auto& v_lines = *(TensorLines<width, values_parts>*)(shared + sizeof(q_lines));
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, matrix = lane / 8, at = lane % 8;
    typename AttentionFormat<Format>::Range range;
    {
        LineGroups<depth> q;
        load_lines<StoredF32>(q, p.q, first_query, p.queries, p.q_stride, p.q_wide);
        store_lines<Format, false>(q, q_lines, range);
    }
    LineGroups<depth> k;
    LineGroups<width> v;
    load_lines<Keys>(k, p.k, 0, p.keys, p.k_stride, p.k_wide);

    // Of rows g and g + 8 of the warp, where lane = 4 g + t.
    float largest[2] = {minus_infinity(), minus_infinity()}, sum[2] = {}, total[of_width][4] = {};
    const i64 row = first_query + warp * 16 + lane / 4;
    i64 end = visible;
#pragma unroll 1
    for (i64 begin = 0;; begin += 64) {
        if (begin >= end) {
            const bool needs_hidden = (row < p.queries && !outweighs(largest[0], p.hidden_score)) ||
                                      (row + 8 < p.queries && !outweighs(largest[1], p.hidden_score));
            if (begin >= p.keys || !__syncthreads_or(needs_hidden)) break;
            end = p.keys;
        }
        store_lines<Format, false>(k, k_lines, range);
        __syncthreads();
        load_lines<Values>(v, p.v, begin, p.keys, p.v_stride, p.v_wide);
        FragmentSums<of_keys> dots;
#pragma unroll
        for (int d = 0; d < depth; d += 16) {
            u32 a[parts][4], b[of_keys][keys_parts][2];
#pragma unroll
            for (int part = 0; part < parts; ++part)
                load_matrices(a[part], &q_lines.part[part][warp * 16 + matrix % 2 * 8 + at][d + matrix / 2 * 8]);
#pragma unroll
            for (int j = 0; j < of_keys; j += 2)
#pragma unroll
                for (int part = 0; part < keys_parts; ++part)
                    load_column_fragments<false>(
                        b[j][part], b[j + 1][part],
                        &k_lines.part[part][8 * j + matrix / 2 * 8 + at][d + matrix % 2 * 8]);
            add_products<Format>(dots, a, b);
        }
        float weights[of_keys][4], most[2] = {minus_infinity(), minus_infinity()}, shift[2], scale[2];
#pragma unroll
        for (int j = 0; j < of_keys; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const i64 query = row + e / 2 * 8, key = begin + 8 * j + lane % 4 * 2 + e % 2;
                weights[j][e] = key < p.keys && query < p.queries
                                    ? score(query, key, fmaf(dots.small[j][e], Format::small_scale, dots.large[j][e]))
                                    : minus_infinity();
                most[e / 2] = element_max(most[e / 2], weights[j][e]);
            }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            for (int distance = 1; distance < 4; distance *= 2)
                most[i] = element_max(most[i], __shfl_xor_sync(all_lanes, most[i], distance));
            const float larger = element_max(largest[i], most[i]);
            shift[i] = finite_shift(larger);
            scale[i] = expf(largest[i] - shift[i]);
            largest[i] = larger;
            sum[i] *= scale[i];
        }
#pragma unroll
        for (int j = 0; j < of_keys; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const float weight = expf(weights[j][e] - shift[e / 2]);
                sum[e / 2] += weight;
                weights[j][e] = weight * weight_scale;
            }
        __syncthreads();  // the keys are read before the values take their place
        store_lines<Format, true>(v, v_lines, range);
        __syncthreads();
        load_lines<Keys>(k, p.k, begin + 64, p.keys, p.k_stride, p.k_wide);
        FragmentSums<of_width> products;
#pragma unroll
        for (int key = 0; key < 64; key += 16) {
            u32 a[parts][4], b[of_width][values_parts][2];
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                uint2 converted[parts];
                Format::convert(weights[key / 8 + half], converted);
#pragma unroll
                for (int part = 0; part < parts; ++part)
                    a[part][2 * half] = converted[part].x, a[part][2 * half + 1] = converted[part].y;
            }
#pragma unroll
            for (int j = 0; j < of_width; j += 2)
#pragma unroll
                for (int part = 0; part < values_parts; ++part)
                    load_column_fragments<true>(
                        b[j][part], b[j + 1][part],
                        &v_lines.part[part][key + matrix % 2 * 8 + at][8 * j + matrix / 2 * 8]);
            add_products<Format>(products, a, b);
        }
#pragma unroll
        for (int j = 0; j < of_width; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e)
                total[j][e] = fmaf(total[j][e], scale[e / 2],
                                   fmaf(products.small[j][e], Format::small_scale, products.large[j][e]));
        __syncthreads();  // the values are read before keys take their place
    }
    if (!AttentionFormat<Format>::fits(range)) return false;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        for (int distance = 1; distance < 4; distance *= 2)
            sum[i] += __shfl_xor_sync(all_lanes, sum[i], distance);
        const float scale = p.keys == 0 ? 0.0f : 1.0f / sum[i] * (1.0f / weight_scale);
        if (row + 8 * i >= p.queries) continue;
#pragma unroll
        for (int j = 0; j < of_width; ++j)
#pragma unroll
            for (int e = 0; e < 2; ++e)
                out(row + 8 * i, 8 * j + lane % 4 * 2 + e, total[j][2 * i + e] * scale);
    }
    return true;
}

/// Attention of a tile of queries; parameters as of attention_tile(), by which it is computed where elements are too
/// large or too small for the format. `shared_bytes`: of dynamic shared memory.
template <class Format, int depth, int width, int shared_bytes, class Operands, class Score, class Out>
CAIRN_DEVICE void attention_tensor(const Operands& p, i64 first_query, i64 visible, const Score& score,
                                   const Out& out) {
    constexpr int parts = Format::template parts<StoredF32>;
    using KeyLines = TensorLines<depth, Format::template parts<typename Operands::Keys>>;
    using ValueLines = TensorLines<width, Format::template parts<typename Operands::Values>>;
    static_assert(sizeof(TensorLines<depth, parts>) +
                          (sizeof(KeyLines) > sizeof(ValueLines) ? sizeof(KeyLines) : sizeof(ValueLines)) ==
                      shared_bytes,
                  "as the launch has");
    extern __shared__ __align__(16) unsigned char tensor_lines[];
    if (attend_tensor<Format, depth, width>(p, first_query, visible, score, out, tensor_lines)) return;
    constexpr int tile = tensor_attention_threads / 8;
#pragma unroll 1
    for (i64 query = first_query; query < smaller(first_query + tensor_queries, p.queries); query += tile) {
        attention_tile<depth, width, tile>(p, query, visible, score, out);
        __syncthreads();
    }
}
