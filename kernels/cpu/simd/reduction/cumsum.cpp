#include "kernels/cpu/simd/reduction/cumsum_plan.hpp"
#include "kernels/cpu/simd/reduction/reduce_loop_nest.hpp"
#include "kernels/cpu/simd/table.hpp"
#include "kernels/cpu/simd/vector/lane_shuffles.hpp"
#include "kernels/cpu/simd/vector/typed_vector.hpp"

#include <utility>

/// cumsum: elements are added in the order of the axis, as floats require. Adjacent columns are vectorised across
/// lanes, several rows at a time. Of lines, as many as there are lanes are processed together, transposed in registers
/// on load and store.
namespace CAIRN_LEVEL {
namespace {

/// The accumulator type: f64 for floats, since the error is measured relative to the sum, in which large terms may
/// cancel; unsigned for integers, which wrap.
template <typename T>
struct SumType {
    using Type = T;
};
template <>
struct SumType<float> {
    using Type = double;
};

/// A vector of T with as many lanes as a vector of its accumulator type.
template <typename T>
struct SumLanes {
    using A = typename SumType<T>::Type;
    static constexpr int most = 16, count = vec_lanes<A> < most ? vec_lanes<A> : most;
    typedef T Vector __attribute__((vector_size(sizeof(T) * count)));
    typedef A Sums __attribute__((vector_size(sizeof(A) * count)));

    CAIRN_INLINE static Sums load(const T* p) { return load(p, std::make_integer_sequence<int, count>()); }
    CAIRN_INLINE static void store(T* p, Sums sums) {
        const Vector x = __builtin_convertvector(sums, Vector);
        std::memcpy(p, &x, sizeof x);
    }

private:
    // Element by element, which g++ 12 compiles to one instruction; it converts a vector in halves.
    template <int... i>
    CAIRN_INLINE static Sums load(const T* p, std::integer_sequence<int, i...>) {
        if constexpr (!std::is_same_v<A, T>) {
            return Sums{static_cast<A>(p[i])...};
        } else {
            Sums x;
            std::memcpy(&x, p, sizeof x);
            return x;
        }
    }
};

/// Columns of a row of a strip; elements of each line of a group.
constexpr std::int64_t widest = 512, line_block = 128;
constexpr int rows_at_once = 4;

/// Runs of elements as T, read and written in place if possible; f16 and bf16 through floats.
template <typename T>
struct ElementRuns {
    DType dtype;
    bool is_half;
    alignas(64) T loaded[rows_at_once * widest], summed[rows_at_once * widest];
    static_assert(SumLanes<T>::count * line_block <= rows_at_once * widest);

    explicit ElementRuns(DType of) : dtype(of), is_half(bytes_of(of) == 2) {}
    bool is_usable_in_place(std::int64_t stride, std::int64_t n) const { return !is_half && (stride == 1 || n == 1); }
    CAIRN_INLINE const T* from(std::int64_t position, const std::byte* x, std::int64_t stride, std::int64_t n) {
        if (is_usable_in_place(stride, n)) return reinterpret_cast<const T*>(x);
        if (is_half)
            load_run(dtype, loaded + position, x, stride, n);
        else
            load_same<T>(loaded + position, x, stride, n);
        return loaded + position;
    }
    /// Where to write n elements, which `finish` then stores.
    CAIRN_INLINE T* to(std::int64_t position, std::byte* y, std::int64_t stride, std::int64_t n) {
        return is_usable_in_place(stride, n) ? reinterpret_cast<T*>(y) : summed + position;
    }
    CAIRN_INLINE void finish(std::int64_t position, std::byte* y, std::int64_t stride, std::int64_t n) {
        if (is_usable_in_place(stride, n)) return;
        if (is_half)
            store_run(dtype, y, summed + position, stride, n);
        else
            store_same<T>(y, summed + position, stride, n);
    }
};

struct CumsumJob {
    const Args& args;
    ReduceAxes lines;                                      ///< all axes except the summed one and that of the columns
    std::int64_t size, x_step, y_step;                     ///< along the axis
    std::int64_t columns = 0, x_stride = 0, y_stride = 0;  ///< adjacent columns; 0: none
    DType dtype;
    std::int64_t bytes;

