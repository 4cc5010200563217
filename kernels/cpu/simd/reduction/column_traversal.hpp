#pragma once

#include "kernels/cpu/simd/reduction/axis_plan.hpp"
#include "kernels/cpu/simd/reduction/row_traversal.hpp"

#include <span>
#include <type_traits>

/// Reductions along an axis that is not the last, vectorised across it: each lane is one column. Column code is written
/// once, for f32; f16 and bf16 are read and written through a buffer.
namespace CAIRN_LEVEL {

/// x and y viewed as [outer, length, width]: `length` elements along the plan's axes, and `width` columns that are
/// contiguous in both.
struct ColumnView {
    std::int64_t length = 1, width = 1, x_step = 0, y_step = 0;
    RowOffsets x_outer, y_outer;

    ColumnView(const TensorArg& x, const TensorArg& y, const AxisPlan& plan) {
        for (int axis = plan.first; axis <= plan.last; ++axis) {
            length *= x.shape[axis];
            if (x.shape[axis] != 1) x_step = x.strides[axis], y_step = y.strides[axis];
        }
        int end = x.rank;  // of the outer axes
        for (; end - 1 > plan.last; --end) {
            const int axis = end - 1;
            if (x.shape[axis] != 1 && (x.strides[axis] != width || y.strides[axis] != width)) break;
            width *= x.shape[axis];
        }
        for (int axis = 0; axis < end; ++axis) {
            if (axis >= plan.first && axis <= plan.last) continue;
            x_outer.add(x.shape[axis], x.strides[axis]);
            y_outer.add(x.shape[axis], y.strides[axis]);
        }
    }
};

/// Some rows of some columns in f32, in whole vectors. Results go to `to`, which may be `from`.
struct ColumnBlock {
    const float* from;
    std::int64_t from_step;
    float* to;
    std::int64_t to_step;
    std::int64_t length, width;
    std::int64_t ahead;  ///< prefetch distance in elements of x or y
};

/// Adjacent vectors, enough to hide latency.
template <int vectors>
struct Strip {
    const float* from;
    std::int64_t from_step;
    float* to;
    std::int64_t to_step, length, ahead;

    CAIRN_INLINE F32 at(std::int64_t row, int vector) const { return load(from + row * from_step + vector * lanes); }
    CAIRN_INLINE F32 put(std::int64_t row, int vector, F32 value) const {
        store(to + row * to_step + vector * lanes, value);
        return value;
    }
    CAIRN_INLINE F32 back(std::int64_t row, int vector) const { return load(to + row * to_step + vector * lanes); }
    /// The hardware prefetcher does not predict distant rows.
    CAIRN_INLINE void prefetch(std::int64_t row) const {
        for (int v = 0; v < vectors; v += 16 / lanes)
            __builtin_prefetch(from + row * from_step + v * lanes + ahead, 0, 2);
    }
    CAIRN_INLINE void prefetch_for_write(std::int64_t row) const {
        for (int v = 0; v < vectors; v += 16 / lanes) __builtin_prefetch(to + row * to_step + v * lanes + ahead, 1, 2);
    }
};
inline constexpr int max_vectors = 4;

/// Calls f(strip, its first column) for all strips of a block.
template <int vectors = max_vectors, typename F>
CAIRN_INLINE void each_strip(const ColumnBlock& block, F f, std::int64_t column = 0) {
    for (; column + vectors * lanes <= block.width; column += vectors * lanes)
        f(Strip<vectors>{block.from + column, block.from_step, block.to + column, block.to_step, block.length,
                         block.ahead},
          column);
    if constexpr (vectors > 1) each_strip<vectors / 2>(block, f, column);
}

/// Statistics of each column; their meaning is up to the kernel.
struct ColumnStats {
    float *first, *a, *b;

