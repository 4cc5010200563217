#include "kernels/cpu/simd/reduction/short_axis_traversal.hpp"
#include "kernels/cpu/simd/table.hpp"
#include "kernels/cpu/simd/vector/vector_math.hpp"

/// Normalisations of each row or column, and of each row of the sum of two tensors, which is also an output. The
/// variance is computed from differences to the mean, so a large mean costs no digits: for rows in a second pass over
/// cached data, for columns piece by piece. f16 and bf16 are rounded when results are written. Layer norm and RMS norm
/// share the code, RMS norm with a mean of 0.
namespace CAIRN_LEVEL {
namespace {

enum class Kind { layer, rms };

// ---- rows

struct Moments {
    float mean, scale;
};
template <Kind kind, int n>
CAIRN_INLINE void moments_of_rows(const float* const* x, std::int64_t width, float eps, Moments* moments) {
    const float count = static_cast<float>(width);
    float mean[n]{}, squares[n];
    if constexpr (kind == Kind::layer) {
        reduce_rows<n>(
            mean, [&](int r) { return sum_lanes(x[r], width, [](F32 v) { return v; }); }, add);
        for (int r = 0; r < n; ++r) mean[r] /= count;
    }
    reduce_rows<n>(
        squares,
        [&](int r) {
            const F32 m = splat(mean[r]);
            return sum_lanes(x[r], width, [&](F32 v) {
                const F32 d = kind == Kind::layer ? v - m : v;
                return d * d;
            });
        },
        add);
    for (int r = 0; r < n; ++r) moments[r] = {mean[r], 1.0f / __builtin_sqrtf(squares[r] / count + eps)};
}
/// Moments of 1 or `lanes` rows.
template <Kind kind>
[[gnu::noinline]] void moments_of(const float* const* x, int rows, std::int64_t width, float eps, Moments* moments) {
    rows == 1 ? moments_of_rows<kind, 1>(x, width, eps, moments) : moments_of_rows<kind, lanes>(x, width, eps, moments);
}
using MomentsOf = void (*)(const float* const*, int, std::int64_t, float, Moments*);

/// Rows that are read more than once, in f32: in place, or copied to the member's workspace.
template <typename Element>
struct FloatRows {
    std::int64_t width;

    FloatRows(const Args& args, Team& team, std::int64_t rows, std::int64_t of, int buffered)
        : width(of), memory(args, team, buffered * row_bytes(of), rows) {}
    /// `taken`: a row of the operands that this member has claimed.
    const float* row(int place, const Element* x, std::int64_t taken) {
        return widened(x, [&] { return reinterpret_cast<float*>(memory.at(taken) + place * row_bytes(width)); });
    }
    /// Row r of a batch.
    const float* batch_row(int r, const Element* x) {
        return widened(x, [&] { return beside + r * max_batched_row; });
    }

private:
    template <typename To>
    CAIRN_INLINE const float* widened(const Element* x, [[maybe_unused]] To memory_for) const {
        if constexpr (std::is_same_v<Element, float>) {
            return x;
        } else {
            float* const to = memory_for();
            map_row(to, width, [&](auto at) { return at(x); });
            return to;
        }
    }
    MemberMemory memory;
    alignas(64) float beside[std::is_same_v<Element, float> ? 1 : lanes * max_batched_row];
};

/// gamma and beta in f32; null if not given, and before the member's first row. They begin at input `first`.
struct NormParameters {
    const float *gamma = nullptr, *beta = nullptr;

