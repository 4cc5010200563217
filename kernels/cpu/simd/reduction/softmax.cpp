#include "kernels/cpu/simd/reduction/short_axis_traversal.hpp"
#include "kernels/cpu/simd/table.hpp"
#include "kernels/cpu/simd/vector/vector_math.hpp"

/// softmax and log_softmax of each row or column. A NaN, or an infinite maximum, makes the whole row NaN, as in the
/// definition: the differences x - m are then NaN, and so is their sum. f16 and bf16 are rounded when results are
/// written.
namespace CAIRN_LEVEL {
namespace {

/// n rows of y and x, each with a float buffer: the row of y itself if it is f32.
template <typename Element, int n>
struct RowBatch {
    Element* y[n];
    const Element* x[n];
    float* buffer[n];
    std::int64_t width;

    CAIRN_INLINE void find_max(float (&largest)[n]) const {
        reduce_rows<n>(
            largest, [&](int r) { return max_lanes(x[r], width); }, larger);
    }
    /// Sums of e^(x - from), which are optionally stored to `buffer`.
    template <bool holds>
    CAIRN_INLINE void find_sums(float (&sums)[n], const float (&from)[n]) const {
        reduce_rows<n>(
            sums,
            [&](int r) {
                return sum_vectors<holds>(buffer[r], x[r], width,
                                          [&](F32 v) { return exp_negative(v - splat(from[r])); });
            },
            add);
    }
};

template <typename Element, int n>
CAIRN_INLINE void softmax_rows(const RowBatch<Element, n>& rows) {
    float m[n], sums[n];
    rows.find_max(m);
    rows.template find_sums<true>(sums, m);
    for (int r = 0; r < n; ++r) {
        const F32 factor = splat(1.0f / sums[r]);
        map_row(rows.y[r], rows.width, [&](auto at) { return at(rows.buffer[r]) * factor; });
    }
}

template <typename Element, int n>
CAIRN_INLINE void log_softmax_rows(const RowBatch<Element, n>& rows) {
    float m[n], sums[n];
    rows.find_max(m);
    rows.template find_sums<false>(sums, m);
    if constexpr (n == 1)
        sums[0] = log(splat(sums[0]))[0];
    else
        store(sums, log(load(sums)));
    for (int r = 0; r < n; ++r)
        map_row(rows.y[r], rows.width, [&](auto at) { return (at(rows.x[r]) - splat(m[r])) - splat(sums[r]); });
}

/// a: the largest element; b: the sum of e^(x - a), over the rows seen so far (online softmax).
void accumulate_max_and_sum(const ColumnBlock& piece, std::int64_t begin, ColumnStats stats, const void*) {
    constexpr float least = -std::numeric_limits<float>::infinity();
    each_strip(piece, [&]<int vectors>(const Strip<vectors>& strip, std::int64_t column) {
        auto before = no_elements<vectors>();
        StripValues<vectors> sums{};
        if (begin > 0) {
            before = StripValues<vectors>::from(stats.a + column);
            sums = StripValues<vectors>::from(stats.b + column);
        }
        const auto largest = max_down(strip, before);
        // If all elements so far are -inf, the base is 0 and the exponentials are 0.
        StripValues<vectors> from;
        for (int v = 0; v < vectors; ++v) {
            from.of[v] = largest.of[v] == least ? F32{} : largest.of[v];
            sums.of[v] *= exp_negative(before.of[v] - from.of[v]);
        }
        const auto terms = sum_down(
            strip, [&](std::int64_t i, int v)
                       __attribute__((always_inline)) { return exp_negative(strip.at(i, v) - from.of[v]); });
        for (int v = 0; v < vectors; ++v) sums.of[v] += terms.of[v];
        largest.to(stats.a + column);
        sums.to(stats.b + column);
    });
}
void finish_softmax_stats(ColumnStats stats, std::int64_t width, std::int64_t, const void*) {
    for (std::int64_t j = 0; j < width; j += lanes) store(stats.b + j, 1.0f / load(stats.b + j));
}
void finish_log_softmax_stats(ColumnStats stats, std::int64_t width, std::int64_t, const void*) {
    for (std::int64_t j = 0; j < width; j += lanes) store(stats.b + j, log(load(stats.b + j)));
}
/// Stores f(x - a, b) for each element.
template <typename F>
CAIRN_INLINE void finish_by(const ColumnBlock& rows, ColumnStats stats, F f) {
    each_strip(rows, [&]<int vectors>(const Strip<vectors>& strip, std::int64_t column) {
        const auto a = StripValues<vectors>::from(stats.a + column), b = StripValues<vectors>::from(stats.b + column);
        for (std::int64_t i = 0; i < strip.length; ++i) {
            strip.prefetch_for_write(i);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) strip.put(i, v, f(strip.at(i, v) - a.of[v], b.of[v]));
        }
    });
}
void finish_softmax(const ColumnBlock& rows, std::int64_t, ColumnStats stats, const void*) {
    finish_by(
        rows, stats, [](F32 d, F32 factor) __attribute__((always_inline)) { return exp_negative(d) * factor; });
}
void finish_log_softmax(const ColumnBlock& rows, std::int64_t, ColumnStats stats, const void*) {
    finish_by(
        rows, stats, [](F32 d, F32 logarithm) __attribute__((always_inline)) { return d - logarithm; });
}

// Computes each exponential once, and stores it in the output, which is in the cache.

/// a: the largest element; b: 0.
void find_max(const ColumnBlock& piece, std::int64_t begin, ColumnStats stats, const void*) {
    each_strip(piece, [&]<int vectors>(const Strip<vectors>& strip, std::int64_t column) {
        if (begin == 0) StripValues<vectors>{}.to(stats.b + column);
        max_down(strip, begin == 0 ? no_elements<vectors>() : StripValues<vectors>::from(stats.a + column))
            .to(stats.a + column);
    });
}
/// b: the sum of the exponentials.
void write_exponentials(const ColumnBlock& piece, std::int64_t, ColumnStats stats, const void*) {
    each_strip(piece, [&]<int vectors>(const Strip<vectors>& strip, std::int64_t column) {
        const auto m = StripValues<vectors>::from(stats.a + column);
        auto sums = sum_down(
            strip, [&](std::int64_t i, int v) __attribute__((always_inline)) {
                if (v == 0) strip.prefetch_for_write(i);
                return strip.put(i, v, exp_negative(strip.at(i, v) - m.of[v]));
            });
        const auto before = StripValues<vectors>::from(stats.b + column);
        for (int v = 0; v < vectors; ++v) sums.of[v] += before.of[v];
        sums.to(stats.b + column);
    });
}
void rescale(const ColumnBlock& rows, std::int64_t, ColumnStats stats, const void*) {
    each_strip(rows, [&]<int vectors>(const Strip<vectors>& strip, std::int64_t column) {
        const auto factors = StripValues<vectors>::from(stats.b + column);
        for (std::int64_t i = 0; i < strip.length; ++i)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) strip.put(i, v, strip.back(i, v) * factors.of[v]);
    });
}