    ColumnStats from(std::int64_t column) const { return {first + column, a + column, b + column}; }
};

/// One pass down all columns, in pieces of at most piece_rows rows.
struct Stage {
    /// Processes a piece; `begin`: the index of its first row.
    void (*run)(const ColumnBlock& piece, std::int64_t begin, ColumnStats stats, const void* context);
    /// Called after the last piece, for `width` columns of `length` rows; may be null.
    void (*finish_stage)(ColumnStats stats, std::int64_t width, std::int64_t length, const void* context);
    bool writes;  ///< to `to`
};
/// The stages of a kernel on columns; `context` is passed to them.
struct ColumnKernel {
    const void* context;
    std::span<const Stage> stages;
    std::span<const Stage> streamed_stages;  ///< used when written results leave the cache: no stage reads them back
};

CAIRN_INLINE ColumnBlock rows_of(const ColumnBlock& block, std::int64_t first, std::int64_t rows) {
    return {block.from + first * block.from_step,
            block.from_step,
            block.to + first * block.to_step,
            block.to_step,
            rows,
            block.width,
            block.ahead};
}
CAIRN_INLINE std::int64_t piece_at(std::int64_t row, std::int64_t length) {
    return length - row < piece_rows ? length - row : piece_rows;
}

/// Runs all stages on at most columns_at_once columns that stay in the cache.
inline constexpr std::int64_t columns_at_once = 512;
static_assert(columns_at_once >= buffered_columns);
inline void run_in_cache(const ColumnBlock& block, const ColumnKernel& work) {
    alignas(64) float memory[3][columns_at_once];
    const ColumnStats stats{memory[0], memory[1], memory[2]};
    for (const Stage& stage : work.stages) {
        for (std::int64_t row = 0; row < block.length; row += piece_rows)
            stage.run(rows_of(block, row, piece_at(row, block.length)), row, stats, work.context);
        if (stage.finish_stage != nullptr) stage.finish_stage(stats, block.width, block.length, work.context);
    }
}

/// True if rows `step` apart map to so few sets of the L2 cache that they evict each other.
inline bool have_cache_conflicts(std::int64_t rows, std::int64_t step) {
    constexpr std::int64_t sets = 1024, ways = 4;
    const std::int64_t bytes = step * 4, apart = bytes & -bytes, lines = apart < 64 ? 1 : apart / 64;
    return rows * (lines < sets ? lines : sets) > sets * ways;
}

/// Columns of x and y, and an f32 buffer for columns that cannot be used in place.
template <typename Element>
struct ColumnTraversal {
    const Element* x;
    Element* y;
    std::int64_t x_step, y_step, length, width;
    float* buffer;

    bool is_usable_in_place(std::int64_t rows) const {
        return std::is_same_v<Element, float> && width % lanes == 0 && !have_cache_conflicts(rows, x_step);
    }
    void in_cache(const ColumnKernel& work) const {
        if (is_usable_in_place(length)) return run_in_cache(block(0, length, cached_columns), work);
        const BufferedColumns part{*this, 0, width};
        part.read(0, length, cached_columns);
        run_in_cache(part.block(length), work);
        part.write(0, length, cached_columns);
    }
    /// Streams all rows once per stage.
    void streaming(const ColumnKernel& work) const {
        alignas(64) float memory[3][streamed_columns];
        const bool in_place = is_usable_in_place(piece_rows);
        const std::int64_t at_once = in_place ? width : buffered_columns;
        for (const Stage& stage : work.streamed_stages) {
            for (std::int64_t row = 0; row < length; row += piece_rows)
                for (std::int64_t column = 0; column < width; column += at_once) {
                    const ColumnStats stats{memory[0] + column, memory[1] + column, memory[2] + column};
                    run(stage, row, column, in_place, stats, work.context);
                }
            if (stage.finish_stage != nullptr)
                stage.finish_stage({memory[0], memory[1], memory[2]}, padded(width), length, work.context);
        }
    }

private:
    static std::int64_t padded(std::int64_t columns) { return (columns + lanes - 1) / lanes * lanes; }
    ColumnBlock block(std::int64_t first, std::int64_t rows, std::int64_t ahead) const {
        if constexpr (std::is_same_v<Element, float>)
            return {x + first * x_step, x_step, y + first * y_step, y_step, rows, width, ahead};
        else
            return {};
    }

    /// Some columns that are read and written through the buffer.
    struct BufferedColumns {
        const ColumnTraversal& walk;
        std::int64_t column, columns;

        std::int64_t step() const { return (columns + 15) / 16 * 16 + 16; }  // no power of two: no cache set conflicts
        ColumnBlock block(std::int64_t rows) const {
            return {walk.buffer, step(), walk.buffer, step(), rows, padded(columns), 0};
        }
        void read(std::int64_t first, std::int64_t rows, std::int64_t ahead) const {
            for (std::int64_t i = 0; i < rows; ++i) {
                const Element* row = walk.x + (first + i) * walk.x_step + column;
                for (std::int64_t j = 0; j < columns; j += line) __builtin_prefetch(row + j + ahead, 0, 2);
                map_row(walk.buffer + i * step(), columns, [&](auto at) { return at(row); });
            }
        }
        void write(std::int64_t first, std::int64_t rows, std::int64_t ahead) const {
            for (std::int64_t i = 0; i < rows; ++i) {
                Element* row = walk.y + (first + i) * walk.y_step + column;
                for (std::int64_t j = 0; j < columns; j += line) __builtin_prefetch(row + j + ahead, 1, 2);
                map_row(row, columns, [&](auto at) { return at(walk.buffer + i * step()); });
            }
        }
        static constexpr std::int64_t line = 64 / sizeof(Element);
    };

