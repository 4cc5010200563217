// The MLP block of a transformer for one row, x + act(norm(x) w1 + b1) w2 + b2, by clusters of blocks. Each block owns
// some hidden units: their columns of w1 and rows of w2 are copied to shared memory before the dependency wait, and
// nothing is exchanged between the two products. The blocks of a cluster add their shares of the result, and each
// cluster writes one part of partial sums.
#if defined(CAIRN_EMULATED) || __CUDA_ARCH__ >= 900

/// Elements of weights in memory, `count` in 16 bytes.
struct F32Weights {
    using Element = float;
    static constexpr int count = 4;
    CAIRN_DEVICE void unpack(uint4 bits, float (&values)[4]) {
        values[0] = __uint_as_float(bits.x), values[1] = __uint_as_float(bits.y);
        values[2] = __uint_as_float(bits.z), values[3] = __uint_as_float(bits.w);
    }
};
template <float2 (*to_f32)(u32 pair)>
struct HalfWeights {
    using Element = u16;
    static constexpr int count = 8;
    CAIRN_DEVICE void unpack(uint4 bits, float (&values)[8]) {
        const u32 pairs[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const float2 pair = to_f32(pairs[i]);
            values[2 * i] = pair.x, values[2 * i + 1] = pair.y;
        }
    }
};
using F16Weights = HalfWeights<f16x2_to_f32>;
using Bf16Weights = HalfWeights<bf16x2_to_f32>;

/// Sizes and places in dynamic shared memory. `width` elements of the row; `units` hidden units a block, a multiple of
/// 8; `warps` warps for the units that 16 bytes of w1 hold.
template <class Weights, int width, int units, int warps>
struct MlpRowPlan {
    static constexpr int element = 16 / Weights::count;  // bytes
    static constexpr int chunks = units / Weights::count, threads = 32 * chunks * warps, slices = 32 * warps;
    // Rows of w1 are so long that 8 lanes read 16 bytes from different banks.
    static constexpr int w1_pitch = units * element + 16, w1_bytes = width * w1_pitch;
    static constexpr int w2_chunks = width / Weights::count, w2_bytes = units * width * element;
    // Threads of a group add the rows of w2 of every `groups`-th unit. Their sums take the place of w1.
    static constexpr int most_groups = w1_pitch / 4 < units ? w1_pitch / 4 : units;
    static constexpr int all_groups = threads / w2_chunks > 0 ? threads / w2_chunks : 1;
    static constexpr int groups = all_groups < most_groups ? all_groups : most_groups;
};

struct MlpRowOperands {
    float *x, *gamma, *beta, *b1, *b2, *y;
    void *w1, *w2;  // [width, hidden] and [hidden, width], contiguous
};

/// Copies 16 bytes to shared memory, asynchronously if the source is aligned; zeros if not `valid`.
template <class Element>
CAIRN_DEVICE void copy_weights(void* target, const void* source, bool aligned, bool valid) {
    if (aligned) return copy_16_bytes_async(target, source, valid);
    for (int i = 0; i < int(16 / sizeof(Element)); ++i)
        ((Element*)target)[i] = valid ? ((const Element*)source)[i] : Element(0);
}

