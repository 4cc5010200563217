#pragma once

#include "cairn/kernel.hpp"

#include <vector>

/// The functions that kernels may compute: composites, and the few chains of composites that kernels fuse. Each
/// definition calls composites and ops only, so every function is written once in the tree.
namespace cairn::kernels {

/// Returns all definitions, smaller functions first. Definitions without patterns (`rope`, whose table depends on its
/// size) are never matched in graphs.
///
///     "layer_norm": layer_norm(operands[0], operands[1], operands[2], eps), on `layer_norm eps=? | f32[R,D] f32[D]
///     f32[D]`
std::vector<Definition> definitions();

}  // namespace cairn::kernels
