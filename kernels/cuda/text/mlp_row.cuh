// The MLP block of a transformer for one row, x + act(norm(x) w1 + b1) w2 + b2, by clusters of blocks. Each block owns
// some hidden units: their columns of w1 and rows of w2 are copied to shared memory before the dependency wait, and
// nothing is exchanged between the two products. The blocks of a cluster add their shares of the result, and each
// cluster writes one part of partial sums.
#if defined(CAIRN_EMULATED) || __CUDA_ARCH__ >= 900

/// Sizes and places in dynamic shared memory. `width` elements of the row; `units` hidden units a block, a multiple of
/// 8; `warps` warps for the units that 16 bytes of w1 hold.
template <class Weights, int width, int units, int warps>
struct MlpRowPlan {
    static constexpr int element = 16 / Weights::count;  // bytes
    static constexpr int chunks = units / Weights::count, threads = 32 * chunks * warps;
    // Rows of w1 are so long that 8 lanes read 16 bytes from different banks.
    static constexpr int w1_pitch = units * element + 16, w1_bytes = width * w1_pitch;
    static constexpr int w2_chunks = width / Weights::count, w2_bytes = units * width * element;
    // The sums of groups take the place of w1.
    static constexpr int most_groups = w1_pitch / 4 < units ? w1_pitch / 4 : units;
    static constexpr int groups = RowGroups<Weights, width, threads, most_groups>::count;
};

struct MlpRowOperands {
    float *x, *gamma, *beta, *b1, *b2, *y;
    void *w1, *w2;  // [width, hidden] and [hidden, width], contiguous
};

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
    const int t = threadIdx.x;
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
    load_row<width, Plan::threads, x_parts>(x, p.x);
    wait_copies<0>();
    __syncthreads();

    multiply_norm<Weights, width, Plan::w1_pitch>(x, row_moments<width>(x, eps), gamma, beta, w1, sums_of_units);
    __syncthreads();
    if (t < units) hidden[t] = first + t < last ? activation(column_sum(sums_of_units, t) + bias) : 0.0f;
    __syncthreads();
    float* const sums = (float*)w1;
    multiply_rows<Weights, width, units, Plan::threads, Plan::groups>(hidden, w2, sums);
    __syncthreads();
    // Each block of the cluster receives a share of the row from all.
    for (int i = t * 4; i < width; i += Plan::threads * 4) {
        const int to = i / share;
        store_async(map_shared(shared_address(&received[rank * share + i % share]), to),
                    sum_of_groups<width, Plan::groups>(sums, i), map_shared(shared_address(&all_received), to));
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
