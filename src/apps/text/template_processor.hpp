#pragma once

#include "apps/text/vocabulary.hpp"
#include "cairn/text/tokenizer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::inline v0::text {

/// The tokens that a model wants around a text and around two, by name: `[CLS] A [SEP]` and `[CLS] A [SEP] B [SEP]`.
struct TemplateTokens {
    std::vector<std::string> before{}, after{};                       ///< of one text
    std::vector<std::string> pair_before{}, between{}, pair_after{};  ///< of two
    bool truncate_start = false;  ///< `max_length` takes ids from the start of a text, not from its end

    bool operator==(const TemplateTokens&) const = default;
};

/// BERT's frame, of the two tokens given.
TemplateTokens bert_template(const std::string& cls, const std::string& sep);

/// Puts the ids of a model's own tokens around those of texts, within the length that a call allows.
class TemplateProcessor {
public:
    /// Throws Error (file) for a token that is not in the vocabulary; `source` is the file to name.
    TemplateProcessor(const TemplateTokens& tokens, const Vocabulary& vocabulary, const std::string& source);

    /// One text: its end (or start) is cut where `max_length` asks for it, the frame is kept.
    /// Throws Error (argument) where `max_length` has no room for the frame.
    std::vector<std::int32_t> apply(std::vector<std::int32_t> ids, const EncodeOptions& options) const;

    /// Two texts, cut by truncate_pair. Throws as the other.
    std::vector<std::int32_t> apply(std::vector<std::int32_t> first, std::vector<std::int32_t> second,
                                    const EncodeOptions& options) const;

private:
    std::vector<std::int32_t> before_, after_, pair_before_, between_, pair_after_;
    bool truncate_start_;
};

}  // namespace cairn::inline v0::text
