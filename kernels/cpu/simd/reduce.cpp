#include "kernels/cpu/simd/body.hpp"
#include "kernels/cpu/simd/fold.hpp"
#include "kernels/cpu/simd/reduce_walk.hpp"
#include "kernels/cpu/simd/table.hpp"

/// Reductions of every dtype over any axes of any strides: sum, mean, largest element, and where that is.
namespace CAIRN_LEVEL {
namespace {

constexpr int block = 512, runs_at_once = 8;

/// Elements of the input as blocks of T, read where they lie if they lie so.
template <typename T>
struct Source {
    DType dtype;
    bool in_memory;  ///< elements are T already
    alignas(64) T converted[runs_at_once][block];

    explicit Source(DType of) : dtype(of), in_memory(bytes_of(of) >= 4) {}
    CAIRN_INLINE const T* run(int slot, const std::byte* from, std::int64_t stride, std::int64_t n) {
        if (in_memory && (stride == 1 || n == 1)) return reinterpret_cast<const T*>(from);
        if constexpr (wide_lanes < T >> 1)
            if (in_memory && stride == 2 && n >= wide_lanes<T>) return second(converted[slot], from, n);
        load_run(dtype, converted[slot], from, stride, n);
        return converted[slot];
    }

private:
    // Windows that move by two. The last vector covers part of the one before.
    CAIRN_INLINE static const T* second(T* to, const std::byte* from, std::int64_t n) {
        const T* x = reinterpret_cast<const T*>(from);
        for (std::int64_t i = 0; i < n; i += wide_lanes<T>) {
            const std::int64_t at = n - i < wide_lanes<T> ? n - wide_lanes<T> : i;
            wide_store(to + at, load_every_second(x + 2 * at));
        }
        return to;
    }
};

struct Job {
    const Args& args;
    const ReducePlan& plan;
    ReduceWalk walk;
    std::int64_t bytes, out_bytes;

