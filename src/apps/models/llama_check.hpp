#pragma once

#include "cairn/models/llama.hpp"

namespace cairn::inline v0::models {

/// Throws Error(argument) for a configuration that no model can have: one filled in by the caller may contain anything.
void check(const LlamaConfig& config);
/// True if some layer has a sliding window.
bool has_local_layers(const LlamaConfig& config);

}  // namespace cairn::inline v0::models
