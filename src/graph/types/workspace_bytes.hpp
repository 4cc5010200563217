#pragma once

#include "cairn/kernel.hpp"

namespace cairn::types {

/// Workspace of a kernel in bytes, at least 0 at all sizes. Where the sign of a kernel's expression cannot be proven
/// from the bounds of the symbols, it counts as max(0, expression), which is the same number.
inline Dim workspace_bytes(const Kernel& kernel, const Problem& problem, int threads) {
    if (kernel.workspace == nullptr) return 0;
    const Dim bytes = kernel.workspace(problem, threads);
    return provably_le(0, bytes) ? bytes : max(bytes, Dim(0));
}

}  // namespace cairn::types
