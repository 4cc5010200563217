#include "apps/text/word_match.hpp"

#include "apps/text/character_kinds.hpp"

#include <algorithm>
#include <utility>

namespace cairn::inline v0::text {

namespace {

constexpr CharacterKinds punctuation(CharacterKind::punctuation);
constexpr CharacterKinds punctuation_and_symbols(CharacterKind::punctuation, CharacterKind::symbol);

/// End of the run of characters that `accepts` takes.
template <typename Accepts>
std::size_t accepted_end(std::string_view text, const Accepts& accepts) {
    std::size_t end = 0;
    while (end < text.size()) {
        const Utf8Step step = read_utf8(text.substr(end));
        if (step.status != Utf8Step::Status::valid || !accepts(step.code)) break;
        end += step.length;
    }
    return end;
}

bool lies_in(char32_t code, std::initializer_list<std::pair<char32_t, char32_t>> ranges) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const auto& range) { return code >= range.first && code <= range.second; });
}

/// `\s?[kinds]+`
std::size_t spaced_length(std::string_view text, CharacterKinds kinds) {
    const KnownCharacter first = first_character(text);
    const std::size_t start = first.kind == CharacterKind::space ? first.length : 0;
    const std::size_t end = run_end(text, start, kinds);
    return end > start ? end : 0;
}

bool is_ascii_letter(char byte) { return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'; }

std::size_t deepseek3_length(std::string_view text) {
    const KnownCharacter first = first_character(text);
    const bool is_sign = punctuation_and_symbols.contains(first.kind);
    if (text.size() > 1 && first.length == 1 && is_sign && is_ascii_letter(text[1]))
        return static_cast<std::size_t>(std::find_if_not(text.begin() + 1, text.end(), is_ascii_letter) - text.begin());
    const bool may_precede = !letters_and_marks.contains(first.kind) && !is_sign && text[0] != '\r' && text[0] != '\n';
    const std::size_t start = may_precede ? first.length : 0;
    if (const std::size_t end = run_end(text, start, letters_and_marks); end > start) return end;
    return sign_or_space_length(text, punctuation_and_symbols, "\r\n");
}

std::size_t three_ascii_digits(std::string_view text) {
    const std::string_view start = text.substr(0, 3);
    return start.size() == 3 && start.find_first_not_of("0123456789") == start.npos ? 3 : 0;
}

}  // namespace

std::size_t match_length(std::string_view text, WordRule rule) {
    switch (rule) {
        case WordRule::deepseek3: return deepseek3_length(text);
        case WordRule::digit: return number_length(text, 1);
        case WordRule::three_digits: return number_length(text, 3);
        case WordRule::ascii_digits: return three_ascii_digits(text);
        case WordRule::newline: return text[0] == '\r' || text[0] == '\n' ? 1 : 0;
        case WordRule::spaced_letters: return spaced_length(text, letters);
        case WordRule::spaced_punctuation: return spaced_length(text, punctuation);
        case WordRule::falcon_signs:
            return accepted_end(text, [](char32_t code) {
                constexpr std::u32string_view more = U"$+<=>^~|`";
                return is_punctuation(code) || more.find(code) != more.npos;
            });
        case WordRule::east_asian:
            return accepted_end(text, [](char32_t code) { return lies_in(code, {{0x800, 0x9FA5}, {0xAC00, 0xD7FF}}); });
        case WordRule::han_and_kana:
            return accepted_end(text, [](char32_t code) {
                return lies_in(code, {{0x4E00, 0x9FA5}, {0x3040, 0x30FF}});
            });
        default: return 0;
    }
}

}  // namespace cairn::inline v0::text
