// The norm of one row, and products of it with columns of a matrix in shared memory: what the kernels for one row of a
// transformer share.

/// Copies 16 bytes to shared memory, asynchronously if the source is aligned; zeros if not `valid`.
template <class Element>
CAIRN_DEVICE void copy_weights(void* target, const void* source, bool aligned, bool valid) {
    if (aligned) return copy_16_bytes_async(target, source, valid);
    for (int i = 0; i < int(16 / sizeof(Element)); ++i)
        ((Element*)target)[i] = valid ? ((const Element*)source)[i] : Element(0);
}

/// Loads a row from memory, or the sum of its parts, to shared memory aligned to 16 bytes.
template <int width, int threads, int parts>
CAIRN_DEVICE void load_row(float* row, float* source) {
    const bool aligned = is_aligned(source);
    for (int i = threadIdx.x * 4; i < width; i += threads * 4) {
        if (aligned) {
            *(uint4*)&row[i] = sum_of_wide_parts<parts>(source + i, width);
        } else {
            for (int e = 0; e < 4; ++e) row[i + e] = sum_of_parts<parts>(source + i + e, width);
        }
    }
}

/// Mean of a row, and 1 / sqrt(variance + eps).
struct RowMoments {
    float mean, scale;
};

/// The moments of a row in shared memory, computed by every warp for itself.
template <int width>
CAIRN_DEVICE RowMoments row_moments(const float* row, float eps) {
    const int lane = threadIdx.x % 32;
    float sum = 0.0f, squares = 0.0f;
#pragma unroll 8
    for (int i = lane; i < width; i += 32) sum += row[i];
    const float mean = warp_sum(sum) / float(width);
#pragma unroll 8
    for (int i = lane; i < width; i += 32) squares += (row[i] - mean) * (row[i] - mean);
    return {mean, 1.0f / sqrtf(warp_sum(squares) / float(width) + eps)};
}

/// Products of the norm of a row with columns of a matrix in shared memory, whose rows are `pitch` bytes apart: 16
/// bytes of each row are a chunk. Each chunk is multiplied by `warps` warps, each of which takes a slice of the row; their
/// sums are in `sums`, [warps][columns].
template <class Weights, int width, int pitch, int warps, int columns>
CAIRN_DEVICE void multiply_norm(const float* row, const RowMoments& moments, const float* gamma, const float* beta,
                                const unsigned char* matrix, float (&sums)[warps][columns]) {
    constexpr int count = Weights::count;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, chunk = warp / warps;
    float of_columns[count] = {};
#pragma unroll 4
    for (int i = warp % warps * 32 + lane; i < width; i += 32 * warps) {
        const float value = (row[i] - moments.mean) * moments.scale * gamma[i] + beta[i];
        float w[count];
        Weights::unpack(*(uint4*)(matrix + i * pitch + chunk * 16), w);
#pragma unroll
        for (int e = 0; e < count; ++e) of_columns[e] = fmaf(value, w[e], of_columns[e]);
    }
    const int column = warp_scatter_sums(of_columns);
    if (column >= 0) sums[warp % warps][chunk * count + column] = of_columns[0];
}

/// The sum of one column over the warps that multiplied it.
template <int warps, int columns>
CAIRN_DEVICE float column_sum(const float (&sums)[warps][columns], int column) {
    float total = sums[0][column];
    for (int w = 1; w < warps; ++w) total += sums[w][column];
    return total;
}

/// Products of a vector in shared memory with `width` columns of a matrix of `depth` rows there, whose rows are dense.
/// Threads of a group multiply every `groups`-th row; the sums of a group are in `sums`, [groups][width].
template <class Weights, int width, int depth, int threads, int groups>
CAIRN_DEVICE void multiply_rows(const float* vector, const unsigned char* matrix, float* sums) {
    constexpr int count = Weights::count, chunks = width / count;
    const int group = threadIdx.x / chunks;
    if (group >= groups) return;
    for (int at = threadIdx.x - group * chunks; at < chunks; at += threads) {
        float total[count] = {};
#pragma unroll 4
        for (int row = group; row < depth; row += groups) {
            float w[count];
            Weights::unpack(*(uint4*)(matrix + (row * chunks + at) * 16), w);
#pragma unroll
            for (int e = 0; e < count; ++e) total[e] = fmaf(vector[row], w[e], total[e]);
        }
#pragma unroll
        for (int e = 0; e < count; ++e) sums[group * width + at * count + e] = total[e];
    }
}

/// Groups of multiply_rows(): as many as there are threads for, and at most `most`.
template <class Weights, int width, int threads, int most>
struct RowGroups {
    static constexpr int chunks = width / Weights::count, all = threads / chunks > 0 ? threads / chunks : 1;
    static constexpr int count = all < most ? all : most;
};

/// Four neighbours of the sums of all groups, added in their order.
template <int width, int groups>
CAIRN_DEVICE float4 sum_of_groups(const float* sums, int at) {
    float4 total = *(float4*)&sums[at];
#pragma unroll 4
    for (int group = 1; group < groups; ++group) {
        const float4 next = *(float4*)&sums[group * width + at];
        total.x += next.x, total.y += next.y, total.z += next.z, total.w += next.w;
    }
    return total;
}
