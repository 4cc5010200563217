#pragma once

#include "bench/model_workload.hpp"
#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"

namespace bench {

/// Minimum work of one iteration; `weights` have their stored dtypes. If only the logits of the last position are
/// requested, the other queries of the last layer and values computed from them are not counted, since no output
/// depends on them.
MinimumWork gpt2_minimum_work(const Workload& work, const cairn::models::Gpt2Config& config,
                              const std::vector<cairn::models::WeightSpec>& weights);
MinimumWork distilbert_minimum_work(const Workload& work, const cairn::models::EncoderConfig& config,
                                    const std::vector<cairn::models::WeightSpec>& weights);

}  // namespace bench
