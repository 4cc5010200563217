#pragma once

#include "apps/text/tokenizer_config.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>

namespace cairn::inline v0::text {

/// The readers of a tokenizer.json, one for each supported `model.type`. Each throws Error (unsupported), naming the
/// part, if the file combines the model with parts that Cairn does not support.

/// `BPE`: byte-level with a ByteLevel pre-tokenizer, otherwise of characters.
std::unique_ptr<Tokenizer> read_bpe_json(const nlohmann::json& root, const TokenizerConfig& config,
                                         const std::string& source);

/// `WordPiece` with BERT's normalizer and pre-tokenizer.
std::unique_ptr<Tokenizer> read_word_piece_json(const nlohmann::json& root, const TokenizerConfig& config,
                                                const std::string& source);

/// `Unigram` with the normalizers, pre-tokenizers and decoder of pipeline_json.hpp.
std::unique_ptr<Tokenizer> read_unigram_json(const nlohmann::json& root, const TokenizerConfig& config,
                                             const std::string& source);

}  // namespace cairn::inline v0::text
