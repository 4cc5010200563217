// A product of f32, with b as it is stored, in square tiles of 64 or 32, by blocks of 256 threads: a part of the depth
// is copied to shared memory while the part before is multiplied. Each thread sums 4 x 4 or 2 x 2 elements. Sums over
// 128 of the depth are added up, so that rounding errors grow with the root of the depth only.

/// Elements of the depth in shared memory at a time: each thread copies 4 elements of an operand.
template <int tile>
constexpr int tile_depth = 1024 / tile;

/// Copies lines along the depth, one for each row or column of a tile. With `wide` the line of this thread begins at
/// `line`, where 16 bytes are aligned; otherwise offset(i) is that of line i. Elements outside are 0.
template <class Weights, int tile, class Offset>
CAIRN_DEVICE void copy_lines(float (*target)[tile_depth<tile> + 4], const typename Weights::Element* source,
                             const typename Weights::Element* line, i64 first, i64 lines, i64 begin, i64 depth,
                             i64 stride, bool wide, const Offset& offset) {
    constexpr int size = tile_depth<tile>;
    if (wide) {
        const int i = threadIdx.x / (size / 4), at = threadIdx.x % (size / 4) * 4;
        const bool valid = first + i < lines && begin + at < depth;
        copy_four<Weights>(&target[i][at], valid ? line + begin + at : source, valid);
        return;
    }
    for (int e = threadIdx.x; e < tile * size; e += 256) {
        const int i = e / size, at = e % size;
        const bool valid = first + i < lines && begin + at < depth;
        target[i][at] = valid ? Weights::load(source + offset(first + i) + (begin + at) * stride) : 0.0f;
    }
}

/// Copies lines along the columns, one for each element of the depth.
template <class Weights, int tile>
CAIRN_DEVICE void copy_depths(float (*target)[tile + 4], const typename Weights::Element* source, i64 first,
                              i64 columns, i64 begin, i64 depth, i64 depth_stride, i64 column_stride, bool wide) {
    if (wide) {
        const int i = threadIdx.x / (tile / 4), at = threadIdx.x % (tile / 4) * 4;
        const bool valid = begin + i < depth && first + at < columns;
        copy_four<Weights>(&target[i][at], valid ? source + (begin + i) * depth_stride + first + at : source, valid);
        return;
    }
    for (int e = threadIdx.x; e < tile * tile_depth<tile>; e += 256) {
        const int i = e / tile, at = e % tile;
        const bool valid = begin + i < depth && first + at < columns;
        target[i][at] =
            valid ? Weights::load(source + (begin + i) * depth_stride + (first + at) * column_stride) : 0.0f;
    }
}

/// Neighbouring elements of shared memory.
CAIRN_DEVICE void read_elements(float (&to)[4], float* from) {
    const float4 four = *(float4*)from;
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}
CAIRN_DEVICE void read_elements(float (&to)[2], float* from) {
    const float2 two = *(float2*)from;
    to[0] = two.x, to[1] = two.y;
}

/// The operands of a product; all sizes and strides are in elements. `Weights` is how b is stored.
template <class Weights>
struct ProductOperands {
    const float* a;
    const typename Weights::Element* b;
    i64 rows, columns, depth;
    i64 a_depth_stride, b_depth_stride, b_column_stride;
    bool a_wide, b_wide;  // 16 bytes at once: a along the depth; b along the depth or the columns
};

/// Restricts the operands to one of `parts` parts of the depth (split-K). All but the last have the same multiple of
/// `multiple` elements.
template <int multiple, class Weights>
CAIRN_DEVICE void restrict_depth(ProductOperands<Weights>& p, i64 part, i64 parts) {
    const i64 size = (p.depth + multiple * parts - 1) / (multiple * parts) * multiple;
    p.a += part * size * p.a_depth_stride;
    p.b += part * size * p.b_depth_stride;
    p.depth = larger(smaller(size, p.depth - part * size), 0);
}

/// Elements of shared memory for two parts of the depth of an operand, whichever of its axes is contiguous.
template <int tile>
constexpr int tile_operand = 2 * tile * (tile_depth<tile> + 4) > 2 * tile_depth<tile> * (tile + 4)
                                 ? 2 * tile * (tile_depth<tile> + 4)
                                 : 2 * tile_depth<tile> * (tile + 4);

/// Elements of shared memory that multiply_tile() uses.
template <int tile>
constexpr int tile_shared = 2 * tile_operand<tile>;

