// The attention block of a transformer for one row, x + attention(norm(x) w + b) wo + bo, by a cluster of blocks for
// each head. Each block owns some columns of q, k and v of its head, and of the result: these columns of w, and of the
// head's rows of wo, are copied to shared memory before the dependency wait. Keys and values before the row are shared
// among the blocks of the cluster, which exchange q and their sums; the last block also attends to the row itself. Each
// cluster writes one part of partial sums.
#if defined(CAIRN_EMULATED) || __CUDA_ARCH__ >= 900

/// Sizes and places in dynamic shared memory. `width` elements of the row; heads of `depth` elements, 32, 64 or 128;
/// `warps` as of the product with w (kernels/cuda/text/row_product.cuh).
template <class Weights, int width, int depth, int warps, int cluster>
struct AttentionRowPlan {
    static constexpr int columns = depth / cluster, share = width / cluster;  // of each of q, k and v; of the result
    using First = RowProduct<Weights, width, 3 * columns, warps>;
    static constexpr int element = 16 / Weights::count, threads = First::threads, all_warps = threads / 32;
    // The sums of groups take the place of w.
    static constexpr int most_groups = First::bytes / (4 * share) < depth ? First::bytes / (4 * share) : depth;
    static constexpr int groups = RowGroups<Weights, share, threads, most_groups>::count;
    // Lanes that attend to one key, four elements each.
    static constexpr int lanes = depth / 4;
};

struct AttentionRowOperands {
    float *x, *gamma, *beta, *b, *bo, *y;
    void *w, *wo;  // [width, 3 * heads * depth] and [heads * depth, width], contiguous
};

/// Keys and values of a head before the row, and the places of those of the row. Strides, in elements, are those
/// between keys or values.
template <class StoredState>
struct AttentionRowState {
    using Stored = StoredState;
    const typename Stored::Element *k, *v;
    typename Stored::Element *new_k, *new_v;
    i64 keys, k_stride, v_stride;
    bool k_wide, v_wide;  // 16 bytes at once
};

/// Online softmax state of one row after some keys: the largest score, the sum of weights exp(score - largest), and
/// four columns of the weighted sum of values.
struct OnlineSoftmaxState {
    float largest, sum;
    float4 values;
};

CAIRN_DEVICE OnlineSoftmaxState empty_softmax_state() {
    return {minus_infinity(), 0.0f, make_float4(0.0f, 0.0f, 0.0f, 0.0f)};
}

/// The factor by which the sums of a state are rescaled when its largest score `own` becomes `largest`.
CAIRN_DEVICE float rescale_factor(float own, float largest) { return expf(own - finite_shift(largest)); }

CAIRN_DEVICE OnlineSoftmaxState merged(const OnlineSoftmaxState& a, const OnlineSoftmaxState& b) {
    const float largest = element_max(a.largest, b.largest);
    const float of_a = rescale_factor(a.largest, largest), of_b = rescale_factor(b.largest, largest);
    return {largest, a.sum * of_a + b.sum * of_b,
            make_float4(a.values.x * of_a + b.values.x * of_b, a.values.y * of_a + b.values.y * of_b,
                        a.values.z * of_a + b.values.z * of_b, a.values.w * of_a + b.values.w * of_b)};
}

/// Merges states that lie `pitch` elements apart in memory: `depth` columns, the largest score and the sum of weights.
/// Returns column `at` of the weighted sum of values; the other two are put into `largest` and `sum`.
template <int states, int depth, int pitch>
CAIRN_DEVICE float merge_stored(const float* first, int at, float& largest, float& sum) {
    largest = first[depth];
    for (int i = 1; i < states; ++i) largest = element_max(largest, first[i * pitch + depth]);
    sum = 0.0f;
    float value = 0.0f;
    for (int i = 0; i < states; ++i) {
        const float factor = rescale_factor(first[i * pitch + depth], largest);
        sum = fmaf(factor, first[i * pitch + depth + 1], sum);
        value = fmaf(factor, first[i * pitch + at], value);
    }
    return value;
}

