#pragma once

#include "kernels/cpu/level.hpp"
#include "kernels/cpu/panel/conv_plan.hpp"

#include <algorithm>
#include <cstdint>

/// The operands of a convolution, with their strides.
namespace CAIRN_LEVEL {

/// sums[b, g, o, p, q] = sum over c, j, k of w[g, o, c, j, k] x[b, g, c, p, q, j, k].
template <typename Element>
struct ConvOperands {
    const Element *x, *w;
    std::int64_t batch = 1, groups = 1, filters, channels, p = 1, q, j = 1, k = 1;
    std::int64_t x_batch = 0, x_channel, w_filter;
    std::int64_t x_p = 0, x_q = 0, x_j = 0, x_k = 0;  ///< set for windows and matrices only

    ConvOperands(const Args& args, const ConvPlan& plan) {
        const TensorArg &left = args.inputs[0], &right = args.inputs[1];
        if (plan.reads == ConvReads::matrix)
            set_product(left, right);
        else
            set_filters(left, right, args.outputs[0], plan);
    }

    std::int64_t taps() const { return channels * j * k; }
    std::int64_t positions() const { return batch * p * q; }

private:
    // Output positions are the columns of the right operand.
    void set_product(const TensorArg& left, const TensorArg& right) {
        w = reinterpret_cast<const Element*>(left.data);
        x = reinterpret_cast<const Element*>(right.data);
        const int row = right.rank - 2, column = right.rank - 1;
        for (int axis = 0; axis < row; ++axis) {
            batch *= right.shape[axis];
            if (right.shape[axis] != 1) x_batch = right.strides[axis];
        }
        channels = right.shape[row], x_channel = right.strides[row];
        q = right.shape[column], x_q = right.strides[column];
        filters = left.shape[row], w_filter = left.strides[row];
    }
    void set_filters(const TensorArg& image, const TensorArg& weights, const TensorArg& result, const ConvPlan& plan) {
        x = reinterpret_cast<const Element*>(image.data);
        w = reinterpret_cast<const Element*>(weights.data);
        // With one spatial axis there is one row.
        const int axes = weights.rank - 2, last = 1 + axes;
        const bool has_rows = axes == 2;
        batch = image.shape[0], channels = weights.shape[1];
        p = has_rows ? result.shape[2] : 1, q = result.shape[last];
        j = has_rows ? weights.shape[2] : 1, k = weights.shape[last];
        groups = channels > 0 ? image.shape[1] / channels : 1;
        filters = weights.shape[0] / (groups > 0 ? groups : 1);
        x_batch = image.strides[0], x_channel = image.strides[1], w_filter = weights.strides[0];
        if (plan.reads == ConvReads::windows) {
            x_p = has_rows ? image.strides[2] : 0, x_q = image.strides[last];
            x_j = has_rows ? image.strides[4] : 0, x_k = image.strides[last + axes];
        }
    }
};

/// Number of parts into which filters are split for each of `blocks` blocks, to get enough chunks for the team.
inline std::int64_t filter_parts(std::int64_t blocks, std::int64_t filters) noexcept {
    constexpr std::int64_t enough = 16, min_filters = 48;
    const std::int64_t wanted = blocks < enough ? enough / std::max<std::int64_t>(blocks, 1) : 1;
    return std::clamp<std::int64_t>(filters / min_filters, 1, wanted);
}

}  // namespace CAIRN_LEVEL
