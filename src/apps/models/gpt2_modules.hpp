#pragma once

#include "apps/models/adapter_bank.hpp"
#include "cairn/models/gpt2.hpp"

namespace cairn::inline v0::models {

/// How GPT-2 names its projections.
ModuleNames gpt2_modules();
/// The graph, whose projections `adapters` change.
Graph gpt2_graph(const Gpt2Config& config, const std::vector<WeightSpec>& weights, const DecoderOptions& options,
                 AdapterBank& adapters);

}  // namespace cairn::inline v0::models
