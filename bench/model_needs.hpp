#pragma once

#include "bench/model_work.hpp"
#include "cairn/models/distilbert.hpp"
#include "cairn/models/gpt2.hpp"

namespace bench {

/// Of one iteration; `weights` as they are stored. Where only the last position's logits are wanted, the last layer's
/// other queries, and what is made of them, count for nothing: no output depends on them.
Needs gpt2_needs(const Work& work, const cairn::models::Gpt2Config& config,
                 const std::vector<cairn::models::WeightSpec>& weights);
Needs distilbert_needs(const Work& work, const cairn::models::DistilBertConfig& config,
                       const std::vector<cairn::models::WeightSpec>& weights);

}  // namespace bench
