// A product of f32 with few rows, with b as it is stored, by blocks of 256 threads: each element of b is read once, 16 or
// 8 bytes at a time, and multiplied with all rows, which are in shared memory. `rows` is the largest number of rows;
// `part` is how much of the depth is in shared memory at a time, a multiple of 128.

/// Copies part of the rows, with zeros behind the last row and up to a multiple of 8.
template <int rows, int part, class Weights, class Rows>
CAIRN_DEVICE void copy_rows(float (*x)[part], const ProductOperands<Weights>& p, i64 begin, int count,
                            const Rows& a_row) {
    const int padded = (count + 7) / 8 * 8;
    for (int row = 0; row < rows; ++row) {
        const i64 start = row < p.rows ? a_row(row) : 0;
        for (int k = threadIdx.x; k < padded; k += 256)
            x[row][k] = row < p.rows && k < count ? p.a[start + (begin + k) * p.a_depth_stride] : 0.0f;
    }
}

/// For b whose neighbours in memory are along the columns: `lanes` threads take `each` columns each, 4, or 8 of 16
/// bits, and the depth is split over the groups of `lanes` threads, whose sums are added in a fixed order.
template <int rows, int part, int lanes, int each, class Weights, class Rows, class Out>
CAIRN_DEVICE void product_rows_by_columns(const ProductOperands<Weights>& p, i64 first_column, const Rows& a_row,
                                          const Out& out) {
    using Element = typename Weights::Element;
    using Bits = decltype(load_neighbours_once<each * sizeof(Element)>(p.b));
    constexpr int groups = 256 / lanes, at_once = 4, width = each * lanes;
    __shared__ __align__(16) float x[rows][part];
    __shared__ __align__(16) float sums[8][rows][width];
    const int group = threadIdx.x / lanes;
    const i64 column = first_column + threadIdx.x % lanes * each;
    const auto load = [&](i64 k) {
        if (p.b_wide)
            return column < p.columns
                       ? load_neighbours_once<each * sizeof(Element)>(p.b + k * p.b_depth_stride + column)
                       : Bits{};
        Element w[each];
        for (int e = 0; e < each; ++e)
            w[e] = column + e < p.columns ? p.b[k * p.b_depth_stride + (column + e) * p.b_column_stride] : Element(0);
        return Weights::pack(w);
    };
    float sum[rows][each] = {};
    for (i64 begin = 0; begin < p.depth; begin += part) {
        const int count = int(smaller(part, p.depth - begin));
        __syncthreads();  // the part before has been read
        copy_rows<rows, part>(x, p, begin, count, a_row);
        __syncthreads();
        for (int k = group; k < count; k += at_once * groups) {
            Bits bits[at_once];
#pragma unroll
            for (int u = 0; u < at_once; ++u)
                if (k + u * groups < count) bits[u] = load(begin + k + u * groups);
#pragma unroll
            for (int u = 0; u < at_once; ++u) {
                if (k + u * groups >= count) break;
                float w[each];
                Weights::unpack(bits[u], w);
#pragma unroll
                for (int row = 0; row < rows; ++row) {
                    const float a = x[row][k + u * groups];
#pragma unroll
                    for (int e = 0; e < each; ++e) sum[row][e] = fmaf(a, w[e], sum[row][e]);
                }
            }
        }
    }
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    constexpr int held = each * lanes > 32 ? each * lanes / 32 : 1;  // of the sums of a row, by a lane
#pragma unroll
    for (int row = 0; row < rows; ++row) {
        if (row >= p.rows) break;
        const int first = warp_scatter_sums<each, lanes>(sum[row]);
        if (first >= 0) {
#pragma unroll
            for (int e = 0; e < held; ++e) sums[warp][row][lane % lanes * each + first + e] = sum[row][e];
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
template <int rows, int part, int columns, class Weights, class Rows, class Out>
CAIRN_DEVICE void product_rows_by_depth(const ProductOperands<Weights>& p, i64 first_column, const Rows& a_row,
                                        const Out& out) {
    using Element = typename Weights::Element;
    constexpr int each = Weights::count, of_warp = 32 * each, in_part = part < of_warp ? 1 : part / of_warp;
    constexpr int at_once = in_part < 4 / columns ? in_part : 4 / columns;
    __shared__ __align__(16) float x[rows][part];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const i64 column = first_column + warp * columns;
    const auto load = [&](int c, i64 k) {
        const Element* const line = p.b + (column + c) * p.b_column_stride;
        if (p.b_wide) return load_16_bytes_once(line + k);
        Element w[each];
        for (int e = 0; e < each; ++e) w[e] = k + e < p.depth ? line[(k + e) * p.b_depth_stride] : Element(0);
        return Weights::pack(w);
    };
    float sum[rows][columns] = {};
    for (i64 begin = 0; begin < p.depth; begin += part) {
        const int count = int(smaller(part, p.depth - begin));
        __syncthreads();
        copy_rows<rows, part>(x, p, begin, count, a_row);
        __syncthreads();
        for (int k = lane * each; k < count; k += at_once * of_warp) {
            uint4 bits[at_once][columns];
#pragma unroll
            for (int u = 0; u < at_once; ++u)
#pragma unroll
                for (int c = 0; c < columns; ++c)
                    if (k + u * of_warp < count && column + c < p.columns)
                        bits[u][c] = load(c, begin + k + u * of_warp);
#pragma unroll
            for (int u = 0; u < at_once; ++u) {
                const int at = k + u * of_warp;
                if (at >= count) break;
                float w[columns][each];
#pragma unroll
                for (int c = 0; c < columns; ++c)
                    if (column + c < p.columns) Weights::unpack(bits[u][c], w[c]);
#pragma unroll
                for (int e = 0; e < each; e += 4)
#pragma unroll
                    for (int row = 0; row < rows; ++row) {
                        const float4 a = *(float4*)&x[row][at + e];
#pragma unroll
                        for (int c = 0; c < columns; ++c) {
                            if (column + c >= p.columns) continue;
                            float value = fmaf(a.x, w[c][e], sum[row][c]);
                            value = fmaf(a.y, w[c][e + 1], value);
                            value = fmaf(a.z, w[c][e + 2], value);
                            sum[row][c] = fmaf(a.w, w[c][e + 3], value);
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