    CumsumJob(const Args& all, const CumsumPlan& plan) : args(all), dtype(plan.dtype), bytes(bytes_of(plan.dtype)) {
        const TensorArg &in = all.inputs[0], &out = all.outputs[0];
        size = in.shape[plan.axis], x_step = in.strides[plan.axis], y_step = out.strides[plan.axis];
        for (int axis = 0; axis < in.rank; ++axis)
            if (axis != plan.axis) lines.add(in.shape[axis], in.strides[axis], out.strides[axis]);
        constexpr std::int64_t some_columns = 8;
        int nearest = -1;
        for (int i = 0; i < lines.count; ++i)
            if (lines.shape[i] >= some_columns && lines.y[i] < y_step && (nearest < 0 || lines.y[i] < lines.y[nearest]))
                nearest = i;
        if (nearest < 0) return;
        columns = lines.shape[nearest], x_stride = lines.x[nearest], y_stride = lines.y[nearest];
        lines.remove(nearest);
    }
    const std::byte* x(std::int64_t offset) const { return args.inputs[0].data + offset * bytes; }
    std::byte* y(std::int64_t offset) const { return args.outputs[0].data + offset * bytes; }
};

/// The initial sum: -0 for floats, which keeps the sign of a leading zero.
template <typename A>
constexpr A initial_sum = static_cast<A>(std::is_floating_point_v<A> ? -0.0 : 0.0);

/// Calls work(item) for this member's items of `cells` elements each.
template <typename Work>
CAIRN_INLINE void share_items(Team& team, std::int64_t items, std::int64_t cells, Work work) {
    const std::int64_t items_per_chunk = cells < 8192 ? 8192 / (cells > 0 ? cells : 1) : 1;
    for (std::int64_t chunk = team.next_chunk(); chunk * items_per_chunk < items; chunk = team.next_chunk())
        for (std::int64_t item = chunk * items_per_chunk; item < items && item < (chunk + 1) * items_per_chunk; ++item)
            work(item);
}

/// Prefetch distances for x and y in elements; 0 for a buffer. The hardware prefetcher does not predict distant rows,
/// nor many adjacent lines.
struct PrefetchDistance {
    std::int64_t x, y;

    template <typename T>
    CAIRN_INLINE void prefetch(const T* from, const T* to) const {
        __builtin_prefetch(from + x, 0, 2);
        __builtin_prefetch(to + y, 1, 2);
    }
};

/// Adds K consecutive rows of n columns.
template <int K, typename T, typename A>
CAIRN_INLINE void add_down(A* sums, const T* const* from, T* const* to, std::int64_t n, PrefetchDistance ahead) {
    using L = SumLanes<T>;
    std::int64_t j = 0;
    for (; j + L::count <= n; j += L::count) {
        typename L::Sums sum;
        std::memcpy(&sum, sums + j, sizeof sum);
#pragma GCC unroll 4
        for (int k = 0; k < K; ++k) {
            ahead.prefetch(from[k] + j, to[k] + j);
            L::store(to[k] + j, sum += L::load(from[k] + j));
        }
        std::memcpy(sums + j, &sum, sizeof sum);
    }
    for (; j < n; ++j)
        for (int k = 0; k < K; ++k) to[k][j] = static_cast<T>(sums[j] = static_cast<A>(sums[j] + from[k][j]));
}

template <typename T>
void add_strip(const CumsumJob& job, ElementRuns<T>& runs, std::int64_t x, std::int64_t y, std::int64_t n) {
    using A = typename SumType<T>::Type;
    alignas(64) A sums[widest];
    for (std::int64_t j = 0; j < n; ++j) sums[j] = initial_sum<A>;
    constexpr std::int64_t rows_ahead = 2 * rows_at_once;
    const PrefetchDistance ahead{runs.is_usable_in_place(job.x_stride, n) ? rows_ahead * job.x_step : 0,
                                 runs.is_usable_in_place(job.y_stride, n) ? rows_ahead * job.y_step : 0};
    for (std::int64_t i = 0; i < job.size; i += rows_at_once) {
        const int rows = job.size - i < rows_at_once ? static_cast<int>(job.size - i) : rows_at_once;
        const T* from[rows_at_once];
        T* to[rows_at_once];
        for (int k = 0; k < rows; ++k) {
            from[k] = runs.from(k * widest, job.x(x + (i + k) * job.x_step), job.x_stride, n);
            to[k] = runs.to(k * widest, job.y(y + (i + k) * job.y_step), job.y_stride, n);
        }
        if (rows == rows_at_once)
            add_down<rows_at_once>(sums, from, to, n, ahead);
        else
            for (int k = 0; k < rows; ++k) add_down<1>(sums, from + k, to + k, n, ahead);
        for (int k = 0; k < rows; ++k) runs.finish(k * widest, job.y(y + (i + k) * job.y_step), job.y_stride, n);
    }
}

template <typename T>
void add_columns(const CumsumJob& job, Team& team) {
    ElementRuns<T> runs(job.dtype);
    // At most one strip per member if there is little to share: adjacent narrow strips share cache lines. Results do
    // not depend on the strips.
    const std::int64_t outer = job.lines.total(), members = team.size();
    const std::int64_t shares = outer < members ? members / (outer > 0 ? outer : 1) : 1;
    const std::int64_t fair = (job.columns / shares + 63) / 64 * 64, width = fair < widest ? fair : widest;
    const std::int64_t strips = (job.columns + width - 1) / width;
    share_items(team, outer * strips, job.size * (width < job.columns ? width : job.columns), [&](std::int64_t item) {
        const std::int64_t position = item / strips, first = item % strips * width;
        const std::int64_t n = job.columns - first < width ? job.columns - first : width;
        add_strip<T>(job, runs, job.lines.offset(job.lines.x, position) + first * job.x_stride,
                     job.lines.offset(job.lines.y, position) + first * job.y_stride, n);
    });
}

/// A group of lines: `count` of them, each with its own offsets.
template <typename T>
struct LineGroup {
    using L = SumLanes<T>;
    using A = typename L::A;
    static constexpr int most = L::count;