/// `x_parts`: parts of x. `last` is the number of hidden units. Blocks beyond the last unit write zeros.
template <class Weights, int width, int units, int warps, int x_parts, int cluster, class Activation>
CAIRN_DEVICE void mlp_row(const MlpRowOperands& p, int last, float eps, const Activation& activation) {
    using Plan = MlpRowPlan<Weights, width, units, warps>;
    using Element = typename Weights::Element;
    constexpr int count = Weights::count, share = width / cluster;
    extern __shared__ __align__(16) unsigned char weights[];
    unsigned char *const w1 = weights, *const w2 = weights + Plan::w1_bytes;
    __shared__ __align__(16) float x[width];
    __shared__ float gamma[width];
    __shared__ float beta[width];
    __shared__ __align__(16) float received[width];
    __shared__ float sums_of_units[warps][units];
    __shared__ float hidden[units];
    __shared__ u64 all_received;
    const int t = threadIdx.x, warp = t / 32, lane = t % 32;
    const int first = blockIdx.x * units, rank = cluster_rank();

    if (t == 0) {
        mbarrier_init(&all_received, 1);
        mbarrier_init_fence();
        mbarrier_expect(&all_received, width * 4);
    }
    const Element *const w1_source = (const Element*)p.w1, *const w2_source = (const Element*)p.w2;
    const bool w1_aligned = is_aligned(p.w1), w2_aligned = is_aligned(p.w2);
    for (int i = t; i < width * Plan::chunks; i += Plan::threads) {
        const int row = i / Plan::chunks, at = i % Plan::chunks * count;
        const bool valid = first + at < last;
        copy_weights<Element>(w1 + row * Plan::w1_pitch + at * Plan::element,
                              w1_source + (valid ? i64(row) * last + first + at : 0), w1_aligned, valid);
    }
    for (int i = t; i < units * Plan::w2_chunks; i += Plan::threads) {
        const int unit = i / Plan::w2_chunks, at = i % Plan::w2_chunks * count;
        const bool valid = first + unit < last;
        copy_weights<Element>(w2 + (unit * width + at) * Plan::element,
                              w2_source + (valid ? i64(first + unit) * width + at : 0), w2_aligned, valid);
    }
    commit_copies();
    for (int i = t; i < width; i += Plan::threads) {
        gamma[i] = load_f32(p.gamma + i);
        beta[i] = load_f32(p.beta + i);
    }
    const float bias = t < units && first + t < last ? load_f32(p.b1 + first + t) : 0.0f;
    __syncthreads();  // the barrier is initialised
    cluster_arrive_relaxed();
    cluster_wait();

    dependency_wait();
    trigger_dependents();
    const bool x_aligned = is_aligned(p.x);
    for (int i = t * 4; i < width; i += Plan::threads * 4) {
        if (x_aligned) {
            *(uint4*)&x[i] = sum_of_wide_parts<x_parts>(p.x + i, width);
        } else {
            for (int e = 0; e < 4; ++e) x[i + e] = sum_of_parts<x_parts>(p.x + i + e, width);
        }
    }
    wait_copies<0>();
    __syncthreads();

    // Every warp computes the statistics of the whole row.
    float sum = 0.0f, squares = 0.0f;
#pragma unroll 8
    for (int i = lane; i < width; i += 32) sum += x[i];
    const float mean = warp_sum(sum) / float(width);
#pragma unroll 8
    for (int i = lane; i < width; i += 32) squares += (x[i] - mean) * (x[i] - mean);
    const float scale = 1.0f / sqrtf(warp_sum(squares) / float(width) + eps);

    // The first product: a warp takes the units of one chunk of w1, and a slice of the row.
    const int chunk = warp / warps;
    float of_units[count] = {};
#pragma unroll 4
    for (int i = warp % warps * 32 + lane; i < width; i += Plan::slices) {
        const float value = (x[i] - mean) * scale * gamma[i] + beta[i];
        float w[count];
        Weights::unpack(*(uint4*)(w1 + i * Plan::w1_pitch + chunk * 16), w);
#pragma unroll
        for (int e = 0; e < count; ++e) of_units[e] = fmaf(value, w[e], of_units[e]);
    }
#pragma unroll
    for (int e = 0; e < count; ++e) {
        const float total = warp_sum(of_units[e]);
        if (lane == e) sums_of_units[warp % warps][chunk * count + e] = total;
    }
    __syncthreads();
    if (t < units) {
        float total = sums_of_units[0][t];
        for (int w = 1; w < warps; ++w) total += sums_of_units[w][t];
        hidden[t] = first + t < last ? activation(total + bias) : 0.0f;
    }
    __syncthreads();

    // The second product: the rows of w2 of all units.
    float* const sums = (float*)w1;
    const int group = t / Plan::w2_chunks;
    if (group < Plan::groups) {
        for (int at = t - group * Plan::w2_chunks; at < Plan::w2_chunks; at += Plan::threads) {
            float total[count] = {};
#pragma unroll 4
            for (int unit = group; unit < units; unit += Plan::groups) {
                float w[count];
                Weights::unpack(*(uint4*)(w2 + (unit * width + at * count) * Plan::element), w);
#pragma unroll
                for (int e = 0; e < count; ++e) total[e] = fmaf(hidden[unit], w[e], total[e]);
            }
#pragma unroll
            for (int e = 0; e < count; ++e) sums[group * width + at * count + e] = total[e];
        }
    }
    __syncthreads();
    // Each block of the cluster receives a share of the row from all.
    for (int i = t * 4; i < width; i += Plan::threads * 4) {
        float4 total = *(float4*)&sums[i];
        for (int g = 1; g < Plan::groups; ++g) {
            const float4 next = *(float4*)&sums[g * width + i];
            total.x += next.x, total.y += next.y, total.z += next.z, total.w += next.w;
        }
        const int to = i / share;
        store_async(map_shared(shared_address(&received[rank * share + i % share]), to), total,
                    map_shared(shared_address(&all_received), to));
    }
    for (int i = t; i < share; i += Plan::threads) {
        mbarrier_wait(&all_received, 0);
        float total = received[i];
        for (int from = 1; from < cluster; ++from) total += received[from * share + i];
        const int at = rank * share + i;
        if (blockIdx.x < cluster) total += x[at] + load_f32(p.b2 + at);
        p.y[i64(blockIdx.x / cluster) * width + at] = total;
    }
}

#endif
