#pragma once

#include "apps/text/table_tokenizer.hpp"
#include "apps/text/text_stages.hpp"
#include "apps/text/unigram_model.hpp"
#include "apps/text/word_splitter.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0::text {

/// The tokenizer of ALBERT, XLM-RoBERTa and T5, as SentencePiece trains it: normalizes the text, splits it into words
/// with "▁" for each space, and segments each word by a UnigramModel.
class Unigram final : public TableTokenizer {
public:
    /// Throws Error (file) if the parts contradict each other, or a token of the template is not in the vocabulary.
    explicit Unigram(const UnigramParts& parts);

    std::string piece(std::int32_t id, bool first) const override;
    bool cleans_up() const noexcept override { return clean_up_text_; }

private:
    std::vector<std::int32_t> ids_of(std::string_view text, const SpecialPlaces& special) const override;

    TextStages stages_;
    WordSplitter splitter_;
    UnigramModel model_;
    std::string space_;
    bool drops_first_space_;
    bool clean_up_text_;
};

}  // namespace cairn::inline v0::text
