#pragma once

#include "apps/text/bert_pre_tokenizer.hpp"
#include "apps/text/table_tokenizer.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cairn::inline v0::text {

/// BERT's tokenizer (Devlin et al. 2018). Splits text into words by bert_pre_tokenize(), and each word greedily into
/// the longest matching piece, then the longest matching continuation, and so on: "unaffable" -> "una" "##ffa" "##ble".
/// A word with an unmatched remainder, or of more than `max_word_characters`, becomes a single [UNK].
class WordPiece final : public TableTokenizer {
public:
    /// Throws Error (file) if [UNK] or a token of the template is not in the vocabulary.
    explicit WordPiece(const WordPieceParts& parts);

    std::string piece(std::int32_t id, bool first) const override;
    bool cleans_up() const noexcept override { return clean_up_text_; }

private:
    std::vector<std::int32_t> ids_of(std::string_view text, const SpecialPlaces& special) const override;
    std::optional<std::int32_t> find_piece(std::string_view part, bool begins_word) const;
    void append_word(std::string_view word, std::vector<std::int32_t>& ids) const;

    AddedTokens added_;             // matched in the raw text
    AddedTokens added_normalized_;  // matched in normalized text
    BertNormalizer normalizer_;
    std::string prefix_;
    std::unordered_map<std::string_view, std::int32_t> continuations_;  // without the prefix; views into vocabulary()
    std::size_t longest_piece_ = 0;                                     // in bytes, without the prefix
    std::size_t max_word_characters_;
    bool clean_up_pieces_;
    bool clean_up_text_;
};

}  // namespace cairn::inline v0::text
