#pragma once

#include "cairn/models/encoder.hpp"

namespace cairn::inline v0::models {

/// Throws Error(argument) for a configuration that no encoder can have: one filled in by the caller may contain
/// anything.
void check(const EncoderConfig& config);
/// The name of the graph's output.
const char* output_name(EncoderHead head);
/// The width of the tables of words, positions and token types.
std::int64_t table_width(const EncoderConfig& config);

}  // namespace cairn::inline v0::models
