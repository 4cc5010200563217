#pragma once

#include "apps/text/vocabulary.hpp"
#include "cairn/text/tokenizer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::inline v0::text {

/// The tokens that a model needs around one text and around two, by name: `[CLS] A [SEP]` and `[CLS] A [SEP] B [SEP]`.
struct TemplateTokens {
    std::vector<std::string> before{}, after{};                       ///< of one text
    std::vector<std::string> pair_before{}, between{}, pair_after{};  ///< of two
    bool truncate_start = false;  ///< `max_length` removes ids from the start of a text, not from its end

    bool operator==(const TemplateTokens&) const = default;
};

/// BERT's template, with the given two tokens.
TemplateTokens bert_template(const std::string& cls, const std::string& sep);

/// RoBERTa's template, with the given two tokens: `<s> A </s>` and `<s> A </s></s> B </s>`.
TemplateTokens roberta_template(const std::string& cls, const std::string& sep);

/// Adds the ids of a model's special tokens to those of texts, and truncates these to the permitted length.
class TemplateProcessor {
public:
    /// Throws Error (file) for a token that is not in the vocabulary; `source` is the file named in errors.
    TemplateProcessor(const TemplateTokens& tokens, const Vocabulary& vocabulary, const std::string& source);

    /// One text, truncated to `max_length` at its end (or start); the template's tokens are kept. Throws Error
    /// (argument) if `max_length` is less than the number of these tokens.
    std::vector<std::int32_t> apply(std::vector<std::int32_t> ids, const EncodeOptions& options) const;

    /// Two texts, truncated by truncate_pair(). Throws as the other overload.
    std::vector<std::int32_t> apply(std::vector<std::int32_t> first, std::vector<std::int32_t> second,
                                    const EncodeOptions& options) const;

private:
    std::vector<std::int32_t> before_, after_, pair_before_, between_, pair_after_;
    bool truncate_start_;
};

}  // namespace cairn::inline v0::text
