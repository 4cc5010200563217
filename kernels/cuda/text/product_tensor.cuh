// A product of f32, with b as it is stored, in tiles of 64 rows on tensor cores, by blocks of 256 threads. Tensor cores
// truncate sums: their sums of at most 64 or 128 of the depth are added to f32 registers.

constexpr int tensor_rows = 64;

/// Shared memory of an operand's parts in a slice of the depth: lines along the depth, one for each of `count` rows or
/// columns, or along those. Eight elements lie between lines, so that the lines that load_matrices() reads are in
/// different banks.
template <int count, int depth, bool along_depth, int parts>
struct OperandParts {
    static constexpr int lines = along_depth ? count : depth, width = along_depth ? depth : count;
    u16 part[parts][lines][width + 8];
};

/// Places in dynamic shared memory. `columns` of a tile, 64 or 128.
template <class Format, class Weights, int columns, bool b_along_depth>
struct TensorPlan {
    struct Buffer {
        OperandParts<tensor_rows, Format::depth, true, Format::template parts<StoredF32>> a;
        OperandParts<columns, Format::depth, b_along_depth, Format::template parts<Weights>> b;
    };
    // The tile, in f32, and what multiply_tile() needs beside it, take the place of the buffers.
    static constexpr int pitch = columns + 4, tile_bytes = tensor_rows * pitch * 4;
    static constexpr int buffer_bytes = 2 * sizeof(Buffer), plain_bytes = tile_bytes + tile_shared<64> * 4;
    static constexpr int bytes = buffer_bytes > plain_bytes ? buffer_bytes : plain_bytes;
    // Each warp has 32 rows, and as many columns as `fragments` of 8.
    static constexpr int warp_columns = columns / 4, fragments = warp_columns / 8;
};

/// What a thread loads of an operand, `count` rows or columns of it: groups of four neighbours, as they are stored.
/// `wide`: the bytes of four neighbours are aligned if the address of the operand is.
template <class Stored, int count, int slice, bool along_depth, bool wide>
struct TensorOperand {
    using Element = typename Stored::Element;
    static constexpr int groups = count * slice / 4 / 256, width = along_depth ? slice : count;
    static constexpr int bytes = 4 * sizeof(Element);

    const Element* source;  // of the next slice
    i64 first, end, depth_stride;
    bool aligned;
    // With `wide`, the groups of the next slice, and their places in the depth; these are large outside the operand.
    const Element* next[groups];
    int depth_of[groups];
    decltype(load_neighbours<bytes>((const void*)nullptr)) bits[groups];

    CAIRN_DEVICE int line(int group) { return (threadIdx.x + 256 * group) / (width / 4); }
    CAIRN_DEVICE int place(int group) { return (threadIdx.x + 256 * group) % (width / 4) * 4; }
    /// The first element of a group: of the rows or columns, and of the depth.
    CAIRN_DEVICE int of_count(int group) { return along_depth ? line(group) : place(group); }
    CAIRN_DEVICE int of_depth(int group) { return along_depth ? place(group) : line(group); }
};

/// offset(i) is that of row or column i.
template <class Stored, int count, int slice, bool along_depth, bool wide, class Offset>
CAIRN_DEVICE void begin_loads(TensorOperand<Stored, count, slice, along_depth, wide>& operand, const Offset& offset) {
    using Operand = TensorOperand<Stored, count, slice, along_depth, wide>;
#pragma unroll
    for (int group = 0; wide && group < Operand::groups; ++group) {
        const i64 i = operand.first + Operand::of_count(group);
        operand.next[group] = operand.source + offset(i) + Operand::of_depth(group) * operand.depth_stride;
        operand.depth_of[group] = i < operand.end ? Operand::of_depth(group) : slice;
    }
}

