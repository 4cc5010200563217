#pragma once

#include "bench/model_workload.hpp"
#include "cairn/models/distilbert.hpp"
#include "cairn/models/gpt2.hpp"

namespace bench {

/// Of one iteration; `weights` as they are stored. Where only the last position's logits are wanted, the last layer's
/// other queries, and what is made of them, count for nothing: no output depends on them.
MinimumWork gpt2_minimum_work(const Workload& work, const cairn::models::Gpt2Config& config,
                              const std::vector<cairn::models::WeightSpec>& weights);
MinimumWork distilbert_minimum_work(const Workload& work, const cairn::models::DistilBertConfig& config,
                                    const std::vector<cairn::models::WeightSpec>& weights);

}  // namespace bench
