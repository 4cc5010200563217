#pragma once

#include "apps/text/tokenizer_config.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <optional>
#include <string>

namespace cairn::inline v0::text {

/// Reads what both kinds of BPE have in a tokenizer.json: vocabulary, merges, normalizer, added tokens, template.
/// Returns the unknown token of the model, if it has one.
std::optional<std::string> read_bpe_parts(const nlohmann::json& root, const TokenizerConfig& config,
                                          const std::string& source, BpeParts& parts);

/// Reads a BPE with a ByteLevel pre-tokenizer; before that, it splits text by regular expressions that word_rule_of()
/// knows, or into digits. Throws Error (unsupported), naming the part or the expression, for another one.
std::unique_ptr<Tokenizer> read_byte_level_json(const nlohmann::json& root, const TokenizerConfig& config,
                                                const std::string& source);

/// Reads a BPE of characters: the pre-tokenizers of pipeline_json.hpp, and a decoder of Replace, ByteFallback, Fuse and
/// Strip. Throws as above.
std::unique_ptr<Tokenizer> read_character_bpe_json(const nlohmann::json& root, const TokenizerConfig& config,
                                                   const std::string& source);

}  // namespace cairn::inline v0::text