    template <typename Element>
    void widen(const Args& args, const AxisPlan& plan, int first, FloatRows<Element>& wide, std::int64_t taken) {
        if (!plan.has_gamma || gamma != nullptr) return;
        gamma = wide.row(1, elements<const Element>(args.inputs[first]), taken);
        if (plan.has_beta) beta = wide.row(2, elements<const Element>(args.inputs[first + 1]), taken);
    }
};
template <typename Element>
[[gnu::noinline]] void scale_row(Element* y, const float* x, std::int64_t n, Moments moments, NormParameters factors) {
    const F32 mean = splat(moments.mean), scale = splat(moments.scale);
    const float *gamma = factors.gamma, *beta = factors.beta;
    if (beta != nullptr)
        map_row(y, n, [&](auto at) { return (at(x) - mean) * scale * at(gamma) + at(beta); });
    else if (gamma != nullptr)
        map_row(y, n, [&](auto at) { return (at(x) - mean) * scale * at(gamma); });
    else
        map_row(y, n, [&](auto at) { return (at(x) - mean) * scale; });
}

template <typename Element>
void norm_rows(const Args& args, Team& team, const AxisPlan& plan, MomentsOf moments) {
    const RowOffsets in(args.inputs[0], plan.first), out(args.outputs[0], plan.first);
    const std::int64_t width = length_of(args.inputs[0], plan);
    FloatRows<Element> wide(args, team, in.count, width, buffered_rows(plan));
    NormParameters factors;
    share_row_batches(team, in.count, width, [&]<int n>(std::integral_constant<int, n>, std::int64_t first) {
        factors.widen(args, plan, 1, wide, first);
        const float* x[n];
        for (int r = 0; r < n; ++r) {
            const Element* const row = elements<const Element>(args.inputs[0]) + in.offset(first + r);
            x[r] = n == 1 ? wide.row(0, row, first) : wide.batch_row(r, row);
        }
        Moments found[n];
        moments(x, n, width, plan.eps, found);
        for (int r = 0; r < n; ++r)
            scale_row(elements<Element>(args.outputs[0]) + out.offset(first + r), x[r], width, found[r], factors);
    });
}

/// inputs a, b, gamma, beta; outputs a + b and its normalisation.
template <typename Element>
void norm_sums(const Args& args, Team& team, const AxisPlan& plan, MomentsOf moments) {
    const RowOffsets left(args.inputs[0], plan.first), right(args.inputs[1], plan.first);
    const RowOffsets sum(args.outputs[0], plan.first), out(args.outputs[1], plan.first);
    const std::int64_t width = length_of(args.inputs[0], plan);
    FloatRows<Element> wide(args, team, left.count, width, buffered_rows(plan));
    NormParameters factors;
    share_rows(team, left.count, width, [&](std::int64_t row) {
        const auto* a = elements<const Element>(args.inputs[0]) + left.offset(row);
        const auto* b = elements<const Element>(args.inputs[1]) + right.offset(row);
        auto* s = elements<Element>(args.outputs[0]) + sum.offset(row);
        map_row(s, width, [&](auto at) { return at(a) + at(b); });
        factors.widen(args, plan, 2, wide, row);
        const float* x = wide.row(0, s, row);
        Moments found;
        moments(&x, 1, width, plan.eps, &found);
        scale_row(elements<Element>(args.outputs[1]) + out.offset(row), x, width, found, factors);
    });
}

// ---- columns

struct NormContext {
    const Args& args;
    const AxisPlan& plan;

