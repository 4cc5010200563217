#pragma once

#include "cairn/models/dit.hpp"

#include <cstdint>
#include <string>

namespace cairn::inline v0::models {

/// Sines of the embedding of times, and as many cosines.
inline constexpr std::int64_t dit_frequencies = 128;

/// Describes why no diffusion transformer can have this configuration; empty if one can.
std::string config_fault(const DitConfig& config);
/// Throws Error(argument) with config_fault().
void check(const DitConfig& config);
/// The prefix of the tensors of a block.
inline std::string dit_block(std::int64_t layer) { return "transformer_blocks." + std::to_string(layer) + '.'; }

}  // namespace cairn::inline v0::models