/// Computes the tile at a row and a column, and leaves its rows in shared memory, tile + 4 elements apart. a_row(i) is
/// the offset of row i of a. `b_along_depth`: neighbours of b in memory are along the depth.
template <int tile, bool b_along_depth, class Weights, class Rows>
CAIRN_DEVICE void multiply_tile(const ProductOperands<Weights>& p, i64 first_row, i64 first_column, const Rows& a_row,
                                float* shared) {
    constexpr int size = tile_depth<tile>, each = tile / 16, steps_of_sum = 128 / size;
    constexpr int b_lines = b_along_depth ? tile : size, b_width = b_along_depth ? size + 4 : tile + 4;
    auto* const a_tile = (float(*)[tile][size + 4])shared;
    auto* const b_tile = (float(*)[b_lines][b_width])(shared + tile_operand<tile>);
    auto* const result = (float(*)[tile + 4])shared;  // after the last barrier
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    const auto b_column = [&](i64 column) { return column * p.b_column_stride; };
    const int line = threadIdx.x / (size / 4);
    const float* const a_line = p.a + (first_row + line < p.rows ? a_row(first_row + line) : 0);
    const auto* const b_line =
        p.b + (b_along_depth && first_column + line < p.columns ? b_column(first_column + line) : 0);
    const auto copy = [&](i64 step) {
        const int buffer = int(step % 2);
        copy_lines<StoredF32, tile>(a_tile[buffer], p.a, a_line, first_row, p.rows, step * size, p.depth,
                                     p.a_depth_stride, p.a_wide, a_row);
        if constexpr (b_along_depth)
            copy_lines<Weights, tile>(b_tile[buffer], p.b, b_line, first_column, p.columns, step * size, p.depth,
                                      p.b_depth_stride, p.b_wide, b_column);
        else
            copy_depths<Weights, tile>(b_tile[buffer], p.b, first_column, p.columns, step * size, p.depth,
                                       p.b_depth_stride, p.b_column_stride, p.b_wide);
        commit_copies();
    };
    float total[each][each] = {}, sum[each][each] = {};
    const auto add_sums = [&] {
#pragma unroll
        for (int i = 0; i < each; ++i)
#pragma unroll
            for (int j = 0; j < each; ++j) total[i][j] += sum[i][j], sum[i][j] = 0.0f;
    };
    const i64 steps = (p.depth + size - 1) / size;
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
        for (int k = 0; k < size; k += 4) {
            float a[each][4], b[each][4];  // 4 of the depth for each row and column
#pragma unroll
            for (int i = 0; i < each; ++i) read_elements(a[i], &a_tile[buffer][y + 16 * i][k]);
            if constexpr (b_along_depth) {
#pragma unroll
                for (int j = 0; j < each; ++j) read_elements(b[j], &b_tile[buffer][x + 16 * j][k]);
            } else {
#pragma unroll
                for (int q = 0; q < 4; ++q) {
                    float of_depth[each];
                    read_elements(of_depth, &b_tile[buffer][k + q][each * x]);
#pragma unroll
                    for (int j = 0; j < each; ++j) b[j][q] = of_depth[j];
                }
            }
#pragma unroll
            for (int q = 0; q < 4; ++q)
#pragma unroll
                for (int i = 0; i < each; ++i)
#pragma unroll
                    for (int j = 0; j < each; ++j) sum[i][j] = fmaf(a[i][q], b[j][q], sum[i][j]);
        }
        if (step % steps_of_sum == steps_of_sum - 1) add_sums();
        __syncthreads();  // the buffer is read before it is filled again
    }
    add_sums();
#pragma unroll
    for (int i = 0; i < each; ++i)
#pragma unroll
        for (int j = 0; j < each; ++j) result[y + 16 * i][b_along_depth ? x + 16 * j : each * x + j] = total[i][j];
}

/// Gives each element of a tile in shared memory, whose rows are columns + 4 elements apart and were written before a
/// barrier, to out(row, column, value) once.
template <int rows, int columns, class Weights, class Out>
CAIRN_DEVICE void write_tile(const ProductOperands<Weights>& p, i64 first_row, i64 first_column, const float* shared,
                             const Out& out) {
    const auto* const result = (const float(*)[columns + 4])shared;
    // One copy of `out` in the code; a warp writes neighbours.
#pragma unroll 1
    for (int i = threadIdx.x; i < rows * columns; i += 256) {
        const i64 to_row = first_row + i / columns, to_column = first_column + i % columns;
        if (to_row < p.rows && to_column < p.columns) out(to_row, to_column, result[i / columns][i % columns]);
    }
}

/// Computes the tile at a row and a column; out(row, column, value) takes each element once.
template <int tile, bool b_along_depth, class Weights, class Rows, class Out>
CAIRN_DEVICE void product_tile(const ProductOperands<Weights>& p, i64 first_row, i64 first_column, const Rows& a_row,
                               const Out& out) {
    __shared__ __align__(16) float shared[tile_shared<tile>];
    multiply_tile<tile, b_along_depth>(p, first_row, first_column, a_row, shared);
    __syncthreads();
    write_tile<tile, tile>(p, first_row, first_column, shared, out);
}
