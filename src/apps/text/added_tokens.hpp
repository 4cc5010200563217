#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0::text {

/// A token that is found in the text as it stands, before the text is cut into words.
struct AddedToken {
    static constexpr std::int64_t unknown_id = -1;  ///< the vocabulary tells the id

    std::string content;
    std::int64_t id = 0;
    bool special = false;     ///< left alone when EncodeOptions::parse_special is off
    bool normalized = false;  ///< looked for after normalization, and normalized itself
    bool lstrip = false;      ///< takes the white space before it along
    bool rstrip = false;      ///< takes the white space after it along

    bool same_flags(const AddedToken& other) const noexcept {
        return normalized == other.normalized && lstrip == other.lstrip && rstrip == other.rstrip;
    }
};

/// A stretch of text, or an added token in it.
struct Segment {
    static constexpr std::int32_t plain = -1;

    std::string_view text;
    std::int32_t id = plain;
};

/// Cuts texts at added tokens: "a<|endoftext|>b" -> "a", 50256, "b". The leftmost match wins, then the longest.
class AddedTokens {
public:
    AddedTokens() = default;

    /// Tokens with an empty content are left out.
    explicit AddedTokens(std::vector<AddedToken> tokens);

    /// The segments of `text` in order, none of them empty text. Linear in the text for a given set of tokens.
    std::vector<Segment> split(std::string_view text, bool with_special) const;

private:
    const AddedToken* match(std::string_view text, bool with_special) const;

    std::array<std::vector<AddedToken>, 256> by_first_byte_;  // each longest first
};

}  // namespace cairn::inline v0::text
