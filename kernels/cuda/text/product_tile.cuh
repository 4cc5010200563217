// A product of f32 in tiles of 64 x 64, by blocks of 256 threads: 16 of the depth at a time are copied to shared memory
// while the last 16 are multiplied. Each thread sums 4 x 4 elements; sums over 128 of the depth are added up, so that
// rounding errors grow with the root of the depth only.

/// Copies 64 lines of 16 elements each along the depth. With `wide` line `threadIdx.x / 4` begins at `line`, where 16
/// bytes are aligned; otherwise offset(i) is that of line i. Elements outside are 0.
template <class Offset>
CAIRN_DEVICE void copy_lines(float (*tile)[20], float* source, float* line, i64 first, i64 lines, i64 begin, i64 depth,
                             i64 stride, bool wide, const Offset& offset) {
    if (wide) {
        const int at = threadIdx.x % 4 * 4;
        const bool valid = first + threadIdx.x / 4 < lines && begin + at < depth;
        copy_16_bytes_async(&tile[threadIdx.x / 4][at], valid ? line + begin + at : source, valid);
        return;
    }
    for (int e = 0; e < 4; ++e) {
        const int i = threadIdx.x / 16 + 16 * e, at = threadIdx.x % 16;
        const bool valid = first + i < lines && begin + at < depth;
        tile[i][at] = valid ? source[offset(first + i) + (begin + at) * stride] : 0.0f;
    }
}

/// Copies 16 lines of 64 elements each along the columns.
CAIRN_DEVICE void copy_depths(float (*tile)[68], float* source, i64 first, i64 columns, i64 begin, i64 depth,
                              i64 depth_stride, i64 column_stride, bool wide) {
    if (wide) {
        const int i = threadIdx.x / 16, at = threadIdx.x % 16 * 4;
        const bool valid = begin + i < depth && first + at < columns;
        copy_16_bytes_async(&tile[i][at], valid ? source + (begin + i) * depth_stride + first + at : source, valid);
        return;
    }
    for (int e = 0; e < 4; ++e) {
        const int i = threadIdx.x / 64 + 4 * e, at = threadIdx.x % 64;
        const bool valid = begin + i < depth && first + at < columns;
        tile[i][at] = valid ? source[(begin + i) * depth_stride + (first + at) * column_stride] : 0.0f;
    }
}

/// The operands of a product; all sizes and strides are in elements.
struct ProductOperands {
    float *a, *b;
    i64 rows, columns, depth;
    i64 a_depth_stride, b_depth_stride, b_column_stride;
    bool a_wide, b_wide;  // 16 bytes at once: a along the depth; b along the depth or the columns
};

/// Computes the tile at a row and a column. a_row(i) is the offset of row i of a; out(row, column, value) takes each
/// element once. `b_along_depth`: neighbours of b in memory are along the depth.
template <bool b_along_depth, class Rows, class Out>
CAIRN_DEVICE void product_tile(const ProductOperands& p, i64 first_row, i64 first_column, const Rows& a_row,
                               const Out& out) {
    constexpr int b_lines = b_along_depth ? 64 : 16, b_width = b_along_depth ? 20 : 68;
    __shared__ __align__(16) float shared[2 * 64 * 20 + 2 * 64 * 20];
    auto* const a_tile = (float(*)[64][20])shared;
    auto* const b_tile = (float(*)[b_lines][b_width])(shared + 2 * 64 * 20);
    auto* const result = (float(*)[68])shared;  // after the last barrier
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    const auto b_column = [&](i64 column) { return column * p.b_column_stride; };
    const i64 row = first_row + threadIdx.x / 4, column = first_column + threadIdx.x / 4;
    float* const a_line = p.a + (row < p.rows ? a_row(row) : 0);
    float* const b_line = p.b + (b_along_depth && column < p.columns ? b_column(column) : 0);
    const auto copy = [&](i64 step) {
        const int buffer = int(step % 2);
        copy_lines(a_tile[buffer], p.a, a_line, first_row, p.rows, step * 16, p.depth, p.a_depth_stride, p.a_wide,
                   a_row);
        if constexpr (b_along_depth)
            copy_lines(b_tile[buffer], p.b, b_line, first_column, p.columns, step * 16, p.depth, p.b_depth_stride,
                       p.b_wide, b_column);
        else
            copy_depths(b_tile[buffer], p.b, first_column, p.columns, step * 16, p.depth, p.b_depth_stride,
                        p.b_column_stride, p.b_wide);
        commit_copies();
    };
    float total[4][4] = {}, sum[4][4] = {};
    const auto add_sums = [&] {
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j) total[i][j] += sum[i][j], sum[i][j] = 0.0f;
    };
    const i64 steps = (p.depth + 15) / 16;
    if (steps > 0) copy(0);
    for (i64 step = 0; step < steps; ++step) {
        if (step + 1 < steps) {
            copy(step + 1);
            wait_copies<1>();
        } else {
            wait_copies<0>();
        }
        __syncthreads();
        const int buffer = int(step % 2);
#pragma unroll
        for (int k = 0; k < 16; k += 4) {
            float4 a[4], b[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) a[i] = *(float4*)&a_tile[buffer][y + 16 * i][k];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                if constexpr (b_along_depth)
                    b[j] = *(float4*)&b_tile[buffer][x + 16 * j][k];
                else
                    b[j] = *(float4*)&b_tile[buffer][k + j][4 * x];
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                if constexpr (b_along_depth) {
#pragma unroll
                    for (int j = 0; j < 4; ++j) {
                        sum[i][j] = fmaf(a[i].x, b[j].x, sum[i][j]);
                        sum[i][j] = fmaf(a[i].y, b[j].y, sum[i][j]);
                        sum[i][j] = fmaf(a[i].z, b[j].z, sum[i][j]);
                        sum[i][j] = fmaf(a[i].w, b[j].w, sum[i][j]);
                    }
                } else {
                    const float along[4] = {a[i].x, a[i].y, a[i].z, a[i].w};
#pragma unroll
                    for (int q = 0; q < 4; ++q) {
                        sum[i][0] = fmaf(along[q], b[q].x, sum[i][0]);
                        sum[i][1] = fmaf(along[q], b[q].y, sum[i][1]);
                        sum[i][2] = fmaf(along[q], b[q].z, sum[i][2]);
                        sum[i][3] = fmaf(along[q], b[q].w, sum[i][3]);
                    }
                }
            }
        }
        if (step % 8 == 7) add_sums();
        __syncthreads();  // the buffer is read before it is filled again
    }
    add_sums();
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) result[y + 16 * i][b_along_depth ? x + 16 * j : 4 * x + j] = total[i][j];
    __syncthreads();
    // One copy of `out` in the code; a warp writes neighbours.
#pragma unroll 1
    for (int i = threadIdx.x; i < 64 * 64; i += 256) {
        const i64 to_row = first_row + i / 64, to_column = first_column + i % 64;
        if (to_row < p.rows && to_column < p.columns) out(to_row, to_column, result[i / 64][i % 64]);
    }
}
