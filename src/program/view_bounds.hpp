#pragma once

#include "program/nonnegative.hpp"

#include <span>

namespace cairn::program {

/// What of a dense buffer a strided view sees: offset + sum of index * stride, 0 <= index < size on each axis.
struct ViewRegion {
    Dim offset = 0;
    std::span<const Dim> sizes, strides;
    std::span<const Dim> buffer;  ///< the sizes of the buffer
};

/// True when it is proved that the offset of the view is not negative.
bool begins_within(const ViewRegion& region, NonnegativeProver& prover);

/// True when it is proved that the last element of the view lies in its buffer:
///
///     offset + sum (size - 1) * stride <= product of the buffer's sizes - 1
///
/// Where that polynomial inequality is not proved as a whole, the buffer's product is split as P * S by a stride S;
/// what of the left side S divides is proved to be at most P - 1 (without the factor S), and the rest at most S - 1.
/// The two together give the whole: (P - 1) * S + S - 1 = P * S - 1. Each part may be split again: in the end each axis
/// is proved alone.
///
///     [floordiv(N-1,2), 2, floordiv(M-1,2), 2] by strides [2*(M-1), M-1, 2, 1] of a buffer [N-1, M-1]:
///     2*floordiv(N-1,2) - 1 <= N - 2   and   2*floordiv(M-1,2) - 1 <= M - 2
///
/// `slack`, if any, is an axis of more elements, of `slack_stride`, that are known to fit behind the view: a state has
/// room for its capacity less its length after the run.
bool ends_within(const ViewRegion& region, NonnegativeProver& prover, const Dim& slack = 0,
                 const Dim& slack_stride = 0);

}  // namespace cairn::program
