#pragma once

#include "apps/text/tokenizer_config.hpp"

namespace cairn::inline v0::text {

/// Applies the class of a tokenizer.json with a Unigram model: sets the names of roles that the configuration does not
/// name, and the special tokens that the class adds. Version 5 of transformers builds the tokenizers of
/// AlbertTokenizer, XLMRobertaTokenizer, T5Tokenizer and CamembertTokenizer from the pieces and the configuration;
/// version 4 follows the file. Throws Error (unsupported), naming the member and both values, if the two differ, and
/// for other classes that are not generic.
void apply_unigram_class(const TokenizerConfig& config, UnigramParts& parts);

}  // namespace cairn::inline v0::text