/// Loads the next slice, from which `left` of the depth are left; elements outside are 0.
template <class Stored, int count, int slice, bool along_depth, bool wide, class Offset>
CAIRN_DEVICE void load_slice(TensorOperand<Stored, count, slice, along_depth, wide>& operand, i64 left,
                             const Offset& offset) {
    using Operand = TensorOperand<Stored, count, slice, along_depth, wide>;
    const int depth = int(smaller(left, slice));
#pragma unroll
    for (int group = 0; group < Operand::groups; ++group) {
        if constexpr (wide) {
            operand.bits[group] = {};
            if (operand.depth_of[group] < depth) {
                if (operand.aligned) {
                    operand.bits[group] = load_neighbours<Operand::bytes>(operand.next[group]);
                } else {
                    typename Stored::Element four[4];
#pragma unroll
                    for (int n = 0; n < 4; ++n) four[n] = Stored::narrow(Stored::load(operand.next[group] + n));
                    operand.bits[group] = Stored::pack(four);
                }
            }
            operand.next[group] += slice * operand.depth_stride;
        } else {
            const i64 i = operand.first + Operand::of_count(group);
            const int k = Operand::of_depth(group);
            typename Stored::Element four[4];
#pragma unroll
            for (int n = 0; n < 4; ++n) {
                const i64 of_count = along_depth ? i : i + n;
                const int of_depth = along_depth ? k + n : k;
                const bool is_in = of_count < operand.end && of_depth < depth;
                four[n] = Stored::narrow(
                    is_in ? Stored::load(operand.source + offset(of_count) + of_depth * operand.depth_stride) : 0.0f);
            }
            operand.bits[group] = Stored::pack(four);
        }
    }
    if constexpr (!wide) operand.source += slice * operand.depth_stride;
}

/// Converts the slice to parts in shared memory.
template <class Format, bool of_b, class Stored, int count, int slice, bool along_depth, bool wide, int part_count>
CAIRN_DEVICE void store_slice(const TensorOperand<Stored, count, slice, along_depth, wide>& operand,
                              OperandParts<count, slice, along_depth, part_count>& parts,
                              typename Format::Range& range) {
    using Operand = TensorOperand<Stored, count, slice, along_depth, wide>;
#pragma unroll
    for (int group = 0; group < Operand::groups; ++group) {
        float x[4];
        Stored::unpack(operand.bits[group], x);
#pragma unroll
        for (int n = 0; n < 4; ++n) Format::template extend<of_b>(range, x[n]);
        uint2 converted[part_count];
        Format::convert(x, converted);
#pragma unroll
        for (int part = 0; part < part_count; ++part)
            *(uint2*)&parts.part[part][Operand::line(group)][Operand::place(group)] = converted[part];
    }
}

/// Sums of a warp's 32 rows, as fragments of 16 by 8.
template <int fragments>
struct TensorSums {
    float large[2][fragments][4] = {}, small[2][fragments][4] = {}, total[2][fragments][4] = {};
};

template <int fragments>
CAIRN_DEVICE void add_large_sums(TensorSums<fragments>& sums) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < fragments; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e) sums.total[i][j][e] += sums.large[i][j][e], sums.large[i][j][e] = 0.0f;
}

/// Loads the fragments of 16 columns of b from addresses of rows, as of load_matrices(). `along_columns`: rows in
/// shared memory are along the columns.
template <bool along_columns>
CAIRN_DEVICE void load_column_fragments(u32 (&first)[2], u32 (&second)[2], const void* row) {
    u32 both[4];
    if constexpr (along_columns)
        load_matrices_transposed(both, row);
    else
        load_matrices(both, row);
    first[0] = both[0], first[1] = both[1], second[0] = both[2], second[1] = both[3];
}

/// Adds the products of 16 of the depth from `k` on, for the rows and columns that begin at `row` and `column`.
template <class Format, int fragments, int columns, bool b_along_depth, int of_a, int of_b>
CAIRN_DEVICE void multiply_parts(const OperandParts<tensor_rows, Format::depth, true, of_a>& a_parts,
                                 const OperandParts<columns, Format::depth, b_along_depth, of_b>& b_parts, int row,
                                 int column, int k, TensorSums<fragments>& sums) {
    const int lane = threadIdx.x % 32, matrix = lane / 8, at = lane % 8;
    u32 a[2][of_a][4];
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int part = 0; part < of_a; ++part)
            load_matrices(a[i][part], &a_parts.part[part][row + 16 * i + matrix % 2 * 8 + at][k + matrix / 2 * 8]);
