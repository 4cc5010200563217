#include "kernels/cpu/simd/column_walk.hpp"
#include "kernels/cpu/simd/table.hpp"

#include <cstdint>

/// One number for each row or column: sum, mean, largest element; and for each row the index of the largest.
namespace CAIRN_LEVEL {
namespace {

/// f(row's elements, width) into the element of output 0 that belongs to the row, whether the output keeps the axes or
/// not.
template <typename T, typename F>
CAIRN_INLINE void reduce_rows(const Args& args, Team& team, const AxisPlan& plan, F f) {
    const TensorArg& x = args.inputs[0];
    const Rows in(x, plan.first), out(args.outputs[0], plan.first);
    const std::int64_t width = length_of(x, plan);
    share_rows(team, in.count, width, [&](std::int64_t row) {
        reinterpret_cast<T*>(args.outputs[0].data)[out.offset(row)] = f(floats(x) + in.offset(row), width);
    });
}

/// Columns and rows reduced together: a page of each row at a time.
constexpr std::int64_t most_columns = 1024, rows_at_once = 8;

/// Folds the next rows of a strip into its totals, which have room for whole vectors.
template <int vectors, typename Fold>
CAIRN_INLINE void fold_rows(float* totals, const float* x, std::int64_t step, std::int64_t rows, std::int64_t width,
                            F32 none, Fold fold) {
    const std::int64_t left = width - (vectors - 1) * lanes, last = left < lanes ? left : lanes;
    F32 part[vectors];
    for (F32& p : part) p = none;
    for (std::int64_t i = 0; i < rows; ++i) {
        const float* row = x + i * step;
#pragma GCC unroll 16
        for (int j = 0; j < vectors * lanes; j += 16) __builtin_prefetch(row + rows_at_once * step + j, 0, 2);
#pragma GCC unroll 4
        for (int v = 0; v < vectors - 1; ++v) part[v] = fold(part[v], load(row + v * lanes));
        part[vectors - 1] = fold(part[vectors - 1], load_some(row + (vectors - 1) * lanes, last));
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) store(totals + v * lanes, fold(load(totals + v * lanes), part[v]));
}

/// The results of `width` columns into y; `fold` joins two vectors, `none` is what it leaves alone.
template <typename Fold>
CAIRN_INLINE void reduce_columns(const Across& a, const float* x, float* y, std::int64_t width, float none, Fold fold,
                                 bool is_mean) {
    alignas(64) float totals[most_columns];
    const F32 start = splat(none), count = splat(static_cast<float>(a.length));
    for (std::int64_t j = 0; j < width; j += lanes) store(totals + j, start);
    for (std::int64_t begin = 0; begin < a.length; begin += rows_at_once) {
        const std::int64_t rows = a.length - begin < rows_at_once ? a.length - begin : rows_at_once;
        for (std::int64_t column = 0; column < width; column += most_vectors * lanes) {
            with_vectors(width - column, [&](auto vectors) {
                fold_rows<vectors>(totals + column, x + begin * a.x_step + column, a.x_step, rows, width - column,
                                   start, fold);
            });
        }
    }
    if (is_mean) {
        map_row(y, width, [&](auto at) { return at(totals) / count; });
    } else {
        map_row(y, width, [&](auto at) { return at(totals); });
    }
}

template <typename Fold>
CAIRN_INLINE void reduce_across(const Args& args, Team& team, const AxisPlan& plan, float none, Fold fold,
                                bool is_mean = false) {
    const Across across(args.inputs[0], args.outputs[0], plan);
    share_columns(args, team, across, block_of(across, most_columns),
                  [&](const float* from, float* to, std::int64_t width) {
                      reduce_columns(across, from, to, width, none, fold, is_mean);
                  });
}

CAIRN_INLINE bool has_nan(const float* x, std::int64_t n) {
    I32 found{};
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) found |= load(x + i) != load(x + i);
    for (; i < n; ++i) found[0] |= x[i] != x[i] ? -1 : 0;
    std::int32_t any = 0;
    for (int lane = 0; lane < lanes; ++lane) any |= found[lane];
    return any != 0;
}

float row_sum(const float* x, std::int64_t n) {
    return sum_row(x, n, [](F32 v) { return v; });
}

}  // namespace

void sum_axis(const Args& args, Team& team) {
    const AxisPlan& plan = plan_of(args);
    if (plan.is_row) return reduce_rows<float>(args, team, plan, row_sum);
    reduce_across(args, team, plan, 0.0f, [](F32 a, F32 b) { return a + b; });
}

void mean_axis(const Args& args, Team& team) {
    const AxisPlan& plan = plan_of(args);
    if (plan.is_row)
        return reduce_rows<float>(args, team, plan,
                                  [](const float* x, std::int64_t n) { return row_sum(x, n) / static_cast<float>(n); });
    reduce_across(
        args, team, plan, 0.0f, [](F32 a, F32 b) { return a + b; }, true);
}

void max_axis(const Args& args, Team& team) {
    const AxisPlan& plan = plan_of(args);
    if (plan.is_row)
        return reduce_rows<float>(args, team, plan, [](const float* x, std::int64_t n) {
            return has_nan(x, n) ? std::numeric_limits<float>::quiet_NaN() : max_row(x, n);
        });
    reduce_across(args, team, plan, -std::numeric_limits<float>::infinity(), [](F32 a, F32 b) { return max(a, b); });
}

void argmax_last(const Args& args, Team& team) {
    reduce_rows<std::int32_t>(args, team, plan_of(args), [](const float* x, std::int64_t n) {
        const bool nan = has_nan(x, n);
        const float largest = nan ? 0.0f : max_row(x, n);
        // The first place that is it: whole vectors are skipped that do not hold it.
        std::int64_t i = 0;
        for (; i + lanes <= n; i += lanes) {
            const F32 v = load(x + i);
            const I32 hit = nan ? v != v : v == splat(largest);
            std::int32_t any = 0;
            for (int lane = 0; lane < lanes; ++lane) any |= hit[lane];
            if (any != 0) break;
        }
        while (i < n && !(nan ? x[i] != x[i] : x[i] == largest)) ++i;
        return static_cast<std::int32_t>(i);
    });
}

}  // namespace CAIRN_LEVEL
