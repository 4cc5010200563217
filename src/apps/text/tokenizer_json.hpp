#pragma once

#include "apps/text/tokenizer_config.hpp"

#include <filesystem>
#include <memory>

namespace cairn::inline v0::text {

/// Builds the tokenizer of a tokenizer.json, the single file that Hugging Face tokenizers writes: `model.type` BPE with
/// a ByteLevel pre-tokenizer, WordPiece with BERT's normalizer and pre-tokenizer, or Unigram. `config` adds the names
/// of roles. Throws Error (unsupported), naming the part, for any other combination.
std::unique_ptr<Tokenizer> read_tokenizer_json(const std::filesystem::path& path, const TokenizerConfig& config);

}  // namespace cairn::inline v0::text
