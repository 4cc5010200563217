#include "apps/text/bert_pre_tokenizer.hpp"

#include "apps/text/unicode.hpp"

#include <algorithm>
#include <utility>

namespace cairn::inline v0::text {

namespace {

/// BERT's list of ideographs: no kana, no hangul. Hugging Face tokenizers has the same gap before U+2B920.
bool is_ideograph(char32_t code) {
    constexpr std::pair<char32_t, char32_t> blocks[] = {
        {0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
        {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F},
    };
    return std::any_of(std::begin(blocks), std::end(blocks),
                       [code](const auto& block) { return code >= block.first && code <= block.second; });
}

/// BERT treats all ASCII signs as punctuation, including `$` and `~`.
bool is_bert_punctuation(char32_t code) {
    if (code >= 0x80) return is_punctuation(code);
    return (code >= 33 && code <= 47) || (code >= 58 && code <= 64) || (code >= 91 && code <= 96) ||
           (code >= 123 && code <= 126);
}

bool is_dropped(char32_t code) {
    if (code == '\t' || code == '\n' || code == '\r') return false;
    return code == 0 || code == 0xFFFD || is_control(code);
}

}  // namespace

std::string BertNormalizer::apply(std::string_view text) const {
    std::u32string codes;
    codes.reserve(text.size());
    while (!text.empty()) {
        const Utf8Step step = read_utf8(text);
        text.remove_prefix(step.length);
        if (clean_text && is_dropped(step.code)) continue;
        const bool alone = chinese_chars && is_ideograph(step.code);
        if (alone) codes += U' ';
        codes += clean_text && is_white_space(step.code) ? U' ' : step.code;
        if (alone) codes += U' ';
    }
    if (strip_accents) {
        codes = canonical_decomposition(codes);
        std::erase_if(codes, is_nonspacing_mark);
    }
    if (lower_case) {
        std::u32string lowered;
        lowered.reserve(codes.size());
        for (const char32_t code : codes) append_lower(lowered, code);
        codes = std::move(lowered);
    }
    std::string normalized;
    normalized.reserve(codes.size());
    for (const char32_t code : codes) append_utf8(normalized, code);
    return normalized;
}

std::vector<std::string_view> bert_pre_tokenize(std::string_view text) {
    std::vector<std::string_view> words;
    std::size_t start = 0;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Step step = read_utf8(text.substr(at));
        const bool space = is_white_space(step.code);
        const bool punctuation = is_bert_punctuation(step.code);
        if (space || punctuation) {
            if (at > start) words.push_back(text.substr(start, at - start));
            if (punctuation) words.push_back(text.substr(at, step.length));
            start = at + step.length;
        }
        at += step.length;
    }
    if (start < text.size()) words.push_back(text.substr(start));
    return words;
}

}  // namespace cairn::inline v0::text
