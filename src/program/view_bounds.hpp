#pragma once

#include "program/nonnegative.hpp"

#include <span>

namespace cairn::program {

/// The elements of a dense buffer that a strided view accesses: offset + sum of index * stride, 0 <= index < size on
/// each axis.
struct ViewRegion {
    Dim offset = 0;
    std::span<const Dim> sizes, strides;
    std::span<const Dim> buffer;  ///< the sizes of the buffer
};

/// True if the offset of the view is proved nonnegative.
bool begins_within(const ViewRegion& region, NonnegativeProver& prover);

/// True if the last element of the view is proved to be in its buffer:
///
///     offset + sum (size - 1) * stride <= product of the buffer's sizes - 1
///
/// If that polynomial inequality is not proved as a whole, the buffer's product is split as P * S by a stride S. The
/// part of the left side that S divides is proved to be at most P - 1 (without the factor S), and the remainder at most
/// S - 1. Together: (P - 1) * S + S - 1 = P * S - 1. Each part may be split again, down to single axes.
///
///     [floordiv(N-1,2), 2, floordiv(M-1,2), 2] by strides [2*(M-1), M-1, 2, 1] of a buffer [N-1, M-1]:
///     2*floordiv(N-1,2) - 1 <= N - 2   and   2*floordiv(M-1,2) - 1 <= M - 2
///
/// `slack`, if any, extends the view by an axis of that many further elements, of `slack_stride`, that are known to fit
/// after it: a state has room for its capacity minus its length after the run.
bool ends_within(const ViewRegion& region, NonnegativeProver& prover, const Dim& slack = 0,
                 const Dim& slack_stride = 0);

}  // namespace cairn::program