#pragma unroll
    for (int first = 0; first < fragments; first += 2) {
        u32 b[2][of_b][2];  // of 16 columns
#pragma unroll
        for (int part = 0; part < of_b; ++part) {
            const int of_columns = column + 8 * first + matrix / 2 * 8, of_depth = k + matrix % 2 * 8;
            const u16* const row_of_b = b_along_depth ? &b_parts.part[part][of_columns + at][of_depth]
                                                      : &b_parts.part[part][of_depth + at][of_columns];
            load_column_fragments<!b_along_depth>(b[0][part], b[1][part], row_of_b);
        }
        // The smallest first. Products of one fragment, which wait for one another, are not neighbours.
#pragma unroll
        for (int order = Format::most_parts - 1; order > 0; --order)
#pragma unroll
            for (int part = 0; part <= order; ++part)
                if (order - part < of_b)
#pragma unroll
                    for (int i = 0; i < 2; ++i)
#pragma unroll
                        for (int j = 0; j < 2; ++j)
                            Format::multiply(sums.small[i][first + j], a[i][part], b[j][order - part]);
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int j = 0; j < 2; ++j) Format::multiply(sums.large[i][first + j], a[i][0], b[j][0]);
    }
}

/// Parts of the depth, a power of two up to 8, with which the blocks of the tiles fill the device once (split-K).
CAIRN_DEVICE int depth_splits(i64 tiles, i64 depth, i64 resident_blocks) {
    int splits = 8;
    while (splits > 1 && (tiles * splits > resident_blocks || depth < 128 * splits)) splits /= 2;
    return splits;
}

/// Computes the tile at a row and a column by f32 operations, and leaves its rows in shared memory.
template <class Format, int columns, bool b_along_depth, class Weights, class Rows>
CAIRN_DEVICE void multiply_plainly(const ProductOperands<Weights>& p, i64 first_row, i64 first_column,
                                   const Rows& a_row, unsigned char* shared) {
    using Plan = TensorPlan<Format, Weights, columns, b_along_depth>;
    auto* const result = (float(*)[Plan::pitch])shared;
    float* const tile = (float*)(shared + Plan::tile_bytes);
#pragma unroll 1
    for (int of_tile = 0; of_tile < columns; of_tile += 64) {
        multiply_tile<64, b_along_depth>(p, first_row, first_column + of_tile, a_row, tile);
        __syncthreads();
        for (int i = threadIdx.x; i < 64 * 64; i += 256)
            result[i / 64][of_tile + i % 64] = tile[i / 64 * (64 + 4) + i % 64];
        __syncthreads();
    }
}

/// Computes the tile at a row and a column, and leaves its rows in shared memory; parameters as of multiply_tile().
/// `a_wide`, `b_wide`: as of TensorOperand. Where elements are not finite, or too small or large for the format, it is
/// computed by f32 operations.
template <class Format, int columns, bool b_along_depth, bool a_wide, bool b_wide, class Weights, class Rows>
CAIRN_DEVICE void multiply_tensor_tile(const ProductOperands<Weights>& p, i64 first_row, i64 first_column,
                                       const Rows& a_row, unsigned char* shared) {
    using Plan = TensorPlan<Format, Weights, columns, b_along_depth>;
    auto* const buffers = (typename Plan::Buffer*)shared;
    auto* const result = (float(*)[Plan::pitch])shared;
    const auto b_column = [&](i64 column) { return column * p.b_column_stride; };
    const int warp = threadIdx.x / 32, row = warp / 4 * 32, column = warp % 4 * Plan::warp_columns;

    constexpr int slice = Format::depth;
    TensorOperand<StoredF32, tensor_rows, slice, true, a_wide> a{p.a, first_row, p.rows, p.a_depth_stride, p.a_wide};
    TensorOperand<Weights, columns, slice, b_along_depth, b_wide> b{p.b, first_column, p.columns, p.b_depth_stride,
                                                                    p.b_wide};
    typename Format::Range range;
    TensorSums<Plan::fragments> sums;
    begin_loads(a, a_row);
    begin_loads(b, b_column);
    load_slice(a, p.depth, a_row);
    load_slice(b, p.depth, b_column);
    store_slice<Format, false>(a, buffers[0].a, range);
    store_slice<Format, true>(b, buffers[0].b, range);
    load_slice(a, p.depth - slice, a_row);
    load_slice(b, p.depth - slice, b_column);
    __syncthreads();
    // Each slice in turn is multiplied while the next one is converted, and the one after that is on its way.
    const auto multiply = [&](const typename Plan::Buffer& buffer, typename Plan::Buffer& next, i64 left) {
#pragma unroll
        for (int k = 0; k < slice / 2; k += 16) multiply_parts<Format>(buffer.a, buffer.b, row, column, k, sums);
        store_slice<Format, false>(a, next.a, range);
        load_slice(a, left, a_row);
#pragma unroll
        for (int k = slice / 2; k < slice; k += 16) multiply_parts<Format>(buffer.a, buffer.b, row, column, k, sums);
        store_slice<Format, true>(b, next.b, range);
        load_slice(b, left, b_column);
        __syncthreads();
    };
#pragma unroll 1
    for (i64 left = p.depth; left > 0; left -= 2 * slice) {
        multiply(buffers[0], buffers[1], left - 2 * slice);
        multiply(buffers[1], buffers[0], left - 3 * slice);
        add_large_sums(sums);
    }

    bool any_small = false, is_exact = Format::fits(range, any_small);
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < Plan::fragments; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int lane = threadIdx.x % 32;
                const int to_row = row + 16 * i + e / 2 * 8 + lane / 4;
                const int to_column = column + 8 * j + lane % 4 * 2 + e % 2;
                const float value = fmaf(sums.small[i][j][e], Format::small_scale, sums.total[i][j][e]);
                const u32 magnitude = __float_as_uint(value) & 0x7fffffffu;
                // Below 2^-80 beside small elements, or not finite, as where an element is not or rounds to infinity.
                if (first_row + to_row < p.rows && first_column + to_column < p.columns &&
                    ((any_small && magnitude < 0x17800000u) || magnitude >= 0x7f800000u))
                    is_exact = false;
                result[to_row][to_column] = value;
            }
    if (__syncthreads_or(!is_exact))
        multiply_plainly<Format, columns, b_along_depth>(p, first_row, first_column, a_row, shared);
}

