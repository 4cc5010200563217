#pragma once

#include "cairn/ops.hpp"

/// Low-rank adaptation (LoRA, Hu et al., arXiv 2106.09685): a projection whose weight is changed by a product of two
/// narrow matrices.
namespace cairn::inline v0 {

/// x @ w + scale (x @ a) @ b. x [..., K], w [K, N], a [K, R], b [R, N], all of one dtype, float or integer. Files of
/// adapters have a as [R, K] and b as [N, R], w mostly as [N, K]: pass transpose(a, {1, 0}).
///
/// As inputs, a and b are exchanged between runs without compiling; a smaller rank is padded with zeros. As weights,
/// they may be added to w when they are bound: the search decides. With R = 0, or `scale` 0, the result is
/// linear(x, w), in a bucket too whose symbols make R 0. Throws Error(graph) for shapes that do not fit and a scale
/// that is not finite.
///
///     const Dim used = graph.symbol("used", 0, 1);                // compiled with splits {{"used", {0}}}
///     const Tensor a = graph.input("a", DType::f32, {8 * used, 768}),
///                  b = graph.input("b", DType::f32, {8 * used, 2304});
///     Tensor y = lora(x, w, transpose(a, {1, 0}), b, 2.0);
CAIRN_API Tensor lora(const Operand& x, const Operand& w, const Operand& a, const Operand& b, double scale = 1);
/// As above, with an adapter for each row of a batch: x [B, ..., K], a [C, K, R], b [C, R, N] and ids [B] (i32 or i64).
/// Row i is changed by a[ids[i]] and b[ids[i]], and by none if ids[i] is -1. Any other id makes the run fail with
/// Error(argument).
CAIRN_API Tensor lora(const Operand& x, const Operand& w, const Operand& a, const Operand& b, const Operand& ids,
                      double scale = 1);

}  // namespace cairn::inline v0
