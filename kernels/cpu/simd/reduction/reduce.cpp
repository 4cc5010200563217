#include "kernels/cpu/simd/elementwise/block_program.hpp"
#include "kernels/cpu/simd/reduction/byte_argmax.hpp"
#include "kernels/cpu/simd/reduction/reduce_short_axis.hpp"
#include "kernels/cpu/simd/table.hpp"

/// Reductions of every dtype over any axes with any strides: sum, mean, maximum and argmax.
namespace CAIRN_LEVEL {
namespace {

constexpr int block = 512, runs_at_once = 8;

/// How elements of stride `stride` are loaded as T.
template <typename T>
StorageType storage_type_of(DType dtype, std::int64_t stride) {
    if (!std::is_same_v<T, float> || stride != 1) return StorageType::unconverted;
    if (dtype == DType::f16 && widens_in_registers<F16>) return StorageType::f16;
    return dtype == DType::bf16 ? StorageType::bf16 : StorageType::unconverted;
}
/// True if elements are read in place.
template <typename T>
bool is_read_in_place(DType dtype, std::int64_t stride) {
    return (bytes_of(dtype) == sizeof(T) && stride == 1) ||
           storage_type_of<T>(dtype, stride) != StorageType::unconverted;
}

/// Elements of the input as blocks of T, read in place if possible.
template <typename T>
struct Source {
    DType dtype;
    bool in_memory;    ///< elements are T already
    StorageType lies;  ///< storage type of contiguous runs
    alignas(64) T converted[runs_at_once][block];

    /// `stride`: that of the runs.
    Source(DType of, std::int64_t stride)
        : dtype(of), in_memory(bytes_of(of) == sizeof(T)), lies(storage_type_of<T>(of, stride)) {}
    /// Returns n elements as T; blocks in lower slots stay valid.
    CAIRN_INLINE const T* run(int slot, const std::byte* from, std::int64_t stride, std::int64_t n) {
        const bool is_there = lies != StorageType::unconverted || (in_memory && (stride == 1 || n == 1));
        return is_there ? reinterpret_cast<const T*>(from) : brought(slot, from, stride, n);
    }

private:
    [[gnu::noinline]] const T* brought(int slot, const std::byte* from, std::int64_t stride, std::int64_t n) {
        if constexpr (sizeof(T) == 4)
            if (!in_memory && stride == 2) {
                load_run(dtype, between, from, 1, 2 * n - 1);
                return second(converted[slot], between, n);
            }
        if constexpr (sizeof(T) >= 4 && vec_lanes<T> >= 2)
            if (in_memory && stride == 2 && n >= vec_lanes<T>)
                return second(converted[slot], reinterpret_cast<const T*>(from), n);
        if constexpr (sizeof(T) == 1)
            load_same<T>(converted[slot], from, stride, n);
        else
            load_run(dtype, converted[slot], from, stride, n);
        return converted[slot];
    }

    alignas(64) T between[sizeof(T) == 4 ? 2 * block + 2 * vec_lanes<T> : 1];  ///< small dtypes as T, before striding

    // Selects every second element. The last vector overlaps the one before, if there is one.
    CAIRN_INLINE static const T* second(T* to, const T* x, std::int64_t n) {
        for (std::int64_t i = 0; i < n; i += vec_lanes<T>) {
            const std::int64_t at = n - i < vec_lanes<T> && n >= vec_lanes<T> ? n - vec_lanes<T> : i;
            vec_store(to + at, load_every_second(x + 2 * at));
        }
        return to;
    }
};

struct ReduceJob {
    const Args& args;
    const ReducePlan& plan;
    ReduceLoopNest walk;
    std::int64_t bytes, out_bytes;