    /// Element i of input `input`, gamma or beta.
    float factor(int input, std::int64_t i) const {
        float value = 0;
        with_element(plan.dtype,
                     [&](auto element) { value = widened(elements<const decltype(element)>(args.inputs[input])[i]); });
        return value;
    }
};

/// a: sums of differences to the first row, which keep all digits if elements are close together, and are 0 if all are
/// equal; b: sums of squared differences to the mean.
void accumulate_variance(const ColumnBlock& piece, std::int64_t begin, ColumnStats stats, const void*) {
    const float seen = static_cast<float>(begin), rows = static_cast<float>(piece.length);
    each_strip(piece, [&]<int vectors>(const Strip<vectors>& strip, std::int64_t column) {
        if (begin == 0)
            for (int v = 0; v < vectors; ++v) store(stats.first + column + v * lanes, strip.at(0, v));
        const auto first = StripValues<vectors>::from(stats.first + column);
        auto sums = sum_down(
            strip, [&](std::int64_t i, int v) __attribute__((always_inline)) {
                if (v == 0) strip.prefetch(i);
                return strip.at(i, v) - first.of[v];
            });
        StripValues<vectors> means;
        for (int v = 0; v < vectors; ++v) means.of[v] = sums.of[v] / rows;
        auto squares = sum_down(
            strip, [&](std::int64_t i, int v) __attribute__((always_inline)) {
                const F32 d = (strip.at(i, v) - first.of[v]) - means.of[v];
                return d * d;
            });
        if (begin > 0) {
            // Combines the squares of two parts with the distance of their means (Chan, Golub and LeVeque).
            const auto a = StripValues<vectors>::from(stats.a + column),
                       b = StripValues<vectors>::from(stats.b + column);
            for (int v = 0; v < vectors; ++v) {
                const F32 d = means.of[v] - a.of[v] / seen;
                squares.of[v] += b.of[v] + d * d * (seen * rows / (seen + rows));
                sums.of[v] += a.of[v];
            }
        }
        sums.to(stats.a + column);
        squares.to(stats.b + column);
    });
}

/// b: sums of squares.
void accumulate_squares(const ColumnBlock& piece, std::int64_t begin, ColumnStats stats, const void*) {
    each_strip(piece, [&]<int vectors>(const Strip<vectors>& strip, std::int64_t column) {
        StripValues<vectors> before{};
        if (begin == 0) {
            before.to(stats.first + column);
            before.to(stats.a + column);
        } else {
            before = StripValues<vectors>::from(stats.b + column);
        }
        auto squares = sum_down(
            strip, [&](std::int64_t i, int v) __attribute__((always_inline)) {
                if (v == 0) strip.prefetch(i);
                return strip.at(i, v) * strip.at(i, v);
            });
        for (int v = 0; v < vectors; ++v) squares.of[v] += before.of[v];
        squares.to(stats.b + column);
    });
}

/// a: mean minus the first row; b: 1 / sqrt(variance + eps).
void finish_stats(ColumnStats stats, std::int64_t width, std::int64_t length, const void* context) {
    const float eps = static_cast<const NormContext*>(context)->plan.eps, count = static_cast<float>(length);
    for (std::int64_t j = 0; j < width; j += lanes) {
        store(stats.a + j, load(stats.a + j) / count);
        store(stats.b + j, 1.0f / sqrt(load(stats.b + j) / count + eps));
    }
}

void finish(const ColumnBlock& rows, std::int64_t begin, ColumnStats stats, const void* context) {
    const NormContext& known = *static_cast<const NormContext*>(context);
    each_strip(rows, [&]<int vectors>(const Strip<vectors>& strip, std::int64_t column) {
        const auto first = StripValues<vectors>::from(stats.first + column),
                   mean = StripValues<vectors>::from(stats.a + column),
                   scale = StripValues<vectors>::from(stats.b + column);
        for (std::int64_t i = 0; i < strip.length; ++i) {
            const float gamma = known.plan.has_gamma ? known.factor(1, begin + i) : 1;
            const float beta = known.plan.has_beta ? known.factor(2, begin + i) : 0;
            strip.prefetch_for_write(i);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v)
                strip.put(i, v, ((strip.at(i, v) - first.of[v]) - mean.of[v]) * scale.of[v] * gamma + beta);
        }
    });
}

// ---- all

/// inputs x, gamma, beta.
template <Kind kind>
void norm(const Args& args, Team& team) {
    const AxisPlan& plan = plan_of(args);
    const NormContext known{args, plan};
    const Stage stages[] = {{kind == Kind::layer ? accumulate_variance : accumulate_squares, finish_stats, false},
                            {finish, nullptr, true}};
    const ColumnKernel work{&known, stages, stages};
    with_element(plan.dtype, [&](auto element) {
        using Element = decltype(element);
        if (!run_lane_parallel<Element>(args, team, plan, work)) norm_rows<Element>(args, team, plan, moments_of<kind>);
    });
}
template <Kind kind>
void add_norm(const Args& args, Team& team) {
    const AxisPlan& plan = plan_of(args);
    with_element(plan.dtype, [&](auto element) {
        using Element = decltype(element);
        norm_sums<Element>(args, team, plan, moments_of<kind>);
    });
}

}  // namespace

void layer_norm(const Args& args, Team& team) { norm<Kind::layer>(args, team); }
void rms_norm(const Args& args, Team& team) { norm<Kind::rms>(args, team); }
void add_layer_norm(const Args& args, Team& team) { add_norm<Kind::layer>(args, team); }
void add_rms_norm(const Args& args, Team& team) { add_norm<Kind::rms>(args, team); }

}  // namespace CAIRN_LEVEL
