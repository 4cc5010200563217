// Attention of f32 on tensor cores (flash attention), 64 queries by a block of 128 threads, 64 keys at a time. Both
// products are computed by products of bf16 parts as in SplitBf16: a tile of keys, or a head of at most 64, is as
// much as one sum on tensor cores may add. The running maximum and sum of each query are in registers; a warp computes
// 16 queries. Weights are scaled by 2^60, so that the parts of the smallest ones are no subnormal numbers.

constexpr int bf16x6_queries = 64, bf16x6_attention_threads = 128;

/// Shared memory of the parts of 64 lines of `width` elements, a multiple of 16.
template <int width, int parts>
using Bf16Lines = OperandParts<64, width, true, parts>;

/// Groups of four neighbours of 64 lines that a thread loads.
template <int width>
struct LineGroups {
    static constexpr int in_line = width / 4, count = 64 * in_line / bf16x6_attention_threads;
    float4 four[count];

    CAIRN_DEVICE int line(int group) { return (threadIdx.x + bf16x6_attention_threads * group) / in_line; }
    CAIRN_DEVICE int place(int group) { return (threadIdx.x + bf16x6_attention_threads * group) % in_line * 4; }
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

/// Whether an element is at least 2^40 or not finite, and whether one that is not 0 is below 2^-108.
struct AttentionRange {
    bool has_large = false, has_small = false;
};

/// Splits the lines into parts in shared memory.
template <int width, int parts>
CAIRN_DEVICE void store_lines(const LineGroups<width>& groups, OperandParts<64, width, true, parts>& lines,
                              AttentionRange& range) {
    using Groups = LineGroups<width>;
#pragma unroll
    for (int group = 0; group < Groups::count; ++group) {
        float x[4] = {groups.four[group].x, groups.four[group].y, groups.four[group].z, groups.four[group].w};
#pragma unroll
        for (int n = 0; n < 4; ++n) {
            const u32 magnitude = __float_as_uint(x[n]) & 0x7fffffffu;
            range.has_large = range.has_large || magnitude >= 0x53800000u;
            range.has_small = range.has_small || magnitude - 1 < least_split - 1;
        }
        uint2 split[parts];
        split_four(x, split);
#pragma unroll
        for (int part = 0; part < parts; ++part)
            *(uint2*)&lines.part[part][Groups::line(group)][Groups::place(group)] = split[part];
    }
}

/// Sums of a warp's 16 rows, as fragments of 16 by 8.
template <int fragments>
struct FragmentSums {
    float large[fragments][4] = {}, small[fragments][4] = {};
};

/// Adds the products of 16 of the depth, the smallest first.
template <int of_a, int of_b, int fragments>
CAIRN_DEVICE void add_products(FragmentSums<fragments>& sums, const u32 (&a)[of_a][4],
                               const u32 (&b)[fragments][of_b][2]) {
#pragma unroll
    for (int order = SplitBf16::most_parts - 1; order > 0; --order)
#pragma unroll
        for (int part = 0; part <= order; ++part)
            if (part < of_a && order - part < of_b)
#pragma unroll
                for (int j = 0; j < fragments; ++j) mma_bf16(sums.small[j], a[part], b[j][order - part]);
#pragma unroll
    for (int j = 0; j < fragments; ++j) mma_bf16(sums.large[j], a[0], b[j][0]);
}

/// Attention of the queries from `first_query` on. Keys from `visible` on are hidden for all of them. False, and
/// nothing is written, if elements are too large or too small for exact products.
template <int depth, int width, class Operands, class Score, class Out>
CAIRN_DEVICE bool attend_split(const Operands& p, i64 first_query, i64 visible, const Score& score, const Out& out,
                               unsigned char* shared) {
    using Keys = typename Operands::Keys;
    using Values = typename Operands::Values;
    constexpr int keys_parts = Keys::bf16_parts, values_parts = Values::bf16_parts, of_keys = 8, of_width = width / 8;
    auto& q_lines = *(Bf16Lines<depth, SplitBf16::most_parts>*)shared;
    auto& k_lines = *(Bf16Lines<depth, keys_parts>*)(shared + sizeof(q_lines));
    auto& v_lines = *(Bf16Lines<width, values_parts>*)(shared + sizeof(q_lines));
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, matrix = lane / 8, at = lane % 8;
    AttentionRange of_scores, of_values;
    {
        LineGroups<depth> q;
        load_lines<StoredF32>(q, p.q, first_query, p.queries, p.q_stride, p.q_wide);
        store_lines(q, q_lines, of_scores);
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
        store_lines(k, k_lines, of_scores);
        __syncthreads();
        load_lines<Values>(v, p.v, begin, p.keys, p.v_stride, p.v_wide);
        FragmentSums<of_keys> dots;
#pragma unroll
        for (int d = 0; d < depth; d += 16) {
            u32 a[SplitBf16::most_parts][4], b[of_keys][keys_parts][2];
#pragma unroll
            for (int part = 0; part < SplitBf16::most_parts; ++part)
                load_matrices(a[part], &q_lines.part[part][warp * 16 + matrix % 2 * 8 + at][d + matrix / 2 * 8]);
#pragma unroll
            for (int j = 0; j < of_keys; j += 2)
#pragma unroll
                for (int part = 0; part < keys_parts; ++part)
                    load_column_fragments<false>(
                        b[j][part], b[j + 1][part],
                        &k_lines.part[part][8 * j + matrix / 2 * 8 + at][d + matrix % 2 * 8]);
            add_products(dots, a, b);
        }
        float weights[of_keys][4], most[2] = {minus_infinity(), minus_infinity()}, shift[2], scale[2];
#pragma unroll
        for (int j = 0; j < of_keys; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const i64 query = row + e / 2 * 8, key = begin + 8 * j + lane % 4 * 2 + e % 2;
                weights[j][e] = key < p.keys && query < p.queries
                                    ? score(query, key, dots.large[j][e] + dots.small[j][e])
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
                weights[j][e] = weight * 0x1p60f;
            }
        __syncthreads();  // the keys are read before the values take their place
        store_lines(v, v_lines, of_values);
        __syncthreads();
        load_lines<Keys>(k, p.k, begin + 64, p.keys, p.k_stride, p.k_wide);
        FragmentSums<of_width> products;
#pragma unroll
        for (int key = 0; key < 64; key += 16) {
            u32 a[SplitBf16::most_parts][4], b[of_width][values_parts][2];
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                uint2 parts[SplitBf16::most_parts];
                split_four(weights[key / 8 + half], parts);
#pragma unroll
                for (int part = 0; part < SplitBf16::most_parts; ++part)
                    a[part][2 * half] = parts[part].x, a[part][2 * half + 1] = parts[part].y;
            }
#pragma unroll
            for (int j = 0; j < of_width; j += 2)
#pragma unroll
                for (int part = 0; part < values_parts; ++part)
                    load_column_fragments<true>(
                        b[j][part], b[j + 1][part],
                        &v_lines.part[part][key + matrix % 2 * 8 + at][8 * j + matrix / 2 * 8]);
            add_products(products, a, b);
        }
#pragma unroll
        for (int j = 0; j < of_width; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e)
                total[j][e] = fmaf(total[j][e], scale[e / 2], products.large[j][e] + products.small[j][e]);
        __syncthreads();  // the values are read before keys take their place
    }
    // Where values are small, a sum of their products with weights may be small too.
    if (__syncthreads_or(of_scores.has_large || of_values.has_large || of_values.has_small)) return false;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        for (int distance = 1; distance < 4; distance *= 2)
            sum[i] += __shfl_xor_sync(all_lanes, sum[i], distance);
        const float scale = p.keys == 0 ? 0.0f : 1.0f / sum[i] * 0x1p-60f;
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
/// large or too small. `shared_bytes`: of dynamic shared memory.
template <int depth, int width, int shared_bytes, class Operands, class Score, class Out>
CAIRN_DEVICE void attention_bf16x6(const Operands& p, i64 first_query, i64 visible, const Score& score,
                                   const Out& out) {
    using KeyLines = Bf16Lines<depth, Operands::Keys::bf16_parts>;
    using ValueLines = Bf16Lines<width, Operands::Values::bf16_parts>;
    static_assert(sizeof(Bf16Lines<depth, SplitBf16::most_parts>) +
                          (sizeof(KeyLines) > sizeof(ValueLines) ? sizeof(KeyLines) : sizeof(ValueLines)) ==
                      shared_bytes,
                  "as the launch has");
    extern __shared__ __align__(16) unsigned char bf16x6_lines[];
    if (attend_split<depth, width>(p, first_query, visible, score, out, bf16x6_lines)) return;
    constexpr int tile = bf16x6_attention_threads / 8;
#pragma unroll 1
    for (i64 query = first_query; query < smaller(first_query + bf16x6_queries, p.queries); query += tile) {
        attention_tile<depth, width, tile>(p, query, visible, score, out);
        __syncthreads();
    }
}