/// Computes a tile; out(row, column, value) takes each element once. `shared_bytes`: of dynamic shared memory.
template <class Format, int columns, bool b_along_depth, bool a_wide, bool b_wide, int shared_bytes, class Weights,
          class Rows, class Out>
CAIRN_DEVICE void tensor_product(const ProductOperands<Weights>& p, i64 first_row, i64 first_column, const Rows& a_row,
                                 const Out& out) {
    using Plan = TensorPlan<Format, Weights, columns, b_along_depth>;
    static_assert(Plan::bytes == shared_bytes, "as the launch has");
    extern __shared__ __align__(16) unsigned char tensor_shared[];
    multiply_tensor_tile<Format, columns, b_along_depth, a_wide, b_wide>(p, first_row, first_column, a_row,
                                                                         tensor_shared);
    write_tile<tensor_rows, columns>(p, first_row, first_column, (const float*)tensor_shared, out);
}

#if defined(CAIRN_EMULATED) || __CUDA_ARCH__ >= 900

/// As tensor_product(), by `splits` neighbouring blocks of a cluster, each for a part of the depth: 1, 2, 4 or 8. They
/// add their sums in order, each block for some of the rows. Blocks without a tile (`has_tile`) only wait for others.
template <class Format, int columns, bool b_along_depth, bool a_wide, bool b_wide, int shared_bytes, class Weights,
          class Rows, class Out>
CAIRN_DEVICE void tensor_product_split(ProductOperands<Weights> p, i64 first_row, i64 first_column, const Rows& a_row,
                                       const Out& out, int splits, bool has_tile) {
    using Plan = TensorPlan<Format, Weights, columns, b_along_depth>;
    static_assert(Plan::bytes == shared_bytes, "as the launch has");
    extern __shared__ __align__(16) unsigned char tensor_shared[];
    const int rank = int(cluster_rank()), split = rank % splits;
    if (has_tile) {
        restrict_depth<64>(p, split, splits);
        multiply_tensor_tile<Format, columns, b_along_depth, a_wide, b_wide>(p, first_row, first_column, a_row,
                                                                             tensor_shared);
    }
    cluster_arrive();
    cluster_wait();
    const int rows = tensor_rows / splits;
#pragma unroll 1
    for (int i = threadIdx.x; has_tile && i < rows * columns; i += 256) {
        const int row = split * rows + i / columns, column = i % columns;
        const i64 to_row = first_row + row, to_column = first_column + column;
        if (to_row >= p.rows || to_column >= p.columns) continue;
        const u32 at = shared_address(tensor_shared) + 4 * (row * Plan::pitch + column);
        float parts[8], sum = 0.0f;
#pragma unroll
        for (int s = 0; s < 8; ++s) parts[s] = s < splits ? load_remote(map_shared(at, rank - split + s)) : 0.0f;
#pragma unroll
        for (int s = 0; s < 8; ++s) sum += parts[s];
        out(to_row, to_column, sum);
    }
    // No block ends while another reads its shared memory.
    cluster_arrive();
    cluster_wait();
}

#endif
