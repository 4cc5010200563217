#include "kernels/cpu/simd/short_walk.hpp"
#include "kernels/cpu/simd/table.hpp"
#include "kernels/cpu/simd/vector_math.hpp"

/// Normalisations of each row or column, and of each row of the sum of two tensors, which is given out too. The
/// variance is taken from the differences to the mean, in a second pass over what is in the cache: a large mean costs
/// no digits. f16 and bf16 are rounded where results are written.
namespace CAIRN_LEVEL {
namespace {

enum class Kind { layer, rms };

/// What becomes of a normalised element: `along` a row, where `at` reads the elements of a vector, and `down` a column
/// at row i.
struct AsIs {
    template <typename At>
    CAIRN_INLINE F32 along(At, F32 y) const {
        return y;
    }
    CAIRN_INLINE F32 down(std::int64_t, F32 y) const { return y; }
};
template <typename Element>
struct TimesGamma {
    const Element* gamma;
    template <typename At>
    CAIRN_INLINE F32 along(At at, F32 y) const {
        return y * at(gamma);
    }
    CAIRN_INLINE F32 down(std::int64_t i, F32 y) const { return y * widened(gamma[i]); }
};
template <typename Element>
struct TimesGammaPlusBeta {
    const Element *gamma, *beta;
    template <typename At>
    CAIRN_INLINE F32 along(At at, F32 y) const {
        return y * at(gamma) + at(beta);
    }
    CAIRN_INLINE F32 down(std::int64_t i, F32 y) const { return y * widened(gamma[i]) + widened(beta[i]); }
};

/// Calls f with what the operands from `first` on say.
template <Kind kind, typename Element, typename F>
CAIRN_INLINE void with_factors(const Args& args, const AxisPlan& plan, int first, F f) {
    if (!plan.has_gamma) return f(AsIs{});
    const auto* gamma = elements<const Element>(args.inputs[first]);
    if constexpr (kind == Kind::layer) {
        if (plan.has_beta)
            return f(TimesGammaPlusBeta<Element>{gamma, elements<const Element>(args.inputs[first + 1])});
    }
    f(TimesGamma<Element>{gamma});
}

template <Kind kind, typename Element, typename Factors>
CAIRN_INLINE void norm_row(Element* y, const Element* x, std::int64_t n, float eps, const Factors& factors) {
    const float count = static_cast<float>(n);
    if constexpr (kind == Kind::layer) {
        const F32 mean = splat(sum_row(x, n, [](F32 v) { return v; }) / count);
        const float variance = sum_row(x, n, [&](F32 v) { return (v - mean) * (v - mean); }) / count;
        const F32 scale = splat(1.0f / __builtin_sqrtf(variance + eps));
        map_row(y, n, [&](auto at) { return factors.along(at, (at(x) - mean) * scale); });
    } else {
        const float square = sum_row(x, n, [](F32 v) { return v * v; }) / count;
        const F32 scale = splat(1.0f / __builtin_sqrtf(square + eps));
        map_row(y, n, [&](auto at) { return factors.along(at, at(x) * scale); });
    }
}

/// Columns to what is left of them without their mean, and what makes its variance 1.
template <Kind kind, int vectors>
CAIRN_INLINE void norm_strip(const Strip<vectors>& strip, float* scales, float eps) {
    const F32 count = splat(static_cast<float>(strip.length));
    Totals<vectors> squares;
    if constexpr (kind == Kind::layer) {
        // Differences to the first row have all digits where elements are close together, and are 0 where they are one
        // value.
        Totals<vectors> first{};
        for (int v = 0; v < vectors && strip.length > 0; ++v) first.of[v] = strip.at(0, v);
        auto mean = sum_down(
            strip, [&](std::int64_t i, int v)
                       __attribute__((always_inline)) { return strip.set(i, v, strip.at(i, v) - first.of[v]); });
        for (int v = 0; v < vectors; ++v) mean.of[v] /= count;
        squares = sum_down(
            strip, [&](std::int64_t i, int v) __attribute__((always_inline)) {
                const F32 d = strip.set(i, v, strip.at(i, v) - mean.of[v]);
                return d * d;
            });
    } else {
        squares = sum_down(
            strip, [&](std::int64_t i, int v)
                       __attribute__((always_inline)) { return strip.at(i, v) * strip.at(i, v); });
    }
    for (int v = 0; v < vectors; ++v) store(scales + v * lanes, 1.0f / sqrt(squares.of[v] / count + eps));
}

/// inputs x, gamma, beta.
template <Kind kind, typename Element>
void norm_of(const Args& args, Team& team, const AxisPlan& plan) {
    const TensorArg &x = args.inputs[0], &y = args.outputs[0];
    with_factors<kind, Element>(args, plan, 1, [&](const auto& factors) {
        if (plan.is_row && !is_short(args, plan)) {
            const Rows in(x, plan.first), out(y, plan.first);
            const std::int64_t width = length_of(x, plan);
            share_rows(team, in.count, width, [&](std::int64_t row) {
                norm_row<kind>(elements<Element>(y) + out.offset(row), elements<const Element>(x) + in.offset(row),
                               width, plan.eps, factors);
            });
        } else {
            by_lanes<Element>(
                args, team, plan,
                [&](Held& held) {
                    each_strip(held, [&](auto strip, float* scales) { norm_strip<kind>(strip, scales, plan.eps); });
                },
                [&](const Held& held, std::int64_t i, auto at) {
                    return factors.down(i, at(held.rows + i * held.step) * at(held.of_column));
                });
        }
    });
}

/// inputs a, b, gamma, beta; outputs a + b and its normalisation.
template <Kind kind, typename Element>
void norm_of_sum(const Args& args, Team& team, const AxisPlan& plan) {
    const Rows left(args.inputs[0], plan.first), right(args.inputs[1], plan.first);
    const Rows sum(args.outputs[0], plan.first), out(args.outputs[1], plan.first);
    const std::int64_t width = length_of(args.inputs[0], plan);
    with_factors<kind, Element>(args, plan, 2, [&](const auto& factors) {
        share_rows(team, left.count, width, [&](std::int64_t row) {
            const auto* a = elements<const Element>(args.inputs[0]) + left.offset(row);
            const auto* b = elements<const Element>(args.inputs[1]) + right.offset(row);
            auto* s = elements<Element>(args.outputs[0]) + sum.offset(row);
            map_row(s, width, [&](auto at) { return at(a) + at(b); });
            norm_row<kind, Element>(elements<Element>(args.outputs[1]) + out.offset(row), s, width, plan.eps, factors);
        });
    });
}

template <Kind kind>
void norm(const Args& args, Team& team) {
    const AxisPlan& plan = plan_of(args);
    with_element(plan.dtype, [&](auto element) { norm_of<kind, decltype(element)>(args, team, plan); });
}
template <Kind kind>
void add_norm(const Args& args, Team& team) {
    const AxisPlan& plan = plan_of(args);
    with_element(plan.dtype, [&](auto element) { norm_of_sum<kind, decltype(element)>(args, team, plan); });
}

}  // namespace

void layer_norm(const Args& args, Team& team) { norm<Kind::layer>(args, team); }
void rms_norm(const Args& args, Team& team) { norm<Kind::rms>(args, team); }
void add_layer_norm(const Args& args, Team& team) { add_norm<Kind::layer>(args, team); }
void add_rms_norm(const Args& args, Team& team) { add_norm<Kind::rms>(args, team); }

}  // namespace CAIRN_LEVEL
