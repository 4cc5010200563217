// The MLP block of a transformer for one row, x + act(norm(x) w1 + b1) w2 + b2, by clusters of blocks. Each block owns
// some hidden units: their columns of w1 and rows of w2 are copied to shared memory before the dependency wait, and
// nothing is exchanged between the two products. The blocks of a cluster add their shares of the result, and each
// cluster writes one part of partial sums.
#if defined(CAIRN_EMULATED) || __CUDA_ARCH__ >= 900

/// Sizes and places in dynamic shared memory. `width` elements of the row; `units` hidden units a block, a multiple of
/// those that 16 bytes hold; `warps` as of RowProduct.
template <class Weights, int width, int units, int warps>
struct MlpRowPlan {
    using First = RowProduct<Weights, width, units, warps>;
    static constexpr int element = 16 / Weights::count, threads = First::threads;
    // The sums of groups take the place of w1.
    static constexpr int most_groups = First::bytes / (4 * width) < units ? First::bytes / (4 * width) : units;
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
    using First = typename Plan::First;
    using Element = typename Weights::Element;
    constexpr int share = width / cluster;
    extern __shared__ __align__(16) unsigned char weights[];
    unsigned char *const w1 = weights, *const w2 = weights + First::bytes;
    __shared__ __align__(16) float x[width];
    __shared__ __align__(16) float normal[width];
    __shared__ float of_warps[Plan::threads / 32];
    __shared__ __align__(16) float received[width];
    __shared__ float scratch[First::scratch];
    __shared__ float hidden[units];
    __shared__ u64 weights_received;
    __shared__ u64 all_received;
    const int t = threadIdx.x;
    const int first = blockIdx.x * units, rank = cluster_rank();
    const int valid = int(larger(smaller(last - first, units), 0));  // hidden units of this block
    const bool w2_aligned = is_aligned(p.w2);

    if (t == 0) {
        mbarrier_init(&weights_received, 1);
        mbarrier_init(&all_received, 1);
        mbarrier_init_fence();
        mbarrier_expect(&weights_received, w2_aligned ? valid * width * Plan::element : 0);
        mbarrier_expect(&all_received, width * 4);
    }
    __syncwarp();  // the first warp copies
    const float b1 =
        First::load(w1, p.w1, last, p.b1, [&](int i) -> i64 { return first + i < last ? first + i : -1; });
    if (valid > 0)
        copy_pieces<Element, Plan::threads>(w2, 1, valid * width * Plan::element, w2_aligned, &weights_received,
                                            [&](int) { return (const Element*)p.w2 + i64(first) * width; });
    for (int i = valid * width + t; i < units * width; i += Plan::threads) ((Element*)w2)[i] = Element(0);
    const auto gamma = load_elements<width, Plan::threads>(p.gamma), beta = load_elements<width, Plan::threads>(p.beta);
    const bool adds_row = blockIdx.x < cluster;
    const float b2 = adds_row && t < share ? load_f32(p.b2 + rank * share + t) : 0.0f;
    __syncthreads();  // the barriers are initialised
    cluster_arrive_relaxed();
    cluster_wait();

    dependency_wait();
    trigger_dependents();
    load_norm<x_parts>(x, normal, of_warps, p.x, gamma, beta, eps);
    wait_copies<0>();
    mbarrier_wait(&weights_received, 0);
    __syncthreads();

    First::multiply(w1, scratch, normal, b1,
                    [&](int unit, float value) { hidden[unit] = first + unit < last ? activation(value) : 0.0f; });
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
        if (adds_row) total += x[at] + (i == t ? b2 : load_f32(p.b2 + at));
        p.y[i64(blockIdx.x / cluster) * width + at] = total;
    }
}

#endif
