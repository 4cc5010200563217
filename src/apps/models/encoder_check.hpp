#pragma once

#include "apps/models/adapter_bank.hpp"
#include "cairn/models/encoder.hpp"

namespace cairn::inline v0::models {

/// Throws Error(argument) for a configuration that no encoder can have: one filled in by the caller may contain
/// anything.
void check(const EncoderConfig& config);
/// How an encoder names its projections.
ModuleNames encoder_modules(EncoderType type);
/// The graph, whose projections `adapters` change.
Graph encoder_graph(const EncoderConfig& config, const std::vector<WeightSpec>& weights, std::int64_t max_batch,
                    AdapterBank& adapters);
/// The name of the graph's output.
const char* output_name(EncoderHead head);
/// The width of the tables of words, positions and token types.
std::int64_t table_width(const EncoderConfig& config);

}  // namespace cairn::inline v0::models