    const CumsumJob& job;
    ElementRuns<T>& runs;
    int count;
    std::int64_t x[most], y[most];

    /// Line by line: for fewer or shorter lines than pay for a transpose.
    void scan_each() {
        for (int r = 0; r < count; ++r) {
            A sum = initial_sum<A>;
            for (std::int64_t i = 0; i < job.size; i += widest) {
                const std::int64_t n = job.size - i < widest ? job.size - i : widest;
                std::byte* target = job.y(y[r] + i * job.y_step);
                const T* from = runs.from(0, job.x(x[r] + i * job.x_step), job.x_step, n);
                T* to = runs.to(0, target, job.y_step, n);
                for (std::int64_t j = 0; j < n; ++j) to[j] = static_cast<T>(sum = static_cast<A>(sum + from[j]));
                runs.finish(0, target, job.y_step, n);
            }
        }
    }
    /// In transposed squares. Lanes without a line repeat the last line.
    void scan_transposed() {
        typename L::Sums sum = initial_sum<A> - typename L::Sums{};
        const PrefetchDistance ahead{runs.is_usable_in_place(job.x_step, job.size) ? line_block : 0,
                                     runs.is_usable_in_place(job.y_step, job.size) ? line_block : 0};
        for (std::int64_t i = 0; i < job.size; i += line_block) {
            const std::int64_t n = job.size - i < line_block ? job.size - i : line_block;
            const T* from[most];
            T* to[most];
            for (int r = 0; r < most; ++r) {
                const bool own = r < count;
                from[r] =
                    own ? runs.from(r * line_block, job.x(x[r] + i * job.x_step), job.x_step, n) : from[count - 1];
                to[r] = own ? runs.to(r * line_block, job.y(y[r] + i * job.y_step), job.y_step, n) : to[count - 1];
            }
            std::int64_t j = 0;
            for (; j + most <= n; j += most) {
                for (int r = 0; r < most; ++r) ahead.prefetch(from[r] + j, to[r] + j);
                add_square(
                    sum, [&](int r) __attribute__((always_inline)) { return from[r] + j; },
                    [&](int r) __attribute__((always_inline)) { return to[r] + j; });
            }
            if (j < n) scan_tail(sum, from, to, j, n - j);
            for (int r = 0; r < count; ++r) runs.finish(r * line_block, job.y(y[r] + i * job.y_step), job.y_step, n);
        }
    }

private:
    template <typename From, typename To>
    CAIRN_INLINE static void add_square(typename L::Sums& sum, From from, To to) {
        typename L::Sums cells[most];
#pragma GCC unroll 16
        for (int r = 0; r < most; ++r) cells[r] = L::load(from(r));
        transpose_registers(cells);
#pragma GCC unroll 16
        for (int i = 0; i < most; ++i) cells[i] = sum += cells[i];
        transpose_registers(cells);
#pragma GCC unroll 16
        for (int r = 0; r < most; ++r) L::store(to(r), cells[r]);
    }
    /// The n < most elements that fill no square.
    static void scan_tail(typename L::Sums& sum, const T* const* from, T* const* to, std::int64_t at, std::int64_t n) {
        T square[most][most] = {};
        const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
        for (int r = 0; r < most; ++r) std::memcpy(square[r], from[r] + at, bytes);
        add_square(
            sum, [&](int r) { return square[r]; }, [&](int r) { return square[r]; });
        for (int r = 0; r < most; ++r) std::memcpy(to[r] + at, square[r], bytes);
    }
};

template <typename T>
void scan(const CumsumJob& job, Team& team) {
    if (job.columns > 0) return add_columns<T>(job, team);
    using Group = LineGroup<T>;
    ElementRuns<T> runs(job.dtype);
    const std::int64_t lines = job.size > 0 ? job.lines.total() : 0;
    share_items(team, (lines + Group::most - 1) / Group::most, job.size * Group::most, [&](std::int64_t item) {
        const std::int64_t first = item * Group::most, left = lines - first;
        Group group{job, runs, left < Group::most ? static_cast<int>(left) : Group::most, {}, {}};
        for (int r = 0; r < group.count; ++r) {
            group.x[r] = job.lines.offset(job.lines.x, first + r);
            group.y[r] = job.lines.offset(job.lines.y, first + r);
        }
        if (group.count <= Group::most / 4 || job.size < Group::most)
            group.scan_each();
        else
            group.scan_transposed();
    });
}

}  // namespace

void cumsum(const Args& args, Team& team) {
    const CumsumPlan& plan = *static_cast<const CumsumPlan*>(args.prepared);
    const CumsumJob job(args, plan);
    switch (plan.dtype) {
        case DType::f64: return scan<double>(job, team);
        case DType::f32:
        case DType::f16:
        case DType::bf16: return scan<float>(job, team);
        case DType::i64: return scan<std::uint64_t>(job, team);
        case DType::i32: return scan<std::uint32_t>(job, team);
        default: return scan<std::uint8_t>(job, team);
    }
}

}  // namespace CAIRN_LEVEL