    ReduceJob(const Args& all, const ReducePlan& of)
        : args(all),
          plan(of),
          walk(all.inputs[0], all.outputs[0], of),
          bytes(bytes_of(of.input)),
          out_bytes(bytes_of(of.output)) {}
    const std::byte* x(std::int64_t offset) const { return args.inputs[0].data + offset * bytes; }
    std::byte* y(std::int64_t offset) const { return args.outputs[0].data + offset * out_bytes; }
};

/// Stores n results, the first at `offset`; 64-bit indices are stored as the 32-bit integers of the output.
template <typename Out>
[[gnu::noinline]] void store_results(const ReduceJob& job, std::int64_t offset, std::int64_t stride, std::int64_t n,
                                     const Out* results) {
    alignas(64) Out finished[block];
    std::byte* const y = job.y(offset);
    const DType dtype = job.plan.output;
    if (job.walk.terms == 0) {
        for (std::int64_t j = 0; j < n; ++j) finished[j] = static_cast<Out>(job.plan.value_of_empty);
        results = finished;
    } else if (job.plan.fold == ReduceKind::mean) {
        for (std::int64_t j = 0; j < n; ++j) finished[j] = results[j] / static_cast<Out>(job.walk.terms);
        results = finished;
    }
    if constexpr (sizeof(Out) == 1) return store_same<Out>(y, results, stride, n);
    if (sizeof(Out) == 8 && dtype == DType::i32) {
        alignas(64) std::int32_t indices[block];
        for (std::int64_t j = 0; j < n; ++j) indices[j] = static_cast<std::int32_t>(results[j]);
        return store_run(dtype, y, indices, stride, n);
    }
    store_run(dtype, y, results, stride, n);
}

// ---- along rows

/// The reduction of elements [begin, end) of the row at `offset`.
template <typename Reducer>
[[gnu::noinline]] typename Reducer::Result reduce_row(const ReduceJob& job, Source<typename Reducer::Element>& source,
                                                      std::int64_t offset, std::int64_t begin, std::int64_t end) {
    const ReduceLoopNest& walk = job.walk;
    typename Reducer::RowAccumulator row(begin);
    OffsetIterator steps{walk.folded};
    struct Run {
        const typename Reducer::Element* x;
        std::int64_t count;
    };
    const auto at = [&](std::int64_t i) { return job.x(offset + steps.offset + i * walk.x_stride); };
    const auto count = [&](std::int64_t i) { return end - i < block ? end - i : block; };
    const auto read = [&](std::int64_t i) { return Run{source.run(0, at(i), walk.x_stride, count(i)), count(i)}; };
    for (std::int64_t step = 0; step < walk.steps; ++step, steps.next()) {
        for (std::int64_t i = begin; i < end; i += block) {
            row.accumulate(source.lies, source.run(0, at(i), walk.x_stride, count(i)), i, count(i));
        }
    }
    return row.result(source.lies, read);
}

/// True if as many rows as there are lanes are reduced together. Vectors of bytes have too many lanes.
template <typename Reducer>
bool are_reduced_together(const ReduceJob& job) {
    using T = typename Reducer::Element;
    const ReduceLoopNest& walk = job.walk;
    if constexpr (sizeof(T) >= 4 && requires { &Reducer::reduce_adjacent_rows; })
        return walk.is_row && walk.steps == 1 && walk.terms > 0 && walk.length <= block &&
               is_read_in_place<T>(job.plan.input, walk.x_stride);
    else
        return false;
}

template <typename Reducer>
void reduce_rows(const ReduceJob& job, Team& team) {
    using T = typename Reducer::Element;
    const ReduceLoopNest& walk = job.walk;
    const bool are_together = are_reduced_together<Reducer>(job);
    Source<T> source(job.plan.input, walk.x_stride);
    const std::int64_t rows = walk.kept.total(), length = walk.terms > 0 ? walk.length : 0;
    const std::int64_t at_once = walk.terms < 8192 ? 8192 / (walk.terms > 0 ? walk.terms : 1) : 1;
    for (std::int64_t chunk = team.next_chunk(); chunk * at_once < rows; chunk = team.next_chunk()) {
        const std::int64_t end = (chunk + 1) * at_once < rows ? (chunk + 1) * at_once : rows;
        for (std::int64_t row = chunk * at_once; row < end;) {
            // As many rows as have a single stride in the output.
            const std::int64_t n = walk.kept.left(row) < end - row ? walk.kept.left(row) : end - row;
            const std::int64_t x = walk.kept.offset(walk.kept.x, row), y = walk.kept.offset(walk.kept.y, row);
            const int last = walk.kept.count - 1;
            const std::int64_t x_step = last >= 0 ? walk.kept.x[last] : 0, y_step = last >= 0 ? walk.kept.y[last] : 0;
            for (std::int64_t i = 0; i < n; i += block) {
                const std::int64_t count = n - i < block ? n - i : block;
                typename Reducer::Out results[block];
                std::int64_t j = 0;
                if constexpr (requires { &Reducer::reduce_adjacent_rows; })
                    for (; are_together && j + Reducer::n <= count; j += Reducer::n)
                        Reducer::reduce_adjacent_rows(source.lies,
                                                      reinterpret_cast<const T*>(job.x(x + (i + j) * x_step)), x_step,
                                                      length, results + j);
                for (; j < count; ++j)
                    results[j] = Reducer::out(reduce_row<Reducer>(job, source, x + (i + j) * x_step, 0, length));
                store_results(job, y + i * y_step, y_step, count, results);
            }
            row += n;
        }
    }
}

// Few long rows: pieces of them are shared among the team, and combined in order.
template <typename Reducer>
void reduce_row_pieces(const ReduceJob& job, Team& team) {
    using Result = typename Reducer::Result;
    static_assert(sizeof(Result) <= 16);
    const ReduceLoopNest& walk = job.walk;
    Source<typename Reducer::Element> source(job.plan.input, walk.x_stride);
    auto* results = reinterpret_cast<Result*>(job.args.workspace);
    const std::int64_t rows = walk.kept.total(), pieces = (walk.length + piece_size - 1) / piece_size;
    for (std::int64_t chunk = team.next_chunk(); chunk < rows * pieces; chunk = team.next_chunk()) {
        const std::int64_t begin = chunk % pieces * piece_size;
        const std::int64_t end = begin + piece_size < walk.length ? begin + piece_size : walk.length;
        results[chunk] = reduce_row<Reducer>(job, source, walk.kept.offset(walk.kept.x, chunk / pieces), begin, end);
    }
    team.barrier();
    if (team.rank() != 0) return;
    for (std::int64_t row = 0; row < rows; ++row) {
        Result result = results[row * pieces];
        for (std::int64_t i = 1; i < pieces; ++i) result = Reducer::combine(result, results[row * pieces + i]);
        const typename Reducer::Out out = Reducer::out(result);
        store_results(job, walk.kept.offset(walk.kept.y, row), 1, 1, &out);
    }
}

// ---- across columns

/// Reduces n columns, the first of which begins at `offset`, over steps [begin, end).
template <typename Reducer>
[[gnu::noinline]] void reduce_column_block(const ReduceJob& job, Source<typename Reducer::Element>& source,
                                           typename Reducer::ColumnAccumulator& columns, std::int64_t offset,
                                           std::int64_t n, std::int64_t begin, std::int64_t end) {
    const ReduceLoopNest& walk = job.walk;
    // Rows are prefetched several ahead: they may be too far apart for the hardware prefetcher.
    const int last = walk.folded.count - 1;
    const std::int64_t ahead = last >= 0 && walk.folded.shape[last] > 2 * runs_at_once &&
                                       (source.in_memory || source.lies != StorageType::unconverted)
                                   ? walk.folded.x[last] * runs_at_once
                                   : 0;
    const typename Reducer::Element* runs[runs_at_once];
    if (begin == end) columns.start(n);
    OffsetIterator steps{walk.folded};
    steps.go_to(begin);
    for (std::int64_t step = begin; step < end;) {
        const int count = end - step < runs_at_once ? static_cast<int>(end - step) : runs_at_once;
        for (int k = 0; k < count; ++k, steps.next())
            runs[k] = source.run(k, job.x(offset + steps.offset), walk.x_stride, n);
        columns.accumulate(source.lies, runs, count, step, n, ahead, step == begin);
        step += count;
    }
}

template <typename Reducer>
void reduce_columns(const ReduceJob& job, Team& team) {
    const ReduceLoopNest& walk = job.walk;
    Source<typename Reducer::Element> source(job.plan.input, walk.x_stride);
    typename Reducer::ColumnAccumulator columns;
    // The number of columns per block depends on sizes only, such that there are blocks to share.
    const std::int64_t outer = walk.kept.total(), wanted = outer * walk.length / 8 / 64 * 64;
    const std::int64_t fits = walk.window > 1 ? (block - walk.window) / walk.column_step + 1 : block;
    const std::int64_t room = fits < 64 ? fits : fits / 64 * 64, least = room < 64 ? room : 64;
    const std::int64_t most = walk.groups > 1 ? walk.length : wanted < least ? least : wanted < room ? wanted : room;
    const std::int64_t blocks = (walk.length + most - 1) / most, items = outer * blocks;
    const std::int64_t width = walk.length < most ? walk.length : most;
    const std::int64_t cells = (walk.steps > 0 ? walk.steps : 1) * (width > 0 ? walk.span(width) : 1);
    const std::int64_t at_once = cells < 8192 ? 8192 / cells : 1;
    for (std::int64_t chunk = team.next_chunk(); chunk * at_once < items; chunk = team.next_chunk()) {
        const std::int64_t end = (chunk + 1) * at_once < items ? (chunk + 1) * at_once : items;
        for (std::int64_t item = chunk * at_once; item < end; ++item) {
            const std::int64_t position = item / blocks, column = item % blocks * most;
            const std::int64_t n = walk.length - column < most ? walk.length - column : most;
            reduce_column_block<Reducer>(job, source, columns,
                                         walk.kept.offset(walk.kept.x, position) + column * walk.column_step,
                                         walk.span(n), 0, walk.steps);
            store_results(job, walk.kept.offset(walk.kept.y, position) + column * walk.y_stride, walk.y_stride, n,
                          walk.window > 1   ? columns.windows(n, walk.window, walk.column_step)
                          : walk.groups > 1 ? columns.combine_groups(n, walk.groups)
                                            : columns.out());
        }
    }
}

// Few columns with many rows: pieces of the rows are shared among the team, and combined in order.
template <typename Reducer>
void reduce_column_pieces(const ReduceJob& job, Team& team) {
    using Result = typename Reducer::Result;
    static_assert(sizeof(Result) <= 16);
    const ReduceLoopNest& walk = job.walk;
    Source<typename Reducer::Element> source(job.plan.input, walk.x_stride);
    typename Reducer::ColumnAccumulator columns;
    auto* results = reinterpret_cast<Result*>(job.args.workspace);
    const std::int64_t width = walk.length, most = walk.steps / rows_of_piece;
    const std::int64_t pieces = most < max_pieces ? most : max_pieces;
    for (std::int64_t piece = team.next_chunk(); piece < pieces; piece = team.next_chunk())
        for (std::int64_t column = 0; column < width; column += block) {
            const std::int64_t n = width - column < block ? width - column : block;
            reduce_column_block<Reducer>(job, source, columns, column * walk.x_stride, n, walk.steps * piece / pieces,
                                         walk.steps * (piece + 1) / pieces);
            for (std::int64_t j = 0; j < n; ++j) results[piece * width + column + j] = columns.at(j);
        }
    team.barrier();
    if (team.rank() != 0) return;
    for (std::int64_t column = 0; column < width; column += block) {
        const std::int64_t n = width - column < block ? width - column : block;
        typename Reducer::Out out[block];
        for (std::int64_t j = 0; j < n; ++j) {
            Result result = results[column + j];
            for (std::int64_t i = 1; i < pieces; ++i)
                result = Reducer::combine(result, results[i * width + column + j]);
            out[j] = Reducer::out(result);
        }
        store_results(job, column * walk.y_stride, walk.y_stride, n, out);
    }
}

// ---- planes of few elements

template <typename Reducer>
void reduce_short(const ReduceJob& job, Team& team) {
    using T = typename Reducer::Element;
    const ShortPieces<T> pieces(job.walk);
    const std::int64_t planes = job.walk.planes, plane = pieces.plane(), width = pieces.width, most = pieces.planes();
    const bool in_memory = bytes_of(job.plan.input) == sizeof(T);
    const std::int64_t blocks = (planes + most - 1) / most, cells = most * plane;
    const std::int64_t at_once = cells < 8192 ? 8192 / cells : 1;
    ShortReductions<Reducer> folds;
    for (std::int64_t chunk = team.next_chunk(); chunk * at_once < blocks; chunk = team.next_chunk()) {
        const std::int64_t end = (chunk + 1) * at_once < blocks ? (chunk + 1) * at_once : blocks;
        for (std::int64_t index = chunk * at_once; index < end; ++index) {
            const std::int64_t first = index * most, left = planes - first, count = left < most ? left : most;
            const std::byte* x = job.x(first * plane);
            // The last squares would be read past the end of the input.
            const bool in_place = in_memory && left * plane >= cells + pieces.n;
            if (!in_place) load_run(job.plan.input, folds.loaded, x, 1, count * plane);
            folds.fold(in_place ? reinterpret_cast<const T*>(x) : folds.loaded, pieces);
            store_results(job, first * width, 1, count * width, folds.results);
        }
    }
}

template <typename Reducer>
void reduce(const ReduceJob& job, Team& team) {
    const ReduceLoopNest& walk = job.walk;
    if constexpr (sizeof(typename Reducer::Element) >= 4)
        if (walk.planes > 0 && !(are_reduced_together<Reducer>(job) && Reducer::are_rows(walk.length)))
            return reduce_short<Reducer>(job, team);
    if (!walk.is_row && walk.splits_columns()) return reduce_column_pieces<Reducer>(job, team);
    if (!walk.is_row) return reduce_columns<Reducer>(job, team);
    return walk.splits_rows() ? reduce_row_pieces<Reducer>(job, team) : reduce_rows<Reducer>(job, team);
}

/// Integers are summed as unsigned numbers, which wrap.
template <typename Signed, typename Wrapping>
void reduce_as(const ReduceJob& job, Team& team) {
    switch (job.plan.fold) {
        case ReduceKind::sum:
        case ReduceKind::mean: return reduce<Reducer<Sum<Wrapping>>>(job, team);
        case ReduceKind::max: return reduce<Reducer<Max<Signed>>>(job, team);
        case ReduceKind::argmax: return reduce<ArgMax<Signed>>(job, team);
    }
}

/// Reduces bytes without widening, four times as many per vector. Returns false, having done nothing, if widening is
/// faster.
template <typename T>
bool reduce_bytes(const ReduceJob& job, Team& team) {
    const ReduceLoopNest& walk = job.walk;
    if (walk.planes > 0 || walk.x_stride != 1) return false;
    switch (job.plan.fold) {
        case ReduceKind::sum: reduce<Reducer<Sum<std::uint8_t>>>(job, team); return true;
        case ReduceKind::max: reduce<Reducer<Max<T>>>(job, team); return true;
        case ReduceKind::argmax:
            if (!walk.is_row) {
                using ByteArgMaxes = ColumnByteArgMax<T>;
                walk.splits_columns() ? reduce_column_pieces<ByteArgMaxes>(job, team)
                                      : reduce_columns<ByteArgMaxes>(job, team);
                return true;
            }
            if (walk.splits_rows() || walk.length == 0) return false;
            reduce_rows<ByteArgMax<T>>(job, team);
            return true;
        default: return false;
    }
}

}  // namespace

void reduce_axes(const Args& args, Team& team) {
    const ReduceJob job(args, *static_cast<const ReducePlan*>(args.prepared));
    if (job.plan.input == DType::i8 && reduce_bytes<std::int8_t>(job, team)) return;
    if (job.plan.input == DType::u8 && reduce_bytes<std::uint8_t>(job, team)) return;
    switch (block_type_of(job.plan.input)) {
        case BlockType::f32: return reduce_as<float, float>(job, team);
        case BlockType::f64: return reduce_as<double, double>(job, team);
        case BlockType::i32: return reduce_as<std::int32_t, std::uint32_t>(job, team);
        case BlockType::i64: return reduce_as<std::int64_t, std::uint64_t>(job, team);
        default: return;
    }
}

}  // namespace CAIRN_LEVEL
