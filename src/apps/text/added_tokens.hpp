#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn::inline v0::text {

/// A token that is matched in the raw text before pre-tokenization.
struct AddedToken {
    static constexpr std::int64_t unknown_id = -1;  ///< the id is looked up in the vocabulary

    std::string content;
    std::int64_t id = 0;
    bool special = false;     ///< not matched if EncodeOptions::parse_special is off
    bool normalized = false;  ///< normalized itself, and matched after normalization
    bool lstrip = false;      ///< includes the white space before it
    bool rstrip = false;      ///< includes the white space after it

    bool same_flags(const AddedToken& other) const noexcept {
        return normalized == other.normalized && lstrip == other.lstrip && rstrip == other.rstrip;
    }
};

/// A range of text, or an added token in it.
struct Segment {
    static constexpr std::int32_t plain = -1;

    std::string_view text;
    std::int32_t id = plain;
};

/// Splits texts at added tokens: "a<|endoftext|>b" -> "a", 50256, "b". The leftmost match wins, then the longest.
class AddedTokens {
public:
    AddedTokens() = default;

    /// Ignores tokens with empty content.
    explicit AddedTokens(std::vector<AddedToken> tokens);

    /// The segments of `text` in order, none of them with empty text. Linear in the text for a given set of tokens.
    std::vector<Segment> split(std::string_view text, bool with_special) const;

    /// The tokens matched in raw text, and those matched in normalized text, whose contents `normalize` has normalized.
    static std::pair<AddedTokens, AddedTokens> by_stage(std::vector<AddedToken> tokens,
                                                        const std::function<std::string(std::string_view)>& normalize);

private:
    const AddedToken* match(std::string_view text, bool with_special) const;

    std::array<std::vector<AddedToken>, 256> by_first_byte_;  // each list longest first
};

}  // namespace cairn::inline v0::text
