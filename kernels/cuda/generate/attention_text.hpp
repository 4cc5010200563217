#pragma once

#include "cairn/kernel.hpp"

#include <string>

namespace cairn::kernels::cuda {

/// An attention problem with four axes: [B,H,T,D] of queries, [B,G,S,D] of keys, [B,G,S,E] of values.
struct AttentionView {
    TensorDesc q, k, v, out;
    std::int64_t depth = 0, width = 0;  ///< D and E
    bool is_causal = false;
    float hidden_score = 0;
    bool skips_hidden = false;  ///< keys hidden by the causal rule mostly have the weight 0
};
AttentionView attention_view(const Problem& problem);

/// Why a problem is not attention of f32, with keys and values in f32, f16 or bf16, and at most four axes; empty if it
/// is.
Refusal attention_refusal(const Problem& problem);

/// Heads of all batches.
Dim head_count(const AttentionView& view);

/// What scores are multiplied by.
double attention_scale(const Problem& problem);

/// Declarations of `p`, the operands of a head, from `i64 head`, counted over batches; and of the functions
/// `score_of(query, key, dot)` and `store(query, column, value)`.
std::string attention_operands_text(const Problem& problem, const AttentionView& view);

/// The number of keys, from the first one on, that queries up to `last_query` may see.
std::string visible_keys_text(const AttentionView& view, const std::string& last_query);

/// Operations at constant sizes.
Cost attention_cost(const Problem& problem, double efficiency);

}  // namespace cairn::kernels::cuda
