#pragma once

#include "apps/text/template_processor.hpp"
#include "apps/text/text_normalizer.hpp"
#include "apps/text/tokenizer_parts.hpp"
#include "apps/text/unigram_model.hpp"
#include "apps/text/word_splitter.hpp"
#include "cairn/text/tokenizer.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0::text {

/// The tokenizer of ALBERT, XLM-RoBERTa and T5, as SentencePiece trains it: normalizes the text, splits it into words
/// with "▁" for each space, and segments each word by a UnigramModel.
class Unigram final : public Tokenizer {
public:
    /// Throws Error (file) if the parts contradict each other, or a token of the template is not in the vocabulary.
    explicit Unigram(const UnigramParts& parts);

    std::vector<std::int32_t> encode(std::string_view text, const EncodeOptions& options) const override;
    std::vector<std::int32_t> encode_pair(std::string_view first, std::string_view second,
                                          const EncodeOptions& options) const override;
    std::string piece(std::int32_t id, bool first) const override;
    bool cleans_up() const noexcept override { return clean_up_text_; }
    std::size_t vocabulary_size() const noexcept override { return table_.vocabulary().size(); }
    std::optional<std::int32_t> id_of(std::string_view token) const override { return table_.vocabulary().find(token); }
    const std::string& token(std::int32_t id) const override { return table_.vocabulary().token(id); }
    const SpecialIds& special() const noexcept override { return table_.special(); }
    std::optional<std::size_t> model_max_length() const noexcept override { return model_max_length_; }

private:
    std::vector<std::int32_t> encode_segments(std::string_view text, bool parse_special) const;
    void encode_plain(std::string_view text, bool begins_text, bool parse_special,
                      std::vector<std::int32_t>& ids) const;

    TokenTable table_;
    TextNormalizer normalizer_;
    WordSplitter splitter_;
    UnigramModel model_;
    AddedTokens added_;             // matched in the raw text
    AddedTokens added_normalized_;  // matched in normalized text
    std::string space_;
    bool drops_first_space_;
    bool clean_up_text_;
    TemplateProcessor template_processor_;
    std::optional<std::size_t> model_max_length_;
};

}  // namespace cairn::inline v0::text
