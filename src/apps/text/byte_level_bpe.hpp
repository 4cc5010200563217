#pragma once

#include "apps/text/bpe_merge.hpp"
#include "apps/text/byte_alphabet.hpp"
#include "apps/text/table_tokenizer.hpp"
#include "apps/text/text_stages.hpp"

#include <array>
#include <string>
#include <vector>

namespace cairn::inline v0::text {

/// The tokenizer of GPT-2 and of many later models: splits text into words by for_each_word() and merges the bytes of
/// each word by rank. Lossless where each byte
/// has a token and nothing is normalized: decode restores any bytes.
class ByteLevelBpe final : public TableTokenizer {
public:
    /// Throws Error (file) for a byte without a token (unless the files may lack some), a repeated merge, a merge of
    /// unknown tokens, or template tokens that are unknown.
    explicit ByteLevelBpe(const ByteLevelBpeParts& parts);

    std::string piece(std::int32_t id, bool first) const override;

private:
    /// The token that a word is by itself.
    std::optional<std::int32_t> whole_word(std::string_view word) const;
    std::vector<std::int32_t> ids_of(std::string_view text, const SpecialPlaces& special) const override;
    void encode_plain(std::string_view text, BpeMerger& merger, std::vector<std::int32_t>& ids) const;

    TextStages stages_;
    MergeTable merges_;
    std::array<std::int32_t, 256> byte_ids_;
    std::vector<std::string> bytes_;  // the bytes that each id decodes to
    ByteAlphabet alphabet_;
    std::size_t longest_token_ = 0;  // in bytes
    bool add_prefix_space_;
    std::vector<WordRule> word_rules_;
    bool ignores_merges_;
};

}  // namespace cairn::inline v0::text