constexpr Stage softmax_stages[] = {
    {find_max, nullptr, false}, {write_exponentials, finish_softmax_stats, true}, {rescale, nullptr, true}};
constexpr Stage streamed_softmax_stages[] = {{accumulate_max_and_sum, finish_softmax_stats, false},
                                             {finish_softmax, nullptr, true}};
constexpr Stage log_softmax_stages[] = {{accumulate_max_and_sum, finish_log_softmax_stats, false},
                                        {finish_log_softmax, nullptr, true}};

/// Calls f(RowBatch) for all rows. The workspace holds a row of `kept` bytes for each member.
template <typename Element, typename F>
CAIRN_INLINE void for_each_batch(const Args& args, Team& team, const AxisPlan& plan, std::int64_t kept, F f) {
    const RowOffsets in(args.inputs[0], plan.first), out(args.outputs[0], plan.first);
    const std::int64_t width = length_of(args.inputs[0], plan);
    [[maybe_unused]] alignas(64) float beside[std::is_same_v<Element, float> ? 1 : lanes * max_batched_row];
    [[maybe_unused]] MemberMemory memory(args, team, kept, in.count);
    share_row_batches(team, in.count, width, [&]<int n>(std::integral_constant<int, n>, std::int64_t first) {
        RowBatch<Element, n> rows;
        rows.width = width;
        for (int r = 0; r < n; ++r) {
            rows.y[r] = elements<Element>(args.outputs[0]) + out.offset(first + r);
            rows.x[r] = elements<const Element>(args.inputs[0]) + in.offset(first + r);
            if constexpr (std::is_same_v<Element, float>)
                rows.buffer[r] = rows.y[r];
            else
                rows.buffer[r] = n == 1 ? reinterpret_cast<float*>(memory.at(first)) : beside + r * max_batched_row;
        }
        f(rows);
    });
}

template <typename Element>
void softmax_of(const Args& args, Team& team, const AxisPlan& plan) {
    const ColumnKernel work{nullptr, softmax_stages, streamed_softmax_stages};
    if (run_lane_parallel<Element>(args, team, plan, work)) return;
    const std::int64_t bytes = row_bytes(length_of(args.inputs[0], plan));
    for_each_batch<Element>(args, team, plan, bytes, [](const auto& rows) { softmax_rows(rows); });
}

template <typename Element>
void log_softmax_of(const Args& args, Team& team, const AxisPlan& plan) {
    const ColumnKernel work{nullptr, log_softmax_stages, log_softmax_stages};
    if (run_lane_parallel<Element>(args, team, plan, work)) return;
    for_each_batch<Element>(args, team, plan, 0, [](const auto& rows) { log_softmax_rows(rows); });
}

}  // namespace

void softmax(const Args& args, Team& team) {
    const AxisPlan& plan = plan_of(args);
    with_element(plan.dtype, [&](auto element) { softmax_of<decltype(element)>(args, team, plan); });
}
void log_softmax(const Args& args, Team& team) {
    const AxisPlan& plan = plan_of(args);
    with_element(plan.dtype, [&](auto element) { log_softmax_of<decltype(element)>(args, team, plan); });
}

}  // namespace CAIRN_LEVEL