/// `x_parts`: parts of x. state_of(head) is called behind the dependency wait.
template <class Weights, int width, int depth, int warps, int x_parts, int cluster, class StateOf>
CAIRN_DEVICE void attention_row(const AttentionRowOperands& p, float eps, float scale, const StateOf& state_of) {
    using Plan = AttentionRowPlan<Weights, width, depth, warps, cluster>;
    using First = typename Plan::First;
    using Element = typename Weights::Element;
    constexpr int columns = Plan::columns, share = Plan::share, threads = Plan::threads;
    constexpr int lanes = Plan::lanes, pitch = depth + 4;
    extern __shared__ __align__(16) unsigned char weights[];
    unsigned char *const w = weights, *const wo = weights + First::bytes;
    __shared__ __align__(16) float x[width];
    __shared__ __align__(16) float normal[width];
    __shared__ float sums_of_warps[Plan::all_warps];
    __shared__ float scratch[First::scratch];
    __shared__ float own[3 * columns];
    __shared__ __align__(16) float row[3][depth];  // q; in the last block also k and v
    __shared__ __align__(16) float of_warps[Plan::all_warps][pitch];
    __shared__ float received[cluster][pitch];
    __shared__ float seen[depth];
    __shared__ u64 weights_received;
    __shared__ u64 row_received;
    __shared__ u64 states_received;
    const int t = threadIdx.x, warp = t / 32, lane = t % 32;
    const int rank = cluster_rank(), head = blockIdx.x / cluster, heads = gridDim.x / cluster;
    const bool is_last = rank == cluster - 1;

    const bool wo_aligned = is_aligned(p.wo);
    if (t == 0) {
        mbarrier_init(&weights_received, 1);
        mbarrier_init(&row_received, 1);
        mbarrier_init(&states_received, 1);
        mbarrier_init_fence();
        mbarrier_expect(&weights_received, wo_aligned ? depth * share * Plan::element : 0);
        mbarrier_expect(&row_received, (is_last ? 3 : 1) * depth * 4);
        mbarrier_expect(&states_received, cluster * (depth + 2) * 4);
    }
    __syncwarp();  // the first warp copies
    // Neighbours of the head's q, then k, then v.
    const float bias = First::load(w, p.w, 3 * heads * depth, p.b, [&](int i) -> i64 {
        const int of_head = rank * 3 * columns + i;
        return (of_head / depth * heads + head) * depth + of_head % depth;
    });
    copy_pieces<Element, threads>(
        wo, depth, share * Plan::element, wo_aligned, &weights_received,
        [&](int r) { return (const Element*)p.wo + i64(head * depth + r) * width + rank * share; });
    const auto gamma = load_elements<width, threads>(p.gamma), beta = load_elements<width, threads>(p.beta);
    const float bo = head == 0 && t < share ? load_f32(p.bo + rank * share + t) : 0.0f;
    __syncthreads();  // the barriers are initialised
    cluster_arrive_relaxed();
    cluster_wait();

    dependency_wait();
    trigger_dependents();
    const auto state = state_of(head);
    using Stored = typename decltype(state_of(head))::Stored;
    // The keys of this block. A group of lanes takes every `groups`-th; its next key and value are on their way.
    constexpr int groups = threads / lanes;
    const int group = t / lanes, at = t % lanes * 4;
    const i64 keys_of_block = (state.keys + cluster - 1) / cluster;
    const i64 begin = smaller(rank * keys_of_block, state.keys), end = smaller(begin + keys_of_block, state.keys);
    float4 next_k, next_v;
    const auto load_key = [&](i64 key) {
        const float4 zeros = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        next_k = key < end ? four_elements<Stored>(state.k + key * state.k_stride, at, depth, state.k_wide) : zeros;
        next_v = key < end ? four_elements<Stored>(state.v + key * state.v_stride, at, depth, state.v_wide) : zeros;
    };
    load_key(begin + group);
    load_norm<x_parts>(x, normal, sums_of_warps, p.x, gamma, beta, eps);
    wait_copies<0>();
    mbarrier_wait(&weights_received, 0);
    __syncthreads();

    First::multiply(w, scratch, normal, bias, [&](int i, float value) {
        const int third = (rank * 3 * columns + i) / depth, at = (rank * 3 * columns + i) % depth;
        const auto stored = Stored::narrow(value);
        own[i] = third == 0 ? value : Stored::widen(stored);
        if (third == 1) state.new_k[at] = stored;
        if (third == 2) state.new_v[at] = stored;
    });
    __syncthreads();
    // Elements of q go to all blocks, those of k and v to the last one.
    for (int i = t; i < 3 * columns * cluster; i += threads) {
        const int column = rank * 3 * columns + i / cluster, third = column / depth, to = i % cluster;
        if (third == 0 || to == cluster - 1)
            store_async(map_shared(shared_address(&row[third][column % depth]), to), own[i / cluster],
                        map_shared(shared_address(&row_received), to));
    }
    mbarrier_wait(&row_received, 0);

    const float4 q = *(float4*)&row[0][at];
    OnlineSoftmaxState softmax = empty_softmax_state();
    const auto attend = [&](float4 k, float4 v, bool counts) {
        float dot = dot_of_four(q, k, 0.0f);
        for (int distance = lanes / 2; distance > 0; distance /= 2) dot += __shfl_xor_sync(all_lanes, dot, distance);
        if (counts) softmax = merged(softmax, {dot * scale, 1.0f, v});
    };
#pragma unroll 1
    for (i64 first = begin; first < end; first += groups) {
        const float4 k = next_k, v = next_v;
        load_key(first + groups + group);
        attend(k, v, first + group < end);
    }
    if (is_last) attend(*(float4*)&row[1][at], *(float4*)&row[2][at], group == 0);

    // Merges the states of the groups of a warp, of the warps, and of the blocks.
    for (int distance = lanes; distance < 32; distance *= 2) {
        OnlineSoftmaxState other;
        other.largest = __shfl_xor_sync(all_lanes, softmax.largest, distance);
        other.sum = __shfl_xor_sync(all_lanes, softmax.sum, distance);
        other.values.x = __shfl_xor_sync(all_lanes, softmax.values.x, distance);
        other.values.y = __shfl_xor_sync(all_lanes, softmax.values.y, distance);
        other.values.z = __shfl_xor_sync(all_lanes, softmax.values.z, distance);
        other.values.w = __shfl_xor_sync(all_lanes, softmax.values.w, distance);
        softmax = merged(softmax, other);
    }
    if (lane < lanes) *(float4*)&of_warps[warp][at] = softmax.values;
    if (lane == 0) of_warps[warp][depth] = softmax.largest, of_warps[warp][depth + 1] = softmax.sum;
    __syncthreads();
    for (int i = t; i < depth; i += threads) {
        float largest, sum;
        const float value = merge_stored<Plan::all_warps, depth, pitch>(of_warps[0], i, largest, sum);
        for (int to = 0; to < cluster; ++to) {
            const u32 barrier = map_shared(shared_address(&states_received), to);
            store_async(map_shared(shared_address(&received[rank][i]), to), value, barrier);
            if (i > 0) continue;
            store_async(map_shared(shared_address(&received[rank][depth]), to), largest, barrier);
            store_async(map_shared(shared_address(&received[rank][depth + 1]), to), sum, barrier);
        }
    }
    mbarrier_wait(&states_received, 0);
    for (int i = t; i < depth; i += threads) {
        float largest, sum;
        const float value = merge_stored<cluster, depth, pitch>(received[0], i, largest, sum);
        seen[i] = value / sum;
    }
    __syncthreads();

    float* const sums = (float*)w;
    multiply_rows<Weights, share, depth, threads, Plan::groups>(seen, wo, sums);
    __syncthreads();
    // A thread for each column, whose bias it has.
    for (int i = t; i < share; i += threads) {
        const int column = rank * share + i;
        float value = sums[i];
        for (int of_group = 1; of_group < Plan::groups; ++of_group) value += sums[of_group * share + i];
        if (head == 0) value += x[column] + (i == t ? bo : load_f32(p.bo + column));
        p.y[i64(head) * width + column] = value;
    }
}

#endif