    Job(const Args& all, const ReducePlan& of)
        : args(all),
          plan(of),
          walk(all.inputs[0], all.outputs[0], of),
          bytes(bytes_of(of.input)),
          out_bytes(bytes_of(of.output)) {}
    const std::byte* x(std::int64_t offset) const { return args.inputs[0].data + offset * bytes; }
    std::byte* y(std::int64_t offset) const { return args.outputs[0].data + offset * out_bytes; }
};

/// at(j) for n results, the first at `offset`.
template <typename Folding, typename At>
CAIRN_INLINE void store_results(const Job& job, std::int64_t offset, std::int64_t stride, std::int64_t n, At at) {
    using Stored = typename Folding::Stored;
    alignas(64) Stored finished[block];
    if (job.walk.terms > 0)
        for (std::int64_t j = 0; j < n; ++j) finished[j] = Folding::finish(at(j), job.walk.terms);
    else
        for (std::int64_t j = 0; j < n; ++j) finished[j] = static_cast<Stored>(job.plan.of_nothing);
    store_run(job.plan.output, job.y(offset), finished, stride, n);
}

// ---- along rows

/// What folding elements [begin, end) of the row at `offset` comes to.
template <typename Folding>
typename Folding::Result fold_row(const Job& job, Source<typename Folding::Element>& source, std::int64_t offset,
                                  std::int64_t begin, std::int64_t end) {
    const ReduceWalk& walk = job.walk;
    typename Folding::Row row(begin);
    Steps steps{walk.folded};
    struct Run {
        const typename Folding::Element* x;
        std::int64_t count;
    };
    const auto read = [&](std::int64_t i) {
        const std::int64_t n = end - i < block ? end - i : block;
        return Run{source.run(0, job.x(offset + steps.offset + i * walk.x_stride), walk.x_stride, n), n};
    };
    for (std::int64_t step = 0; step < walk.steps; ++step, steps.next()) {
        for (std::int64_t i = begin; i < end; i += block) {
            const Run run = read(i);
            row.take(run.x, i, run.count);
        }
    }
    return row.result(read);
}

template <typename Folding>
void reduce_rows(const Job& job, Team& team) {
    const ReduceWalk& walk = job.walk;
    Source<typename Folding::Element> source(job.plan.input);
    const std::int64_t rows = walk.kept.total(), length = walk.terms > 0 ? walk.length : 0;
    const std::int64_t at_once = walk.terms < 8192 ? 8192 / (walk.terms > 0 ? walk.terms : 1) : 1;
    for (std::int64_t chunk = team.next_chunk(); chunk * at_once < rows; chunk = team.next_chunk()) {
        const std::int64_t end = (chunk + 1) * at_once < rows ? (chunk + 1) * at_once : rows;
        for (std::int64_t row = chunk * at_once; row < end;) {
            // As many as follow each other in one stride of the output.
            const std::int64_t n = walk.kept.left(row) < end - row ? walk.kept.left(row) : end - row;
            const std::int64_t x = walk.kept.offset(walk.kept.x, row), y = walk.kept.offset(walk.kept.y, row);
            const int last = walk.kept.count - 1;
            const std::int64_t x_step = last >= 0 ? walk.kept.x[last] : 0, y_step = last >= 0 ? walk.kept.y[last] : 0;
            for (std::int64_t i = 0; i < n; i += block) {
                const std::int64_t count = n - i < block ? n - i : block;
                store_results<Folding>(job, y + i * y_step, y_step, count, [&](std::int64_t j) {
                    return fold_row<Folding>(job, source, x + (i + j) * x_step, 0, length);
                });
            }
            row += n;
        }
    }
}

// Few long rows: pieces of them are shared out, and joined in their order.
template <typename Folding>
void reduce_pieces(const Job& job, Team& team) {
    using Result = typename Folding::Result;
    static_assert(sizeof(Result) <= 16);
    const ReduceWalk& walk = job.walk;
    Source<typename Folding::Element> source(job.plan.input);
    auto* results = reinterpret_cast<Result*>(job.args.workspace);
    const std::int64_t rows = walk.kept.total(), pieces = (walk.length + piece_size - 1) / piece_size;
    for (std::int64_t chunk = team.next_chunk(); chunk < rows * pieces; chunk = team.next_chunk()) {
        const std::int64_t begin = chunk % pieces * piece_size;
        const std::int64_t end = begin + piece_size < walk.length ? begin + piece_size : walk.length;
        results[chunk] = fold_row<Folding>(job, source, walk.kept.offset(walk.kept.x, chunk / pieces), begin, end);
    }
    team.barrier();
    if (team.rank() != 0) return;
    for (std::int64_t row = 0; row < rows; ++row) {
        Result result = results[row * pieces];
        for (std::int64_t i = 1; i < pieces; ++i) result = Folding::join(result, results[row * pieces + i]);
        store_results<Folding>(job, walk.kept.offset(walk.kept.y, row), 1, 1, [&](std::int64_t) { return result; });
    }
}

// ---- across columns

/// The results of n columns, the first of which begins at `offset`, over steps [begin, end).
template <typename Folding>
void fold_columns(const Job& job, Source<typename Folding::Element>& source, typename Folding::Columns& columns,
                  std::int64_t offset, std::int64_t n, std::int64_t begin, std::int64_t end) {
    const ReduceWalk& walk = job.walk;
    // Rows are asked for some ahead: they may lie too far apart for the hardware to foresee.
    const int last = walk.folded.count - 1;
    const std::int64_t ahead = last >= 0 && walk.folded.shape[last] > 2 * runs_at_once && source.in_memory
                                   ? walk.folded.x[last] * runs_at_once
                                   : 0;
    const typename Folding::Element* runs[runs_at_once];
    columns.start(n);
    Steps steps{walk.folded};
    steps.go_to(begin);
    for (std::int64_t step = begin; step < end;) {
        const int count = end - step < runs_at_once ? static_cast<int>(end - step) : runs_at_once;
        for (int k = 0; k < count; ++k, steps.next())
            runs[k] = source.run(k, job.x(offset + steps.offset), walk.x_stride, n);
        columns.take(runs, count, step, n, ahead);
        step += count;
    }
}

template <typename Folding>
void reduce_columns(const Job& job, Team& team) {
    const ReduceWalk& walk = job.walk;
    Source<typename Folding::Element> source(job.plan.input);
    typename Folding::Columns columns;
    // Sizes alone decide how many columns are taken at once, so that there are blocks to share out.
    const std::int64_t outer = walk.kept.total(), wanted = outer * walk.length / 8 / 64 * 64;
    const std::int64_t most = wanted < 64 ? 64 : wanted < block ? wanted : block;
    const std::int64_t blocks = (walk.length + most - 1) / most, items = outer * blocks;
    const std::int64_t width = walk.length < most ? walk.length : most;
    const std::int64_t cells = (walk.steps > 0 ? walk.steps : 1) * (width > 0 ? width : 1);
    const std::int64_t at_once = cells < 8192 ? 8192 / cells : 1;
    for (std::int64_t chunk = team.next_chunk(); chunk * at_once < items; chunk = team.next_chunk()) {
        const std::int64_t end = (chunk + 1) * at_once < items ? (chunk + 1) * at_once : items;
        for (std::int64_t item = chunk * at_once; item < end; ++item) {
            const std::int64_t place = item / blocks, column = item % blocks * most;
            const std::int64_t n = walk.length - column < most ? walk.length - column : most;
            fold_columns<Folding>(job, source, columns, walk.kept.offset(walk.kept.x, place) + column * walk.x_stride,
                                  n, 0, walk.steps);
            store_results<Folding>(job, walk.kept.offset(walk.kept.y, place) + column * walk.y_stride, walk.y_stride, n,
                                   [&](std::int64_t j) { return columns.at(j); });
        }
    }
}

// Few columns, and many rows of them: pieces of the rows are shared out, and joined in their order.
template <typename Folding>
void reduce_column_pieces(const Job& job, Team& team) {
    using Result = typename Folding::Result;
    static_assert(sizeof(Result) <= 16);
    const ReduceWalk& walk = job.walk;
    Source<typename Folding::Element> source(job.plan.input);
    typename Folding::Columns columns;
    auto* results = reinterpret_cast<Result*>(job.args.workspace);
    const std::int64_t width = walk.length, most = walk.steps / rows_of_piece;
    const std::int64_t pieces = most < most_pieces ? most : most_pieces;
    for (std::int64_t piece = team.next_chunk(); piece < pieces; piece = team.next_chunk())
        for (std::int64_t column = 0; column < width; column += block) {
            const std::int64_t n = width - column < block ? width - column : block;
            fold_columns<Folding>(job, source, columns, column * walk.x_stride, n, walk.steps * piece / pieces,
                                  walk.steps * (piece + 1) / pieces);
            for (std::int64_t j = 0; j < n; ++j) results[piece * width + column + j] = columns.at(j);
        }
    team.barrier();
    if (team.rank() != 0) return;
    for (std::int64_t column = 0; column < width; column += block) {
        const std::int64_t n = width - column < block ? width - column : block;
        store_results<Folding>(job, column * walk.y_stride, walk.y_stride, n, [&](std::int64_t j) {
            Result result = results[column + j];
            for (std::int64_t i = 1; i < pieces; ++i) result = Folding::join(result, results[i * width + column + j]);
            return result;
        });
    }
}

template <typename Folding>
void reduce(const Job& job, Team& team) {
    const ReduceWalk& walk = job.walk;
    if (!walk.is_row && walk.has_cut_columns()) return reduce_column_pieces<Folding>(job, team);
    if (!walk.is_row) return reduce_columns<Folding>(job, team);
    const bool is_cut = walk.steps == 1 && walk.length >= least_cut && walk.kept.total() <= most_cut_rows;
    return is_cut ? reduce_pieces<Folding>(job, team) : reduce_rows<Folding>(job, team);
}

/// Whole numbers are summed as unsigned ones, which wrap.
template <typename Signed, typename Wrapping>
void reduce_as(const Job& job, Team& team) {
    switch (job.plan.fold) {
        case Fold::sum: return reduce<Folding<Sum<Wrapping>>>(job, team);
        case Fold::mean: return reduce<Folding<Mean<Wrapping>>>(job, team);
        case Fold::max: return reduce<Folding<Largest<Signed>>>(job, team);
        case Fold::argmax: return reduce<PlaceOfLargest<Signed>>(job, team);
    }
}

}  // namespace

void reduce_axes(const Args& args, Team& team) {
    const Job job(args, *static_cast<const ReducePlan*>(args.prepared));
    switch (slot_of(job.plan.input)) {
        case Slot::f32: return reduce_as<float, float>(job, team);
        case Slot::f64: return reduce_as<double, double>(job, team);
        case Slot::i32: return reduce_as<std::int32_t, std::uint32_t>(job, team);
        case Slot::i64: return reduce_as<std::int64_t, std::uint64_t>(job, team);
    }
}

}  // namespace CAIRN_LEVEL
