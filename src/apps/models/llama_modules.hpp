#pragma once

#include "apps/models/adapter_bank.hpp"
#include "cairn/models/llama.hpp"

namespace cairn::inline v0::models {

/// How such a model names its projections.
ModuleNames llama_modules(const LlamaConfig& config);
/// The graph, whose projections `adapters` change.
Graph llama_graph(const LlamaConfig& config, const std::vector<WeightSpec>& weights, const DecoderOptions& options,
                  AdapterBank& adapters);

}  // namespace cairn::inline v0::models
