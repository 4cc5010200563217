#include "kernels/cpu/simd/short_walk.hpp"
#include "kernels/cpu/simd/table.hpp"
#include "kernels/cpu/simd/vector_math.hpp"

/// softmax and log_softmax of each row or column. A NaN, or a largest element that is infinite, makes the whole row
/// NaN, as in the definition: the differences x - m are then NaN, and so is their sum. f16 and bf16 are rounded where
/// results are written.
namespace CAIRN_LEVEL {
namespace {

/// f(y, x, width) for each row.
template <typename Element, typename F>
CAIRN_INLINE void each_row(const Args& args, Team& team, const AxisPlan& plan, F f) {
    const Rows in(args.inputs[0], plan.first), out(args.outputs[0], plan.first);
    const std::int64_t width = length_of(args.inputs[0], plan);
    share_rows(team, in.count, width, [&](std::int64_t row) {
        f(elements<Element>(args.outputs[0]) + out.offset(row),
          elements<const Element>(args.inputs[0]) + in.offset(row), width);
    });
}

/// `held`: n floats, which may be y.
template <typename Element>
CAIRN_INLINE void softmax_row(Element* y, const Element* x, float* held, std::int64_t n) {
    const F32 m = splat(max_row(x, n));
    const F32 total = splat(map_sum_row(held, x, n, [&](F32 v) { return exp_negative(v - m); }));
    map_row(y, n, [&](auto at) { return at(held) / total; });
}

template <typename Element>
CAIRN_INLINE void log_softmax_row(Element* y, const Element* x, std::int64_t n) {
    const F32 m = splat(max_row(x, n));
    const float sum = sum_row(x, n, [&](F32 v) { return exp_negative(v - m); });
    const F32 logarithm = splat(log(splat(sum))[0]);
    map_row(y, n, [&](auto at) { return (at(x) - m) - logarithm; });
}

/// Columns to e^(x - m), and the inverses of their sums.
template <int vectors>
CAIRN_INLINE void softmax_strip(const Strip<vectors>& strip, float* factors) {
    const auto m = max_down(strip);
    const auto total = sum_down(
        strip, [&](std::int64_t i, int v)
                   __attribute__((always_inline)) { return strip.set(i, v, exp_negative(strip.at(i, v) - m.of[v])); });
    for (int v = 0; v < vectors; ++v) store(factors + v * lanes, 1.0f / total.of[v]);
}

/// Columns to x - m, and the logarithms of the sums of their exponentials.
template <int vectors>
CAIRN_INLINE void log_softmax_strip(const Strip<vectors>& strip, float* logarithms) {
    const auto m = max_down(strip);
    const auto total = sum_down(
        strip, [&](std::int64_t i, int v)
                   __attribute__((always_inline)) { return exp_negative(strip.set(i, v, strip.at(i, v) - m.of[v])); });
    for (int v = 0; v < vectors; ++v) store(logarithms + v * lanes, log(total.of[v]));
}

template <typename Element>
void softmax_of(const Args& args, Team& team, const AxisPlan& plan) {
    if (plan.is_row && !is_short(args, plan)) {
        const std::int64_t row_bytes = (length_of(args.inputs[0], plan) + 15) / 16 * 64;
        [[maybe_unused]] float* const kept = reinterpret_cast<float*>(args.workspace + row_bytes * team.rank());
        return each_row<Element>(args, team, plan, [&](Element* y, const Element* x, std::int64_t n) {
            if constexpr (std::is_same_v<Element, float>)
                softmax_row(y, x, y, n);
            else
                softmax_row(y, x, kept, n);
        });
    }
    by_lanes<Element>(
        args, team, plan,
        [](Held& held) { each_strip(held, [](auto strip, float* factors) { softmax_strip(strip, factors); }); },
        [](const Held& held, std::int64_t i, auto at) { return at(held.rows + i * held.step) * at(held.of_column); });
}

template <typename Element>
void log_softmax_of(const Args& args, Team& team, const AxisPlan& plan) {
    if (plan.is_row && !is_short(args, plan))
        return each_row<Element>(args, team, plan,
                                 [](Element* y, const Element* x, std::int64_t n) { log_softmax_row(y, x, n); });
    by_lanes<Element>(
        args, team, plan,
        [](Held& held) { each_strip(held, [](auto strip, float* logs) { log_softmax_strip(strip, logs); }); },
        [](const Held& held, std::int64_t i, auto at) { return at(held.rows + i * held.step) - at(held.of_column); });
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
