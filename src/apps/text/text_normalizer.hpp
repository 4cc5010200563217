#pragma once

#include "apps/text/character_map.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0::text {

/// One step of the normalizer of a tokenizer.json.
struct NormalizerStep {
    enum class Kind {
        replace,         ///< `from` by `to`, from left to right
        replace_spaces,  ///< each run of two or more spaces by `to`
        nfd,             ///< the normalization forms of Unicode
        nfc,
        nfkd,
        nfkc,
        strip_accents,  ///< drops marks (general category M)
        lower_case,
        map_characters,  ///< `map`
        strip,           ///< drops white space at the sides that are set
        prepend,         ///< `to` in front of a text that is not empty
    };

    Kind kind;
    std::string from{}, to{};
    std::shared_ptr<const CharacterMap> map{};
    bool left = false, right = false;

    /// Maps are equal if they have the same entries.
    bool operator==(const NormalizerStep& other) const;
};

/// The types of the steps as tokenizer.json names them: "NFKD, StripAccents"; "null" without steps.
std::string shown_steps(const std::vector<NormalizerStep>& steps);

/// A text with its first character's origin, which `prepend_scheme` "first" of Metaspace needs.
struct NormalizedText {
    std::string text;
    bool keeps_start = true;  ///< the first character stems from the first one of the original text
};

/// Applies steps in order: NFKD, StripAccents, Lowercase make "Ça va" to "ca va".
class TextNormalizer {
public:
    explicit TextNormalizer(std::vector<NormalizerStep> steps) : steps_(std::move(steps)) {}

    /// Reads each ill-formed sequence of `text` as U+FFFD. Linear in the text, but for the order of marks (O(n log n)).
    NormalizedText apply(std::string_view text) const;

private:
    std::vector<NormalizerStep> steps_;
};

}  // namespace cairn::inline v0::text
