#pragma once

#include "cairn/kernel.hpp"

#include <vector>

/// The functions that kernels may compute in one go: the composites, and the few chains of them that kernels fuse. Each
/// is made by calling composites and ops and by nothing else, so there is one spelling of each in the tree.
namespace cairn::kernels {

/// The row of each, smaller functions first. A row without patterns (`rope`, whose table depends on its size) is never
/// searched for in graphs.
///
///     "layer_norm": layer_norm(operands[0], operands[1], operands[2], eps), on `layer_norm eps=? | f32[R,D] f32[D]
///     f32[D]`
std::vector<Definition> definitions();

}  // namespace cairn::kernels
