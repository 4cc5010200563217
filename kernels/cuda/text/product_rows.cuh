// A product of f32 with few rows, by blocks of 256 threads: each element of b is read once, 16 bytes at a time, and
// multiplied with all rows, which are in shared memory. `rows` is the largest number of rows; `part` is how much of the
// depth is in shared memory at a time, a multiple of 128.

/// Copies part of the rows, with zeros behind the last row and up to a multiple of 4.
template <int rows, int part, class Rows>
CAIRN_DEVICE void copy_rows(float (*x)[part], const ProductOperands& p, i64 begin, int count, const Rows& a_row) {
    const int padded = (count + 3) / 4 * 4;
    for (int row = 0; row < rows; ++row) {
        const i64 start = row < p.rows ? a_row(row) : 0;
        for (int k = threadIdx.x; k < padded; k += 256)
            x[row][k] = row < p.rows && k < count ? p.a[start + (begin + k) * p.a_depth_stride] : 0.0f;
    }
}

CAIRN_DEVICE float4 as_floats(uint4 bits) {
    return make_float4(__uint_as_float(bits.x), __uint_as_float(bits.y), __uint_as_float(bits.z),
                       __uint_as_float(bits.w));
}

/// For b whose neighbours in memory are along the columns: `lanes` threads take 4 columns each, and the depth is split
/// over the groups of `lanes` threads, whose sums are added in a fixed order.
template <int rows, int part, int lanes, class Rows, class Out>
CAIRN_DEVICE void product_rows_by_columns(const ProductOperands& p, i64 first_column, const Rows& a_row,
                                          const Out& out) {
    constexpr int groups = 256 / lanes, at_once = 4, width = 4 * lanes;
    __shared__ __align__(16) float x[rows][part];
    __shared__ __align__(16) float sums[8][rows][width];
    const int group = threadIdx.x / lanes;
    const i64 column = first_column + threadIdx.x % lanes * 4;
    const auto load = [&](i64 k) {
        if (p.b_wide)
            return column < p.columns ? as_floats(load_16_bytes_once(p.b + k * p.b_depth_stride + column))
                                      : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        float w[4];
        for (int e = 0; e < 4; ++e)
            w[e] = column + e < p.columns ? p.b[k * p.b_depth_stride + (column + e) * p.b_column_stride] : 0.0f;
        return make_float4(w[0], w[1], w[2], w[3]);
    };
    float sum[rows][4] = {};
    for (i64 begin = 0; begin < p.depth; begin += part) {
        const int count = int(smaller(part, p.depth - begin));
        __syncthreads();  // the part before has been read
        copy_rows<rows, part>(x, p, begin, count, a_row);
        __syncthreads();
        for (int k = group; k < count; k += at_once * groups) {
            float4 w[at_once];
#pragma unroll
            for (int u = 0; u < at_once; ++u)
                if (k + u * groups < count) w[u] = load(begin + k + u * groups);
#pragma unroll
            for (int u = 0; u < at_once; ++u) {
                if (k + u * groups >= count) break;
#pragma unroll
                for (int row = 0; row < rows; ++row) {
                    const float a = x[row][k + u * groups];
                    sum[row][0] = fmaf(a, w[u].x, sum[row][0]);
                    sum[row][1] = fmaf(a, w[u].y, sum[row][1]);
                    sum[row][2] = fmaf(a, w[u].z, sum[row][2]);
                    sum[row][3] = fmaf(a, w[u].w, sum[row][3]);
                }
            }
        }
    }
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    constexpr int held = lanes > 8 ? lanes / 8 : 1;  // of the four sums of a row, by a lane
#pragma unroll
    for (int row = 0; row < rows; ++row) {
        if (row >= p.rows) break;
        const int first = warp_scatter_sums<4, lanes>(sum[row]);
        if (first >= 0) {
#pragma unroll
            for (int e = 0; e < held; ++e) sums[warp][row][lane % lanes * 4 + first + e] = sum[row][e];
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < rows * width; i += 256) {
        const int row = i / width, at = i % width;
        if (row >= p.rows || first_column + at >= p.columns) continue;
        float value = sums[0][row][at];
        for (int w = 1; w < 8; ++w) value += sums[w][row][at];
        out(row, first_column + at, value);
    }
}

/// For b whose neighbours in memory are along the depth: a warp takes `columns` columns, and the depth is split over
/// its lanes.
template <int rows, int part, int columns, class Rows, class Out>
CAIRN_DEVICE void product_rows_by_depth(const ProductOperands& p, i64 first_column, const Rows& a_row, const Out& out) {
    constexpr int at_once = 4 / columns;
    __shared__ __align__(16) float x[rows][part];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const i64 column = first_column + warp * columns;
    const auto load = [&](int c, i64 k) {
        float* const line = p.b + (column + c) * p.b_column_stride;
        if (p.b_wide) return as_floats(load_16_bytes_once(line + k));
        float w[4];
        for (int e = 0; e < 4; ++e) w[e] = k + e < p.depth ? line[(k + e) * p.b_depth_stride] : 0.0f;
        return make_float4(w[0], w[1], w[2], w[3]);
    };
    float sum[rows][columns] = {};
    for (i64 begin = 0; begin < p.depth; begin += part) {
        const int count = int(smaller(part, p.depth - begin));
        __syncthreads();
        copy_rows<rows, part>(x, p, begin, count, a_row);
        __syncthreads();
        for (int k = lane * 4; k < count; k += at_once * 128) {
            float4 w[at_once][columns];
#pragma unroll
            for (int u = 0; u < at_once; ++u)
#pragma unroll
                for (int c = 0; c < columns; ++c)
                    if (k + u * 128 < count && column + c < p.columns) w[u][c] = load(c, begin + k + u * 128);
#pragma unroll
            for (int u = 0; u < at_once; ++u) {
                if (k + u * 128 >= count) break;
#pragma unroll
                for (int row = 0; row < rows; ++row) {
                    const float4 a = *(float4*)&x[row][k + u * 128];
#pragma unroll
                    for (int c = 0; c < columns; ++c) {
                        if (column + c >= p.columns) continue;
                        float value = fmaf(a.x, w[u][c].x, sum[row][c]);
                        value = fmaf(a.y, w[u][c].y, value);
                        value = fmaf(a.z, w[u][c].z, value);
                        sum[row][c] = fmaf(a.w, w[u][c].w, value);
                    }
                }
            }
        }
    }
    constexpr int count = power_of_2_from(rows * columns);
    float values[count];
#pragma unroll
    for (int i = 0; i < count; ++i) values[i] = i < rows * columns ? sum[i / columns][i % columns] : 0.0f;
    const int at = warp_scatter_sums(values);
    if (at >= 0 && at / columns < p.rows && column + at % columns < p.columns)
        out(at / columns, column + at % columns, values[0]);
}
