#pragma once

#include "apps/text/tokenizer_config.hpp"

namespace cairn::inline v0::text {

/// Version 5 of transformers builds the tokenizers of some classes from the vocabulary and the configuration alone,
/// whereas version 4 follows tokenizer.json. These functions throw Error (unsupported), naming the member and both
/// values, for files that the versions would read differently.

/// Throws that error for one member.
[[noreturn]] void refuse_difference(const TokenizerParts& parts, const TokenizerConfig& config, const std::string& what,
                                    const std::string& stored, const std::string& expected);

/// The token of a role in the configuration, otherwise the class's default.
std::string role_token(const TokenizerConfig& config, const char* role, const char* otherwise);

/// Of BERT's classes. A file without a post_processor is accepted, so that its tokenizer adds no tokens.
void require_bert_defaults(const WordPieceParts& parts, const TokenizerConfig& config);

/// Of RoBERTa's classes: the tokens added to texts are sep_token and cls_token of the configuration.
void require_roberta_defaults(const BpeParts& parts, const TokenizerConfig& config);

/// Of the classes of Llama and Gemma: version 4 makes the template of `add_bos_token` (default true) and
/// `add_eos_token` (default false), version 5 keeps that of tokenizer.json.
void require_llama_template(const BpeParts& parts, const TokenizerConfig& config);

/// RoBERTa's mask takes the white space before it: always in version 4 unless the configuration states its flags, and
/// in version 5 if some file says so. `parts` has the names of roles.
void require_mask_flags(const TokenizerParts& parts, const TokenizerConfig& config);

/// `<s> A </s>` and `<s> A </s></s> B </s>` with cls_token and sep_token of the configuration.
TemplateTokens roberta_template(const TokenizerConfig& config);

}  // namespace cairn::inline v0::text
