#include "kernels/cpu/simd/norm_settings.hpp"
#include "kernels/cpu/simd/row_walk.hpp"
#include "kernels/cpu/simd/vector_math.hpp"

/// Normalisations of each row, and the same of the sum of two tensors, which is given out too. The variance is taken
/// from the differences to the mean, in a second pass over a row that is in the first-level cache: a large mean costs
/// no digits.
namespace CAIRN_LEVEL {
namespace {

CAIRN_INLINE void layer_norm_row(float* y, const float* x, const float* gamma, const float* beta, std::int64_t n,
                                 float eps) {
    const float count = static_cast<float>(n);
    const F32 mean = splat(sum_row(x, n, [](F32 v) { return v; }) / count);
    const float variance = sum_row(x, n, [&](F32 v) { return (v - mean) * (v - mean); }) / count;
    const F32 scale = splat(1.0f / __builtin_sqrtf(variance + eps));
    map_row(y, n, [&](auto at) { return (at(x) - mean) * scale * at(gamma) + at(beta); });
}

CAIRN_INLINE void rms_norm_row(float* y, const float* x, const float* gamma, std::int64_t n, float eps) {
    const float square = sum_row(x, n, [](F32 v) { return v * v; }) / static_cast<float>(n);
    const F32 scale = splat(1.0f / __builtin_sqrtf(square + eps));
    map_row(y, n, [&](auto at) { return at(x) * scale * at(gamma); });
}

Rows rows_of(const TensorArg& arg) { return Rows(arg, arg.rank - 1); }
std::int64_t width_of(const TensorArg& arg) { return arg.shape[arg.rank - 1]; }
float eps_of(const Args& args) { return static_cast<const NormSettings*>(args.prepared)->eps; }

/// inputs x, gamma, ...: f(y, x, width) for each row.
template <typename F>
CAIRN_INLINE void plain(const Args& args, Team& team, F f) {
    const Rows in = rows_of(args.inputs[0]), out = rows_of(args.outputs[0]);
    const std::int64_t width = width_of(args.inputs[0]);
    share_rows(team, in.count, width, [&](std::int64_t row) {
        f(floats_out(args.outputs[0]) + out.offset(row), floats(args.inputs[0]) + in.offset(row), width);
    });
}

/// inputs a, b, gamma, ...; outputs a + b and its normalisation: f(y, sum, width) for each row.
template <typename F>
CAIRN_INLINE void after_sum(const Args& args, Team& team, F f) {
    const Rows left = rows_of(args.inputs[0]), right = rows_of(args.inputs[1]);
    const Rows sum = rows_of(args.outputs[0]), out = rows_of(args.outputs[1]);
    const std::int64_t width = width_of(args.inputs[0]);
    share_rows(team, left.count, width, [&](std::int64_t row) {
        const float* a = floats(args.inputs[0]) + left.offset(row);
        const float* b = floats(args.inputs[1]) + right.offset(row);
        float* s = floats_out(args.outputs[0]) + sum.offset(row);
        map_row(s, width, [&](auto at) { return at(a) + at(b); });
        f(floats_out(args.outputs[1]) + out.offset(row), s, width);
    });
}

}  // namespace

void layer_norm(const Args& args, Team& team) {
    const float eps = eps_of(args), *gamma = floats(args.inputs[1]), *beta = floats(args.inputs[2]);
    plain(args, team, [&](float* y, const float* x, std::int64_t n) { layer_norm_row(y, x, gamma, beta, n, eps); });
}
void rms_norm(const Args& args, Team& team) {
    const float eps = eps_of(args), *gamma = floats(args.inputs[1]);
    plain(args, team, [&](float* y, const float* x, std::int64_t n) { rms_norm_row(y, x, gamma, n, eps); });
}
void add_layer_norm(const Args& args, Team& team) {
    const float eps = eps_of(args), *gamma = floats(args.inputs[2]), *beta = floats(args.inputs[3]);
    after_sum(args, team, [&](float* y, const float* x, std::int64_t n) { layer_norm_row(y, x, gamma, beta, n, eps); });
}
void add_rms_norm(const Args& args, Team& team) {
    const float eps = eps_of(args), *gamma = floats(args.inputs[2]);
    after_sum(args, team, [&](float* y, const float* x, std::int64_t n) { rms_norm_row(y, x, gamma, n, eps); });
}

}  // namespace CAIRN_LEVEL
