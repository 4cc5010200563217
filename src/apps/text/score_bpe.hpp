#pragma once

#include "apps/text/added_tokens.hpp"
#include "apps/text/table_tokenizer.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cairn::inline v0::text {

/// Data of a SentencePiece BPE.
struct ScoreBpeParts : TokenizerParts {
    std::vector<double> scores;                         ///< by id
    std::vector<std::optional<unsigned char>> byte_of;  ///< by id: the byte that a byte piece stands for
    bool add_space_prefix = true;                       ///< a text that follows no plain text begins with a space
};

/// The BPE of SentencePiece models (Llama 1 and 2, Gemma), as llama.cpp computes it: spaces are U+2581, and of all
/// neighbours that form a token those with the largest score are merged, the leftmost first. What is no token then is
/// given by the tokens of its bytes. Linear in the length of the text, up to a logarithmic factor.
class ScoreBpe final : public TableTokenizer {
public:
    /// Throws Error (file) if the parts contradict each other, or the token of a byte is missing and there is no
    /// unknown token.
    explicit ScoreBpe(const ScoreBpeParts& parts);

    std::string piece(std::int32_t id, bool first) const override;

private:
    std::vector<std::int32_t> ids_of(std::string_view text, const SpecialPlaces& special) const override;
    void encode_plain(std::string_view text, std::vector<std::int32_t>& ids) const;

    AddedTokens added_;
    std::vector<double> scores_;
    std::vector<std::string> pieces_;  // the bytes that each id decodes to
    std::array<std::int32_t, 256> byte_ids_;
    std::size_t longest_token_ = 0;  // in bytes
    bool add_space_prefix_;
};

}  // namespace cairn::inline v0::text
