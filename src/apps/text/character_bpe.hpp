#pragma once

#include "apps/text/bpe_merge.hpp"
#include "apps/text/table_tokenizer.hpp"
#include "apps/text/text_stages.hpp"
#include "apps/text/word_splitter.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace cairn::inline v0::text {

/// The tokenizer of Llama 1 and 2, Mistral, Phi-3 and Gemma in a tokenizer.json, and of Gemma 4 in GGUF files: a BPE
/// that merges the characters of a word by rank. Spaces are "▁"; a character without a token is given by the tokens of
/// its bytes.
class CharacterBpe final : public TableTokenizer {
public:
    /// Throws Error (file) for an unknown token that is not in the vocabulary, a repeated merge, a merge of unknown
    /// tokens, or template tokens that are unknown.
    explicit CharacterBpe(const CharacterBpeParts& parts);

    std::string piece(std::int32_t id, bool first) const override;

private:
    std::vector<std::int32_t> ids_of(std::string_view text, const SpecialPlaces& special) const override;
    void append_symbols(std::string_view word, std::vector<std::int32_t>& symbols) const;

    TextStages stages_;
    WordSplitter splitter_;
    MergeTable merges_;
    std::vector<std::string> pieces_;         // the bytes that each id decodes to
    std::array<std::int32_t, 256> byte_ids_;  // no_token: none
    std::optional<std::int32_t> unk_;
    std::size_t longest_token_ = 0;  // in bytes
    bool byte_fallback_, fuses_unk_, ignores_merges_, drops_first_space_;
};

}  // namespace cairn::inline v0::text
