/// Attention of `tile` queries by a block of 8 threads a query, 32 keys at a time: the running maximum and sum of each
/// query (online softmax) are in registers. A warp computes 4 queries, a lane one key of each; then a lane sums every
/// 32nd column. Keys from `visible` on are hidden for all of these queries.
template <int depth, int width, int tile, class Operands, class Score, class Out>
CAIRN_DEVICE void attention_tile(const Operands& p, i64 first_query, i64 visible, const Score& score,
                                 const Out& out) {
    using Keys = typename Operands::Keys;
    using Values = typename Operands::Values;
    constexpr int threads = tile * 8, padded_depth = (depth + 3) / 4 * 4, padded_width = (width + 3) / 4 * 4;
    constexpr int columns = (width + 31) / 32;
    // Rows of keys are so long that 8 lanes read 16 bytes from different banks.
    __shared__ __align__(16) float q[tile][padded_depth];
    __shared__ __align__(16) float k[32][padded_depth + 4];
    __shared__ __align__(16) float v[32][padded_width];
    __shared__ __align__(16) float weights[tile][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = threadIdx.x; i < tile * padded_depth; i += threads) {
        const int row = i / padded_depth, d = i % padded_depth;
        q[row][d] = first_query + row < p.queries && d < depth ? p.q[(first_query + row) * p.q_stride + d] : 0.0f;
    }
    float largest[4], sum[4], total[4][columns];
#pragma unroll
    for (int row = 0; row < 4; ++row) {
        largest[row] = minus_infinity(), sum[row] = 0.0f;
#pragma unroll
        for (int c = 0; c < columns; ++c) total[row][c] = 0.0f;
    }
    i64 end = visible;
    for (i64 begin = 0;; begin += 32) {
        if (begin >= end) {
            bool needs_hidden = false;
#pragma unroll
            for (int row = 0; row < 4; ++row)
                needs_hidden = needs_hidden || (first_query + warp * 4 + row < p.queries &&
                                                !outweighs(largest[row], p.hidden_score));
            if (begin >= p.keys || !__syncthreads_or(needs_hidden)) break;
            end = p.keys;
        }
        for (int i = threadIdx.x; i < 32 * (padded_depth / 4); i += threads) {
            const int key = i / (padded_depth / 4), d = i % (padded_depth / 4) * 4;
            const bool valid = begin + key < p.keys;
            const auto* const source = p.k + (valid ? (begin + key) * p.k_stride : 0);
            if (p.k_wide)
                copy_four<Keys>(&k[key][d], source + d, valid);
            else
                *(float4*)&k[key][d] = four_elements<Keys>(source, d, valid ? depth : 0, false);
        }
        commit_copies();
        for (int i = threadIdx.x; i < 32 * (padded_width / 4); i += threads) {
            const int key = i / (padded_width / 4), d = i % (padded_width / 4) * 4;
            const bool valid = begin + key < p.keys;
            const auto* const source = p.v + (valid ? (begin + key) * p.v_stride : 0);
            if (p.v_wide)
                copy_four<Values>(&v[key][d], source + d, valid);
            else
                *(float4*)&v[key][d] = four_elements<Values>(source, d, valid ? width : 0, false);
        }
        commit_copies();
        wait_copies<1>();
        __syncthreads();
        float dot[4] = {};
#pragma unroll 4
        for (int d = 0; d < padded_depth; d += 4) {
            const float4 key = *(float4*)&k[lane][d];
#pragma unroll
            for (int row = 0; row < 4; ++row) dot[row] = dot_of_four(*(float4*)&q[warp * 4 + row][d], key, dot[row]);
        }
        const bool is_key = begin + lane < p.keys;
#pragma unroll
        for (int row = 0; row < 4; ++row) {
            const i64 query = first_query + warp * 4 + row;
            const float value = is_key && query < p.queries ? score(query, begin + lane, dot[row]) : minus_infinity();
            const float larger = element_max(largest[row], warp_max(value)), shift = finite_shift(larger);
            const float weight = is_key ? expf(value - shift) : 0.0f, scale = expf(largest[row] - shift);
            largest[row] = larger;
            sum[row] = sum[row] * scale + warp_sum(weight);
            weights[warp * 4 + row][lane] = weight;
#pragma unroll
            for (int c = 0; c < columns; ++c) total[row][c] *= scale;
        }
        wait_copies<0>();
        __syncthreads();
#pragma unroll 2
        for (int key = 0; key < 32; key += 4) {
            float4 weight[4];
#pragma unroll
            for (int row = 0; row < 4; ++row) weight[row] = *(float4*)&weights[warp * 4 + row][key];
#pragma unroll
            for (int c = 0; c < columns; ++c) {
                const int column = lane + 32 * c;
                if (width % 32 != 0 && column >= width) continue;
                const float v0 = v[key][column], v1 = v[key + 1][column], v2 = v[key + 2][column],
                            v3 = v[key + 3][column];
#pragma unroll
                for (int row = 0; row < 4; ++row)
                    total[row][c] = dot_of_four(weight[row], make_float4(v0, v1, v2, v3), total[row][c]);
            }
        }
        __syncthreads();  // the keys and values are read before they are replaced
    }
#pragma unroll
    for (int row = 0; row < 4; ++row) {
        const i64 query = first_query + warp * 4 + row;
        const float scale = p.keys == 0 ? 0.0f : 1.0f / sum[row];
#pragma unroll
        for (int c = 0; c < columns; ++c)
            if (query < p.queries && lane + 32 * c < width) out(query, lane + 32 * c, total[row][c] * scale);
    }
}
