#include "kernels/cpu/simd/row_walk.hpp"
#include "kernels/cpu/simd/vector_math.hpp"

/// softmax and log_softmax of each row. A NaN, or a largest element that is infinite, makes the whole row NaN, as in
/// the definition: the differences x - m are then NaN, and so is their sum.
namespace CAIRN_LEVEL {
namespace {

struct RowPair {
    Rows in, out;
    std::int64_t width;
    explicit RowPair(const Args& args)
        : in(args.inputs[0], args.inputs[0].rank - 1),
          out(args.outputs[0], args.outputs[0].rank - 1),
          width(args.inputs[0].shape[args.inputs[0].rank - 1]) {}
};

}  // namespace

void softmax(const Args& args, Team& team) {
    const RowPair rows(args);
    share_rows(team, rows.in.count, rows.width, [&](std::int64_t row) {
        const float* x = floats(args.inputs[0]) + rows.in.offset(row);
        float* y = floats_out(args.outputs[0]) + rows.out.offset(row);
        const F32 m = splat(max_row(x, rows.width));
        const F32 total = splat(map_sum_row(y, x, rows.width, [&](F32 v) { return exp_negative(v - m); }));
        map_row(y, rows.width, [&](auto at) { return at(y) / total; });
    });
}

void log_softmax(const Args& args, Team& team) {
    const RowPair rows(args);
    share_rows(team, rows.in.count, rows.width, [&](std::int64_t row) {
        const float* x = floats(args.inputs[0]) + rows.in.offset(row);
        float* y = floats_out(args.outputs[0]) + rows.out.offset(row);
        const F32 m = splat(max_row(x, rows.width));
        const float sum = sum_row(x, rows.width, [&](F32 v) { return exp_negative(v - m); });
        const F32 logarithm = splat(log(splat(sum))[0]);
        map_row(y, rows.width, [&](auto at) { return (at(x) - m) - logarithm; });
    });
}

}  // namespace CAIRN_LEVEL
