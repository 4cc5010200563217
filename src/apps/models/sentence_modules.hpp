#pragma once

#include "cairn/models/encoder.hpp"

#include <filesystem>

namespace cairn::inline v0::models {

/// Sets head, pooling, normalizes and max_tokens from a folder of sentence-transformers: from modules.json, the
/// configuration of its pooling module and sentence_bert_config.json. Leaves the config alone if there is no
/// modules.json. Throws Error(file) for a malformed file, Error(unsupported) for other modules than a transformer in
/// the folder itself, pooling by the mean or the first token, and normalization.
void read_sentence_modules(const std::filesystem::path& folder, EncoderConfig& config);

}  // namespace cairn::inline v0::models
