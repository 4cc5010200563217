#pragma once

#include "apps/text/added_tokens.hpp"
#include "apps/text/template_processor.hpp"
#include "apps/text/vocabulary.hpp"
#include "apps/text/word_length.hpp"
#include "apps/text/word_splitter.hpp"
#include "cairn/text/tokenizer.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cairn::inline v0::text {

/// The data that all kinds of tokenizer read from their files.
struct TokenizerParts {
    std::string source;                                ///< file of the vocabulary, for error messages
    std::vector<VocabularyEntry> entries;              ///< the model's own tokens
    std::vector<AddedToken> added;                     ///< may repeat entries with the same id
    std::map<std::string, std::string> special_names;  ///< role as tokenizer_config.json names it -> token
    std::vector<AddedToken> special_tokens;            ///< special tokens whose ids are in the vocabulary
    std::optional<std::size_t> model_max_length;
    TemplateTokens template_tokens;     ///< tokens that `add_special` adds to texts
    bool split_special_tokens = false;  ///< special tokens are not recognised in text
};

/// Data of both kinds of BPE.
struct BpeParts : TokenizerParts {
    std::vector<std::pair<std::string, std::string>> merges;  ///< in descending priority
    std::string merges_source;
    bool ignores_merges = false;  ///< a word that is a token is not merged from its parts
    std::vector<NormalizerStep> normalizer;
};

/// Data of byte-level BPE.
struct ByteLevelBpeParts : BpeParts {
    bool add_prefix_space = false;
    bool may_lack_bytes = false;  ///< a byte without a token is left out of the ids, as llama.cpp does
    std::vector<WordRule> word_rules = {WordRule::gpt2};
};

/// Data of BPE that merges characters.
struct CharacterBpeParts : BpeParts {
    std::vector<SplitStep> pre_tokenizer;
    bool byte_fallback = false;            ///< a character without a token is given by the tokens of its bytes
    std::optional<std::string> unk_token;  ///< of a character without tokens; without one it is left out
    bool fuses_unk = false;                ///< a run of unknown characters is one token
    std::string space;                     ///< what the decoder writes as a space: "▁"
    bool decodes_bytes = false;            ///< the decoder writes byte pieces as their bytes
    bool drops_first_space = false;        ///< the decoder drops one space at the start of a text
};

/// Data of BERT WordPiece, with the defaults of bert-base-uncased.
struct WordPieceParts : TokenizerParts {
    bool clean_text = true;
    bool lower_case = true;
    std::optional<bool> strip_accents;  ///< unset: as lower_case
    bool chinese_chars = true;
    std::string prefix = "##";  ///< of pieces that continue a word
    std::size_t max_word_characters = 100;
    bool clean_up_pieces =
        true;  ///< decoding cleans each piece by clean_up, as the WordPiece decoder of Hugging Face does
    bool clean_up_text = false;  ///< additionally the whole text, for `clean_up_tokenization_spaces`
};

/// Data of a Unigram model with its pipeline.
struct UnigramParts : TokenizerParts {
    std::vector<double> scores;  ///< of entries, whose ids are their indices
    std::int32_t unk_id = 0;
    bool byte_fallback = false;
    std::vector<NormalizerStep> normalizer;
    std::vector<SplitStep> pre_tokenizer;
    std::string space;              ///< what the decoder writes as a space: "▁"
    bool drops_first_space = true;  ///< but drops in the first token
    bool clean_up_text = false;     ///< `clean_up_tokenization_spaces`
};

/// Vocabulary, added tokens and roles, checked for consistency; shared by all kinds of tokenizer.
class TokenTable {
public:
    /// Throws Error (file) if the parts contradict each other.
    explicit TokenTable(const TokenizerParts& parts);

    const Vocabulary& vocabulary() const noexcept { return vocabulary_; }
    const SpecialIds& special() const noexcept { return special_; }

    /// The added tokens, with their ids in the vocabulary.
    const std::vector<AddedToken>& added() const noexcept { return added_; }

    /// True if special tokens are recognised in text: the options of the call ask for it and the files do not forbid
    /// it.
    bool parses_special(const EncodeOptions& options) const noexcept {
        return options.parse_special && !split_special_tokens_;
    }

private:
    Vocabulary vocabulary_;
    std::vector<AddedToken> added_;
    SpecialIds special_;
    bool split_special_tokens_;
};

}  // namespace cairn::inline v0::text
