#include "apps/text/word_length.hpp"

#include "apps/text/character_kinds.hpp"
#include "apps/text/word_match.hpp"

#include <algorithm>

namespace cairn::inline v0::text {

namespace {

constexpr CharacterKinds signs(CharacterKind::mark, CharacterKind::punctuation, CharacterKind::symbol,
                               CharacterKind::other);
constexpr CharacterKinds signs_without_marks(CharacterKind::punctuation, CharacterKind::symbol, CharacterKind::other);

/// Length of an English contraction at the start of the text; without `both_cases` in lower case only.
std::size_t contraction_length(std::string_view text, bool both_cases) {
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
        const auto is_same = [&](char wanted, char found) {
            const bool is_upper_case = found >= 'A' && found <= 'Z';
            return wanted == (both_cases && is_upper_case ? static_cast<char>(found | 0x20) : found);
        };
        const std::string_view start = text.substr(0, ending.size());
        if (std::equal(ending.begin(), ending.end(), start.begin(), start.end(), is_same)) return ending.size();
    }
    // The long s, U+017F, is an s without regard to case.
    constexpr std::string_view long_s = "'\xC5\xBF";
    return both_cases && text.starts_with(long_s) ? long_s.size() : 0;
}

std::size_t gpt2_word_length(std::string_view text) {
    if (const std::size_t length = contraction_length(text, false)) return length;
    const std::size_t start = text[0] == ' ' && text.size() > 1 ? 1 : 0;
    const CharacterKind kind = first_character(text.substr(start)).kind;
    if (kind == CharacterKind::space) return space_length(text);
    return run_end(text, start, letters.contains(kind) ? letters : kind == CharacterKind::number ? numbers : signs);
}

/// `[^\r\n\p{L}\p{N}]`: what may stand before a word's first letter.
bool may_precede_letters(std::string_view text) {
    const CharacterKind kind = first_character(text).kind;
    return !letters.contains(kind) && kind != CharacterKind::number && text[0] != '\r' && text[0] != '\n';
}

std::size_t llama3_word_length(std::string_view text, bool marks_are_letters, int most_digits) {
    if (const std::size_t length = contraction_length(text, true)) return length;
    const CharacterKinds in_words = marks_are_letters ? letters_and_marks : letters;
    if (starts_with(text, in_words)) return run_end(text, 0, in_words);
    if (const std::size_t length = number_length(text, most_digits)) return length;
    const std::size_t first = first_character(text).length;
    if (may_precede_letters(text) && starts_with(text.substr(first), in_words)) return run_end(text, first, in_words);
    return sign_or_space_length(text, marks_are_letters ? signs_without_marks : signs, "\r\n");
}

/// Ends of the two alternatives for letters with case, of a word that begins at `start`; 0: none.
struct CasedEnds {
    std::size_t lower = 0;  ///< U*L+
    std::size_t upper = 0;  ///< U+L*, where U*L+ does not match
};

CasedEnds cased_ends(std::string_view text, std::size_t start) {
    constexpr CharacterKinds upper(CharacterKind::upper, CharacterKind::caseless, CharacterKind::mark),
        lower(CharacterKind::lower, CharacterKind::caseless, CharacterKind::mark);
    std::size_t end = start, behind_caseless = 0;
    while (end < text.size()) {
        const KnownCharacter next = first_character(text.substr(end));
        if (!upper.contains(next.kind)) break;
        end += next.length;
        if (next.kind != CharacterKind::upper) behind_caseless = end;
    }
    if (starts_with(text.substr(end), lower)) return {.lower = run_end(text, end, lower)};
    return {.lower = behind_caseless, .upper = end > start ? end : 0};
}

std::size_t cased_word_length(std::string_view text, bool with_contractions, int most_digits) {
    const CasedEnds with = may_precede_letters(text) ? cased_ends(text, first_character(text).length) : CasedEnds{},
                    without = cased_ends(text, 0);
    for (const std::size_t end : {with.lower, without.lower, with.upper, without.upper})
        if (end > 0) return end + (with_contractions ? contraction_length(text.substr(end), true) : 0);
    if (const std::size_t length = number_length(text, most_digits)) return length;
    return sign_or_space_length(text, signs, "\r\n/");
}

}  // namespace

bool matches_everywhere(WordRule rule) { return rule <= WordRule::tekken; }

std::size_t word_length(std::string_view text, WordRule rule) {
    switch (rule) {
        case WordRule::gpt2: return gpt2_word_length(text);
        case WordRule::llama3: return llama3_word_length(text, false, 3);
        case WordRule::qwen2: return llama3_word_length(text, false, 1);
        case WordRule::qwen35: return llama3_word_length(text, true, 1);
        case WordRule::gpt4o: return cased_word_length(text, true, 3);
        case WordRule::tekken: return cased_word_length(text, false, 1);
        case WordRule::last_spaces: {
            const std::size_t start = trailing_space(text);
            return start > 0 ? start : text.size();
        }
        default: break;
    }
    std::size_t length = match_length(text, rule);
    if (length > 0) return length;
    while (length < text.size() && match_length(text.substr(length), rule) == 0)
        length += first_character(text.substr(length)).length;
    return length;
}

}  // namespace cairn::inline v0::text
