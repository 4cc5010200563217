#pragma once

#include "cairn/ops.hpp"

#include <optional>

/// Functions written with atomic ops alone. A kernel may compute one of them whole; whether it does is decided by
/// measurement, and a program that spells the same thing out by hand is treated alike. Errors as for atomic ops, naming
/// the composite.
namespace cairn::inline v0 {

// clang-format off
/// max(x, 0).
CAIRN_API Tensor relu(const Operand& x);
/// 1 / (1 + e^-x).
CAIRN_API Tensor sigmoid(const Operand& x);
/// x * sigmoid(x), also called swish (Ramachandran et al., arXiv 1710.05941).
CAIRN_API Tensor silu(const Operand& x);
/// x/2 * (1 + erf(x / sqrt 2)) (Hendrycks & Gimpel, arXiv 1606.08415).
CAIRN_API Tensor gelu(const Operand& x);
/// x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))): the same paper's approximation, used by GPT-2.
CAIRN_API Tensor gelu_tanh(const Operand& x);
// clang-format on

/// e^(x - m) / sum e^(x - m) along `axis`, m the maximum there. Float.
CAIRN_API Tensor softmax(const Operand& x, int axis = -1);
/// x - m - log(sum e^(x - m)) along `axis`. Float.
CAIRN_API Tensor log_softmax(const Operand& x, int axis = -1);
/// sum(x) / n over `axes` (all when empty), n the number of elements summed.
CAIRN_API Tensor mean(const Operand& x, std::vector<int> axes = {}, bool keepdims = false);
/// mean((x - mean(x))^2) over `axes`: the population variance.
CAIRN_API Tensor variance(const Operand& x, std::vector<int> axes = {}, bool keepdims = false);

/// (x - mean) / sqrt(variance + eps) * gamma + beta over the last axis (Ba et al., arXiv 1607.06450). gamma and beta:
/// [D].
CAIRN_API Tensor layer_norm(const Operand& x, const Operand& gamma, const Operand& beta, double eps = 1e-5);
/// x / sqrt(mean(x^2) + eps) * gamma over the last axis (Zhang & Sennrich, arXiv 1910.07467). gamma: [D].
CAIRN_API Tensor rms_norm(const Operand& x, const Operand& gamma, double eps = 1e-6);

/// x @ w + b: x [..., K], w [K, N], b [N]. A weight stored as [N, K] is passed as transpose(w, {1, 0}).
CAIRN_API Tensor linear(const Operand& x, const Operand& w, const Operand& b);
/// x @ w.
CAIRN_API Tensor linear(const Operand& x, const Operand& w);
/// Rows of `table` [V, D] chosen by `ids` (i32 or i64, any shape): [..., D].
CAIRN_API Tensor embedding(const Operand& table, const Operand& ids);

/// What attention may look at, beside what its operands say.
struct AttentionOptions {
    /// Query i of T sees keys 0 .. i + (S - T): with S > T the first S - T keys are the past.
    bool causal = false;
    /// Multiplies the scores; 1/sqrt(D) when not given.
    std::optional<double> scale = std::nullopt;
    /// The score of a key that may not be seen; the lowest finite number of the dtype when not given. With that a query
    /// that sees no key gets the mean of all values, and one whose seen keys all score -inf the mean of those it does
    /// not see; with -inf both get NaN.
    std::optional<double> masked_score = std::nullopt;
};
/// softmax(q k^T * scale, masked) v (Vaswani et al., arXiv 1706.03762). q [B, H, T, D], k and v [B, G, S, D] with H a
/// multiple of G: each key head serves H/G query heads in turn (grouped-query attention, arXiv 2305.13245). Result [B,
/// H, T, D].
CAIRN_API Tensor attention(const Operand& q, const Operand& k, const Operand& v, const AttentionOptions& options = {});
/// The same with a mask. Boolean [B, S]: false keys (padding) are seen by no query. Boolean [B, H, T, S], each axis
/// that size or 1: false pairs are not seen. Of the dtype of q with such axes: added to the scaled scores. What is not
/// seen has the masked score and then weight 0, which makes NaN of a value that is infinite or NaN; an added -inf or
/// lowest number leaves NaN scores NaN.
CAIRN_API Tensor attention(const Operand& q, const Operand& k, const Operand& v, const Operand& mask,
                           const AttentionOptions& options = {});

/// Rotary position embedding (Su et al., arXiv 2104.09864) in the half-split form: with x = [x1, x2] along the last
/// axis (even size D), x * cos(t) + [-x2, x1] * sin(t), where t[p, i] = positions[p] * base^(-2 (i mod D/2) / D). x
/// [..., T, D]; positions [T] or [..., T], i32.
CAIRN_API Tensor rope(const Operand& x, const Operand& positions, double base = 10000);

}  // namespace cairn::inline v0
