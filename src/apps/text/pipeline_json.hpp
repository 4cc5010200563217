#pragma once

#include "apps/text/tokenizer_parts.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace cairn::inline v0::text {

/// Read the parts of a tokenizer.json around a Unigram model, or a BPE of characters. Each throws Error (unsupported),
/// naming the part, for one that Cairn does not know, and Error (file) if it is malformed.

/// `normalizer`: null, Replace, NFC, NFD, NFKC, NFKD, StripAccents, Lowercase, Precompiled, Strip, Prepend, and
/// Sequence of these.
std::vector<NormalizerStep> read_normalizer_steps(const nlohmann::json& root, const std::string& source);

/// `pre_tokenizer`: null, WhitespaceSplit, Metaspace, Split at a string that belongs to the word before it, and
/// Sequence of these.
std::vector<SplitStep> read_split_steps(const nlohmann::json& root, const std::string& source);

/// `decoder`: Metaspace.
void read_metaspace_decoder(const nlohmann::json& root, const std::string& source, UnigramParts& parts);

}  // namespace cairn::inline v0::text
