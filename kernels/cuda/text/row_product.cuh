// The product of a row in shared memory with some columns of a matrix, by a block: the first product of the kernels for
// one row of a transformer. The columns are copied to dynamic shared memory before the dependency wait.

/// `columns` of the block, a multiple of those that 16 bytes of a row hold: a chunk. `warps` warps for a chunk.
template <class Weights, int width, int columns, int warps>
struct RowProduct {
    static constexpr int count = Weights::count, chunks = columns / count, threads = 32 * chunks * warps;
    // Rows are an odd number of 16 bytes: 8 lanes read them from different banks.
    static constexpr int pitch = (chunks | 1) * 16, bytes = width * pitch;
    static constexpr int scratch = warps * columns;  // elements of shared memory

    /// Copies the columns of a matrix of `all` columns, and returns the element of the bias of the column that this
    /// thread has. column_of(i) is column i of the block; -1: there is none, and nor is any behind it, and it is
    /// multiplied as zeros.
    template <class Column>
    CAIRN_DEVICE float load(unsigned char* target, const void* matrix, i64 all, const float* bias,
                            const Column& column_of) {
        using Element = typename Weights::Element;
        const bool aligned = is_aligned(matrix);
        for (int i = threadIdx.x; i < width * chunks; i += threads) {
            const int row = i / chunks, chunk = i % chunks;
            const i64 column = column_of(chunk * count);
            copy_weights<Element>(target + row * pitch + chunk * 16,
                                  (const Element*)matrix + (column < 0 ? 0 : row * all + column), aligned, column >= 0);
        }
        commit_copies();
        const i64 own = threadIdx.x < columns ? column_of(threadIdx.x) : -1;
        return own < 0 ? 0.0f : load_f32(bias + own);
    }

    /// Multiplies when all copies are complete: out(column, value) for each column, by one thread.
    template <class Out>
    CAIRN_DEVICE void multiply(const unsigned char* matrix, float* scratch, const float* row, float bias,
                               const Out& out) {
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, chunk = warp / warps;
        float of_columns[count] = {};
#pragma unroll 4
        for (int i = warp % warps * 32 + lane; i < width; i += 32 * warps) {
            float w[count];
            Weights::unpack(*(uint4*)(matrix + i * pitch + chunk * 16), w);
#pragma unroll
            for (int e = 0; e < count; ++e) of_columns[e] = fmaf(row[i], w[e], of_columns[e]);
        }
        const int at = warp_scatter_sums(of_columns);
        if (at >= 0) scratch[warp % warps * columns + chunk * count + at] = of_columns[0];
        __syncthreads();
        if (threadIdx.x >= columns) return;
        float total = scratch[threadIdx.x];
        for (int w = 1; w < warps; ++w) total += scratch[w * columns + threadIdx.x];
        out(threadIdx.x, total + bias);
    }
};
