/// Attention of one query by a block of 256 threads; all scores are in dynamic shared memory. Keys from `visible` on
/// are hidden, and computed only if their score counts. score(key, dot) is the score of a key; out(column, value) takes
/// the result.
template <int depth, int width, class Operands, class Score, class Out>
CAIRN_DEVICE void attention_query(const Operands& p, i64 query, i64 visible, const Score& score, const Out& out) {
    using Keys = typename Operands::Keys;
    using Values = typename Operands::Values;
    constexpr int padded_depth = (depth + 3) / 4 * 4, fours = (width + 3) / 4, groups = 256 / fours;
    extern __shared__ __align__(16) float scores[];
    __shared__ __align__(16) float q[padded_depth];
    __shared__ __align__(16) float sums[groups][fours * 4];
    __shared__ float scratch[8];
    for (int d = threadIdx.x; d < padded_depth; d += 256) q[d] = d < depth ? p.q[query * p.q_stride + d] : 0.0f;
    __syncthreads();

    // 8 threads a key.
    const int part = threadIdx.x % 8;
    float largest = minus_infinity();
    i64 begin = 0, end = visible;
    while (true) {
#pragma unroll 2
        for (i64 first = begin; first < end; first += 32) {
            const i64 key = first + threadIdx.x / 8;
            float dot = 0.0f;
            if (key < end) {
#pragma unroll
                for (int d = part * 4; d < padded_depth; d += 32)
                    dot = dot_of_four(*(float4*)&q[d],
                                      four_elements<Keys>(p.k + key * p.k_stride, d, depth, p.k_wide), dot);
            }
            for (int distance = 4; distance > 0; distance /= 2) dot += __shfl_xor_sync(all_lanes, dot, distance);
            if (part == 0 && key < end) scores[key] = dot;
        }
        __syncthreads();
        for (i64 key = begin + threadIdx.x; key < end; key += 256) {
            const float value = score(key, scores[key]);
            scores[key] = value;
            largest = element_max(largest, value);
        }
        largest = block_max<256>(largest, scratch);
        if (end >= p.keys || outweighs(largest, p.hidden_score)) break;
        begin = end;
        end = p.keys;
    }
    const float shift = finite_shift(largest);
    float sum = 0.0f;
    for (i64 key = threadIdx.x; key < end; key += 256) {
        // A thread may take other keys than before, as those from `begin` on were counted from there.
        const float weight = expf(scores[key] - shift);
        scores[key] = weight;
        sum += weight;
    }
    sum = block_sum<256>(sum, scratch);  // and all weights are written
    const float scale = p.keys == 0 ? 0.0f : 1.0f / sum;

    const int four = threadIdx.x % fours, group = threadIdx.x / fours;
    if (group < groups) {
        float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 4
        for (i64 key = group; key < end; key += groups) {
            const float4 v = four_elements<Values>(p.v + key * p.v_stride, four * 4, width, p.v_wide);
            const float weight = scores[key];
            total.x = fmaf(weight, v.x, total.x);
            total.y = fmaf(weight, v.y, total.y);
            total.z = fmaf(weight, v.z, total.z);
            total.w = fmaf(weight, v.w, total.w);
        }
        *(float4*)&sums[group][four * 4] = total;
    }
    __syncthreads();
    for (int column = threadIdx.x; column < width; column += 256) {
        float value = sums[0][column];
        for (int i = 1; i < groups; ++i) value += sums[i][column];
        out(column, value * scale);
    }
}
