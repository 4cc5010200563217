#pragma once

#include "cairn/text/tokenizer.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
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

/// Where added tokens are recognised in a text: special ones everywhere or nowhere, and in `plain` ranges only tokens
/// of white space that are not special.
class SpecialPlaces {
public:
    SpecialPlaces(bool everywhere) : anywhere_(everywhere) {}
    explicit SpecialPlaces(std::span<const TextRange> plain) : anywhere_(true), plain_(plain) {}

    bool has_ranges() const noexcept { return !plain_.empty(); }
    /// True if the token may begin at that byte.
    bool allow(const AddedToken& token, std::size_t begin) const;
    /// The same for a normalized text. Where the ranges lie in it is not known, so that it is all plain if there are
    /// any.
    SpecialPlaces in_normalized() const;

private:
    bool anywhere_;
    std::span<const TextRange> plain_;
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
    std::vector<Segment> split(std::string_view text, const SpecialPlaces& special) const;

    /// The tokens matched in raw text, and those matched in normalized text, whose contents `normalize` has normalized.
    static std::pair<AddedTokens, AddedTokens> by_stage(std::vector<AddedToken> tokens,
                                                        const std::function<std::string(std::string_view)>& normalize);

private:
    const AddedToken* match(std::string_view text, std::size_t at, const SpecialPlaces& special) const;

    std::array<std::vector<AddedToken>, 256> by_first_byte_;  // each list longest first
};

}  // namespace cairn::inline v0::text
