// Functions of a row of f32 that a block computes. `load(j)` and `store(j, value)` access element j.

/// The elements of a row that a thread works on: every `threads`-th. They are loaded once, into registers, if there are
/// at most `values` a thread; with `values` 0 they are loaded by every each().
template <int threads, int values, class Load>
struct Row {
    i64 size;
    const Load& load;
    float kept[values > 0 ? values : 1];

    __device__ __forceinline__ Row(i64 row_size, const Load& row_load) : size(row_size), load(row_load) {
#pragma unroll
        for (int v = 0; v < values; ++v) {
            const i64 j = threadIdx.x + v * threads;
            kept[v] = j < size ? load(j) : 0.0f;
        }
    }
    /// Calls work(j, value) for each element of this thread.
    template <class Work>
    __device__ __forceinline__ void each(const Work& work) const {
        if constexpr (values > 0) {
#pragma unroll
            for (int v = 0; v < values; ++v) {
                const i64 j = threadIdx.x + v * threads;
                if (j < size) work(j, kept[v]);
            }
        } else {
            for (i64 j = threadIdx.x; j < size; j += threads) work(j, load(j));
        }
    }
};

CAIRN_DEVICE float minus_infinity() { return __uint_as_float(0xff800000u); }

template <int threads, int values, class Load>
CAIRN_DEVICE float row_sum(i64 size, const Load& load) {
    __shared__ float scratch[threads / 32];
    const Row<threads, values, Load> row(size, load);
    float sum = 0.0f;
    row.each([&](i64, float x) { sum += x; });
    return block_sum<threads>(sum, scratch);
}

template <int threads, int values, class Load>
CAIRN_DEVICE float row_max(i64 size, const Load& load) {
    __shared__ float scratch[threads / 32];
    const Row<threads, values, Load> row(size, load);
    float largest = minus_infinity();
    row.each([&](i64, float x) { largest = element_max(largest, x); });
    return block_max<threads>(largest, scratch);
}

template <int threads, int values, class Load>
CAIRN_DEVICE i32 row_argmax(i64 size, const Load& load) {
    __shared__ __align__(8) PlacedValue scratch[threads / 32];
    const Row<threads, values, Load> row(size, load);
    PlacedValue best = {0.0f, -1};
    row.each([&](i64 j, float x) { best = larger_placed(best, PlacedValue{x, i32(j)}); });
    return block_larger_placed<threads>(best, scratch).place;
}

template <int threads, int values, class Load>
CAIRN_DEVICE float row_variance(i64 size, const Load& load) {
    __shared__ float scratch[threads / 32];
    const Row<threads, values, Load> row(size, load);
    float sum = 0.0f;
    row.each([&](i64, float x) { sum += x; });
    const float mean = block_sum<threads>(sum, scratch) / float(size);
    float squares = 0.0f;
    row.each([&](i64, float x) { squares += (x - mean) * (x - mean); });
    return block_sum<threads>(squares, scratch) / float(size);
}

/// The softmax of a row, or its logarithm.
template <int threads, int values, bool is_log, class Load, class Store>
CAIRN_DEVICE void row_softmax(i64 size, const Load& load, const Store& store) {
    __shared__ float scratch[threads / 32];
    const Row<threads, values, Load> row(size, load);
    float largest = minus_infinity();
    row.each([&](i64, float x) { largest = element_max(largest, x); });
    largest = block_max<threads>(largest, scratch);
    float sum = 0.0f;
    row.each([&](i64, float x) { sum += expf(x - largest); });
    sum = block_sum<threads>(sum, scratch);
    if constexpr (is_log) {
        const float log_sum = logf(sum);
        row.each([&](i64 j, float x) { store(j, x - largest - log_sum); });
    } else {
        const float inverse = 1.0f / sum;
        row.each([&](i64 j, float x) { store(j, expf(x - largest) * inverse); });
    }
}

/// A row divided by the root of its mean square plus eps; with `is_centered` its mean is subtracted first.
template <int threads, int values, bool is_centered, class Load, class Store>
CAIRN_DEVICE void row_norm(i64 size, float eps, const Load& load, const Store& store) {
    __shared__ float scratch[threads / 32];
    const Row<threads, values, Load> row(size, load);
    float mean = 0.0f;
    if constexpr (is_centered) {
        float sum = 0.0f;
        row.each([&](i64, float x) { sum += x; });
        mean = block_sum<threads>(sum, scratch) / float(size);
    }
    float squares = 0.0f;
    row.each([&](i64, float x) { squares += (x - mean) * (x - mean); });
    const float scale = 1.0f / sqrtf(block_sum<threads>(squares, scratch) / float(size) + eps);
    row.each([&](i64 j, float x) { store(j, (x - mean) * scale); });
}