    void run(const Stage& stage, std::int64_t row, std::int64_t column, bool in_place, ColumnStats stats,
             const void* context) const {
        const std::int64_t rows = piece_at(row, length);
        if (in_place) return stage.run(block(row, rows, piece_rows * x_step), row, stats, context);
        const BufferedColumns part{*this, column,
                                   width - column < buffered_columns ? width - column : buffered_columns};
        part.read(row, rows, piece_rows * x_step);
        stage.run(part.block(rows), row, stats, context);
        if (stage.writes) part.write(row, rows, piece_rows * y_step);
    }
};

/// True if some columns stay in L2: they have few rows, or rows that are close together.
template <typename Element>
bool is_cached(const ColumnView& across) {
    constexpr std::int64_t few_rows = 128, bytes = std::int64_t{1} << 18;
    return across.length <= few_rows ||
           (across.length <= max_cached_rows && across.length * across.x_step * std::int64_t{sizeof(Element)} <= bytes);
}

/// Runs a kernel on this member's share of the columns.
template <typename Element>
void run_columns(const Args& args, Team& team, const ColumnView& across, const ColumnKernel& work) {
    if (across.length == 0) return;
    const std::int64_t rows = across.length < max_cached_rows ? across.length : max_cached_rows;
    float* const buffer =
        reinterpret_cast<float*>(args.workspace + (rows * buffered_row + room_for_columns) * team.rank());
    const bool cached = is_cached<Element>(across);
    // Streamed columns are processed in wide groups, at least one per member. Results do not depend on the grouping.
    const std::int64_t outer = across.x_outer.count, shares = outer > 0 ? (team.size() + outer - 1) / outer : 1;
    const std::int64_t fair = (across.width / shares + cached_columns - 1) / cached_columns * cached_columns;
    const std::int64_t most = !cached                       ? streamed_columns
                              : across.length <= piece_rows ? buffered_columns
                                                            : cached_columns;
    const std::int64_t group = fair < cached_columns ? cached_columns : fair < most ? fair : most;
    const std::int64_t groups = (across.width + group - 1) / group, count = outer * groups;
    const std::int64_t cells = across.length * group, at_once = cells < 8192 ? 8192 / cells : 1;
    for (std::int64_t chunk = team.next_chunk(); chunk * at_once < count; chunk = team.next_chunk()) {
        const std::int64_t end = (chunk + 1) * at_once < count ? (chunk + 1) * at_once : count;
        for (std::int64_t i = chunk * at_once; i < end; ++i) {
            const std::int64_t position = i / groups, column = i % groups * group, left = across.width - column;
            const ColumnTraversal<Element> walk{
                elements<const Element>(args.inputs[0]) + across.x_outer.offset(position) + column,
                elements<Element>(args.outputs[0]) + across.y_outer.offset(position) + column,
                across.x_step,
                across.y_step,
                across.length,
                left < group ? left : group,
                buffer};
            cached ? walk.in_cache(work) : walk.streaming(work);
        }
    }
}

/// One value per column of a strip.
template <int vectors>
struct StripValues {
    F32 of[vectors];

    CAIRN_INLINE static StripValues from(const float* p) {
        StripValues r;
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) r.of[v] = load(p + v * lanes);
        return r;
    }
    CAIRN_INLINE void to(float* p) const {
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) store(p + v * lanes, of[v]);
    }
};

/// The sums of term(row, vector) down each column. Partial sums are added every 32 rows, so that small terms are not
/// lost in a large sum.
template <int vectors, typename F>
CAIRN_INLINE StripValues<vectors> sum_down(const Strip<vectors>& strip, F term) {
    StripValues<vectors> total{};
    for (std::int64_t i = 0; i < strip.length;) {
        const std::int64_t end = i + piece_at(i, strip.length);
        StripValues<vectors> part{};
        for (; i < end; ++i) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) part.of[v] += term(i, v);
        }
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) total.of[v] += part.of[v];
    }
    return total;
}
/// The maximum down each column and of `largest`, ignoring NaN.
template <int vectors>
CAIRN_INLINE StripValues<vectors> max_down(const Strip<vectors>& strip, StripValues<vectors> largest) {
    for (std::int64_t i = 0; i < strip.length; ++i) {
        strip.prefetch(i);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) largest.of[v] = quick_max(strip.at(i, v), largest.of[v]);
    }
    return largest;
}
template <int vectors>
CAIRN_INLINE StripValues<vectors> no_elements() {
    StripValues<vectors> least;
    for (int v = 0; v < vectors; ++v) least.of[v] = splat(-std::numeric_limits<float>::infinity());
    return least;
}

}  // namespace CAIRN_LEVEL
