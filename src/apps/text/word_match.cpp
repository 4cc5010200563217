#include "apps/text/word_match.hpp"

#include "apps/text/character_kinds.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace cairn::inline v0::text {

namespace {

constexpr CharacterKinds punctuation(CharacterKind::punctuation);
constexpr CharacterKinds punctuation_and_symbols(CharacterKind::punctuation, CharacterKind::symbol);

using Range = std::pair<char32_t, char32_t>;

/// The letters with a case as the tokenizer of DeepSeek LLM lists them, in order: not all that Unicode has.
constexpr Range cased_letters[] = {
    {0x41, 0x5A},       {0x61, 0x7A},       {0xB5, 0xB5},       {0xC0, 0xD6},       {0xD8, 0xF6},
    {0xF8, 0x1BA},      {0x1BC, 0x1BF},     {0x1C4, 0x293},     {0x295, 0x2AF},     {0x370, 0x373},
    {0x376, 0x376},     {0x377, 0x377},     {0x37B, 0x37D},     {0x37F, 0x37F},     {0x386, 0x386},
    {0x388, 0x38A},     {0x38C, 0x38C},     {0x38E, 0x3A1},     {0x3A3, 0x3F5},     {0x3F7, 0x481},
    {0x48A, 0x52F},     {0x531, 0x556},     {0x10A0, 0x10C5},   {0x13A0, 0x13F5},   {0x13F8, 0x13FD},
    {0x1C90, 0x1CBA},   {0x1CBD, 0x1CBF},   {0x1D00, 0x1D2B},   {0x1D6B, 0x1D77},   {0x1D79, 0x1D9A},
    {0x1E00, 0x1F15},   {0x1F18, 0x1F1D},   {0x1F20, 0x1F45},   {0x1F48, 0x1F4D},   {0x1F50, 0x1F57},
    {0x1F59, 0x1F59},   {0x1F5B, 0x1F5B},   {0x1F5D, 0x1F5D},   {0x1F5F, 0x1F7D},   {0x1F80, 0x1FB4},
    {0x1FB6, 0x1FBC},   {0x1FBE, 0x1FBE},   {0x1FC2, 0x1FC4},   {0x1FC6, 0x1FCC},   {0x1FD0, 0x1FD3},
    {0x1FD6, 0x1FDB},   {0x1FE0, 0x1FEC},   {0x1FF2, 0x1FF4},   {0x1FF6, 0x1FFC},   {0x2102, 0x2102},
    {0x2107, 0x2107},   {0x210A, 0x2113},   {0x2115, 0x2115},   {0x2119, 0x211D},   {0x2124, 0x2124},
    {0x2126, 0x2126},   {0x2128, 0x2128},   {0x212A, 0x212D},   {0x212F, 0x2134},   {0x2139, 0x2139},
    {0x213C, 0x213F},   {0x2145, 0x2149},   {0x214E, 0x214E},   {0x2183, 0x2183},   {0x2184, 0x2184},
    {0x2C00, 0x2C7B},   {0x2C7E, 0x2CE4},   {0x2CEB, 0x2CEE},   {0x2CF2, 0x2CF2},   {0x2CF3, 0x2CF3},
    {0xA640, 0xA66D},   {0xA680, 0xA69B},   {0xA722, 0xA76F},   {0xA771, 0xA787},   {0xA78B, 0xA78E},
    {0xAB70, 0xABBF},   {0xFB00, 0xFB06},   {0xFB13, 0xFB17},   {0xFF21, 0xFF3A},   {0xFF41, 0xFF5A},
    {0x10400, 0x1044F}, {0x104B0, 0x104D3}, {0x104D8, 0x104FB}, {0x10C80, 0x10CB2}, {0x10CC0, 0x10CF2},
    {0x118A0, 0x118DF}, {0x1E900, 0x1E943}};

constexpr Range deepseek_signs[] = {{'!', '/'},       {':', '~'},       {0x2018, 0x201F},
                                    {0x3000, 0x3002}, {0xFF01, 0xFF0F}, {0xFF1A, 0xFF5E}};
constexpr Range east_asian[] = {{0x800, 0x9FA5}, {0xAC00, 0xD7FF}};
constexpr Range han_and_kana[] = {{0x4E00, 0x9FA5}, {0x3040, 0x30FF}};

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

bool lies_in(char32_t code, std::span<const Range> ranges) {
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

/// Length of the run of characters in the ranges.
std::size_t range_length(std::string_view text, std::span<const Range> ranges) {
    return accepted_end(text, [&](char32_t code) { return lies_in(code, ranges); });
}

/// The same, with a character of white space before it, which may itself be in the ranges.
std::size_t spaced_length(std::string_view text, std::span<const Range> ranges) {
    const KnownCharacter first = first_character(text);
    const std::size_t start = first.kind == CharacterKind::space ? first.length : 0;
    const std::size_t size = range_length(text.substr(start), ranges);
    return size > 0 ? start + size : range_length(text, ranges);
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
        case WordRule::spaced_cased_letters: return spaced_length(text, cased_letters);
        case WordRule::spaced_signs: return spaced_length(text, deepseek_signs);
        case WordRule::falcon_signs:
            return accepted_end(text, [](char32_t code) {
                constexpr std::u32string_view more = U"$+<=>^~|`";
                return is_punctuation(code) || more.find(code) != more.npos;
            });
        case WordRule::east_asian: return range_length(text, east_asian);
        case WordRule::han_and_kana: return range_length(text, han_and_kana);
        default: return 0;
    }
}

}  // namespace cairn::inline v0::text
