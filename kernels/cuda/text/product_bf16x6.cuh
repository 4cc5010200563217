// A product of f32, with b as it is stored, in tiles of 64 by 64 on tensor cores. Each element is the sum of three bf16
// parts, which hold its 24 bits; of the nine products of parts, the six that f32 can tell apart are added. An f16 is the
// sum of two parts, which leaves five products, and a bf16 is one part, which leaves three. Tensor cores truncate sums:
// the small products have sums of their own, and the sum of the large ones is added to f32 registers every 64 of the
// depth. The result is then closer to the exact one than that of a chain of f32 operations. Blocks have 256 threads.

constexpr int bf16x6_tile = 64, bf16x6_depth = 32, bf16x6_parts = 3;
constexpr int bf16x6_load = bf16x6_tile * bf16x6_depth / 4 / 256;  // groups of 4 elements that a thread loads

/// Elements of a line along the depth, or along the columns.
template <bool along_depth>
constexpr int bf16x6_width = along_depth ? bf16x6_depth : bf16x6_tile;

/// Shared memory of an operand's parts: lines along the depth, or along the columns. Eight elements lie between lines,
/// so that the lines that load_matrices() reads are in different banks.
template <bool along_depth, int parts>
struct Bf16Parts {
    static constexpr int count = parts;
    static constexpr int lines = along_depth ? bf16x6_tile : bf16x6_depth;
    static constexpr int width = bf16x6_width<along_depth>;
    u16 part[parts][lines][width + 8];
};

/// Magnitudes of elements, as bits: the largest, and the smallest that is not 0, less one.
struct MagnitudeRange {
    u32 most = 0, least = ~0u;
};

CAIRN_DEVICE void extend(MagnitudeRange& range, float x) {
    const u32 magnitude = __float_as_uint(x) & 0x7fffffffu;
    range.most = magnitude > range.most ? magnitude : range.most;
    range.least = magnitude - 1 < range.least ? magnitude - 1 : range.least;
}

/// False if an element is infinite, NaN, or so large that it rounds to infinity as bf16; or if one is below 2^-108, so
/// that its last part may be too small for bf16.
CAIRN_DEVICE bool can_be_split(const MagnitudeRange& range) {
    return range.most < 0x7f000000u && range.least >= 0x09800000u - 1;
}

/// True if an element is below 2^-40, so that products of parts may be subnormal.
CAIRN_DEVICE bool has_small(const MagnitudeRange& range) { return range.least < 0x2b800000u - 1; }

/// The parts of four neighbours, the largest parts first.
template <int count>
CAIRN_DEVICE void split_four(float (&x)[4], uint2 (&parts)[count]) {
#pragma unroll
    for (int part = 0; part < count; ++part) {
        parts[part] = {f32_to_bf16x2(x[0], x[1]), f32_to_bf16x2(x[2], x[3])};
        // What is left is exact: the rounding error of bf16 has at most 16 bits.
        x[0] -= __uint_as_float(parts[part].x << 16), x[1] -= __uint_as_float(parts[part].x & 0xffff0000u);
        x[2] -= __uint_as_float(parts[part].y << 16), x[3] -= __uint_as_float(parts[part].y & 0xffff0000u);
    }
}

/// Groups of four neighbours of an operand that a thread loads.
using Bf16Groups = float[bf16x6_load][4];

/// The line of the parts in which a group lies, and the place of its first element.
template <bool along_depth>
CAIRN_DEVICE int line_of_group(int group) {
    return (threadIdx.x + 256 * group) / (bf16x6_width<along_depth> / 4);
}
template <bool along_depth>
CAIRN_DEVICE int place_of_group(int group) {
    return (threadIdx.x + 256 * group) % (bf16x6_width<along_depth> / 4) * 4;
}

/// Loads elements from `begin` of the depth on; those outside are 0. offset(i) is that of row or column i. With `wide`
/// the bytes of four neighbours are aligned.
template <class Weights, bool along_depth, class Offset>
CAIRN_DEVICE void load_groups(Bf16Groups& x, const typename Weights::Element* source, i64 first, i64 lines, i64 begin,
                              i64 depth, i64 depth_stride, bool wide, const Offset& offset) {
    constexpr int bytes = 4 * sizeof(typename Weights::Element);
#pragma unroll
    for (int group = 0; group < bf16x6_load; ++group) {
        const int line = line_of_group<along_depth>(group), place = place_of_group<along_depth>(group);
        const i64 i = first + (along_depth ? line : place), k = begin + (along_depth ? place : line);
        const bool valid = i < lines && k < depth;
        if (wide) {
            decltype(load_neighbours<bytes>(source)) four = {};
            if (valid) four = load_neighbours<bytes>(source + offset(i) + k * depth_stride);
            Weights::unpack(four, x[group]);
            continue;
        }
#pragma unroll
        for (int n = 0; n < 4; ++n) {
            const i64 of_line = along_depth ? i : i + n, of_depth = along_depth ? k + n : k;
            const bool is_in = of_line < lines && of_depth < depth;
            x[group][n] = is_in ? Weights::load(source + offset(of_line) + of_depth * depth_stride) : 0.0f;
        }
    }
}

/// Splits them into the parts in shared memory.
template <bool along_depth, int count>
CAIRN_DEVICE void store_groups(Bf16Groups& x, Bf16Parts<along_depth, count>& parts, MagnitudeRange& range) {
#pragma unroll
    for (int group = 0; group < bf16x6_load; ++group) {
#pragma unroll
        for (int n = 0; n < 4; ++n) extend(range, x[group][n]);
        uint2 split[count];
        split_four(x[group], split);
#pragma unroll
        for (int part = 0; part < count; ++part)
            *(uint2*)&parts.part[part][line_of_group<along_depth>(group)][place_of_group<along_depth>(group)] =
                split[part];
    }
}

