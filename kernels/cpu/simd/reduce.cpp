#include "kernels/cpu/simd/row_walk.hpp"

#include <cstdint>

/// One number for each row: sum, mean, largest element, its index.
namespace CAIRN_LEVEL {
namespace {

/// f(row's elements, width) into the element of output 0 that belongs to the row, whether the output keeps the last
/// axis or not.
template <typename T, typename F>
CAIRN_INLINE void reduce(const Args& args, Team& team, F f) {
    const TensorArg& x = args.inputs[0];
    const Rows in(x, x.rank - 1), out(args.outputs[0], x.rank - 1);
    const std::int64_t width = x.shape[x.rank - 1];
    share_rows(team, in.count, width, [&](std::int64_t row) {
        reinterpret_cast<T*>(args.outputs[0].data)[out.offset(row)] = f(floats(x) + in.offset(row), width);
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

void sum_last(const Args& args, Team& team) { reduce<float>(args, team, row_sum); }

void mean_last(const Args& args, Team& team) {
    reduce<float>(args, team, [](const float* x, std::int64_t n) { return row_sum(x, n) / static_cast<float>(n); });
}

void max_last(const Args& args, Team& team) {
    reduce<float>(args, team, [](const float* x, std::int64_t n) {
        return has_nan(x, n) ? std::numeric_limits<float>::quiet_NaN() : max_row(x, n);
    });
}

void argmax_last(const Args& args, Team& team) {
    reduce<std::int32_t>(args, team, [](const float* x, std::int64_t n) {
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