/// Sums of a warp's 32 rows by 16 columns, as fragments of 16 by 8.
struct Bf16x6Sums {
    float large[2][2][4] = {}, small[2][2][4] = {}, total[2][2][4] = {};
};

CAIRN_DEVICE void add_large_sums(Bf16x6Sums& sums) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e) sums.total[i][j][e] += sums.large[i][j][e], sums.large[i][j][e] = 0.0f;
}

/// Adds the products of 16 of the depth from `k` on, for the rows and columns that begin at `row` and `column`.
template <bool b_along_depth, int of_b>
CAIRN_DEVICE void multiply_parts(const Bf16Parts<true, bf16x6_parts>& a_parts,
                                 const Bf16Parts<b_along_depth, of_b>& b_parts, int row, int column, int k,
                                 Bf16x6Sums& sums) {
    const int lane = threadIdx.x % 32, matrix = lane / 8, at = lane % 8;
    u32 b[2][of_b][2];
#pragma unroll
    for (int part = 0; part < of_b; ++part) {
        u32 both[4];  // of 16 columns
        if constexpr (b_along_depth)
            load_matrices(both, &b_parts.part[part][column + matrix / 2 * 8 + at][k + matrix % 2 * 8]);
        else
            load_matrices_transposed(both, &b_parts.part[part][k + matrix % 2 * 8 + at][column + matrix / 2 * 8]);
        b[0][part][0] = both[0], b[0][part][1] = both[1], b[1][part][0] = both[2], b[1][part][1] = both[3];
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        u32 a[bf16x6_parts][4];
#pragma unroll
        for (int part = 0; part < bf16x6_parts; ++part)
            load_matrices(a[part], &a_parts.part[part][row + 16 * i + matrix % 2 * 8 + at][k + matrix / 2 * 8]);
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            // The smallest first.
#pragma unroll
            for (int order = bf16x6_parts - 1; order > 0; --order)
#pragma unroll
                for (int part = 0; part <= order; ++part)
                    if (order - part < of_b) mma_bf16(sums.small[i][j], a[part], b[j][order - part]);
            mma_bf16(sums.large[i][j], a[0], b[j][0]);
        }
    }
}

/// Computes the tile at a row and a column; parameters as of product_tile(). Where elements are not finite, or so small
/// or large that the parts would lose bits, the tile is computed by f32 operations instead.
template <bool b_along_depth, class Weights, class Rows, class Out>
CAIRN_DEVICE void product_bf16x6(const ProductOperands<Weights>& p, i64 first_row, i64 first_column, const Rows& a_row,
                                 const Out& out) {
    struct Operands {
        Bf16Parts<true, bf16x6_parts> a;
        Bf16Parts<b_along_depth, Weights::bf16_parts> b;
    };
    constexpr int plain_bytes = tile_shared<bf16x6_tile> * 4, parts_bytes = sizeof(Operands);
    __shared__ __align__(16) unsigned char shared[plain_bytes > parts_bytes ? plain_bytes : parts_bytes];
    auto& operands = *(Operands*)shared;
    auto* const result = (float(*)[bf16x6_tile + 4])shared;
    const auto b_column = [&](i64 column) { return column * p.b_column_stride; };
    const int warp = threadIdx.x / 32, row = warp / 4 * 32, column = warp % 4 * 16;

    Bf16Groups a, b;
    MagnitudeRange range;
    Bf16x6Sums sums;
    const auto load = [&](i64 begin) {
        load_groups<StoredF32, true>(a, p.a, first_row, p.rows, begin, p.depth, p.a_depth_stride, p.a_wide, a_row);
        load_groups<Weights, b_along_depth>(b, p.b, first_column, p.columns, begin, p.depth, p.b_depth_stride,
                                            p.b_wide, b_column);
    };
    if (p.depth > 0) load(0);
    for (i64 begin = 0; begin < p.depth; begin += bf16x6_depth) {
        store_groups<true>(a, operands.a, range);
        store_groups<b_along_depth>(b, operands.b, range);
        __syncthreads();
        if (begin + bf16x6_depth < p.depth) load(begin + bf16x6_depth);
        // Unrolled it would need more than the 128 registers with which two blocks are resident.
#pragma unroll 1
        for (int k = 0; k < bf16x6_depth; k += 16)
            multiply_parts<b_along_depth>(operands.a, operands.b, row, column, k, sums);
        if (begin / bf16x6_depth % 2 == 1) add_large_sums(sums);
        __syncthreads();  // the parts are read before they are overwritten
    }
    add_large_sums(sums);

    const bool any_small = __syncthreads_or(has_small(range));
    bool is_exact = can_be_split(range);
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int lane = threadIdx.x % 32;
                const int to_row = row + 16 * i + e / 2 * 8 + lane / 4;
                const int to_column = column + 8 * j + lane % 4 * 2 + e % 2;
                const float value = sums.total[i][j][e] + sums.small[i][j][e];
                const u32 magnitude = __float_as_uint(value) & 0x7fffffffu;
                // Below 2^-80 beside small elements, or not finite.
                if (first_row + to_row < p.rows && first_column + to_column < p.columns &&
                    ((any_small && magnitude < 0x17800000u) || magnitude >= 0x7f800000u))
                    is_exact = false;
                result[to_row][to_column] = value;
            }
    if (__syncthreads_or(!is_exact)) {
        multiply_tile<bf16x6_tile, b_along_depth>(p, first_row, first_column, a_row, (float*)shared);
        __syncthreads();
    }
    write_tile<bf16x6_tile>(p, first_row, first_column, (float*)shared, out);
}
