#include "apps/text/word_length.hpp"

#include "apps/text/unicode.hpp"

#include <algorithm>

namespace cairn::inline v0::text {

namespace {

enum class Class { letter, number, space, other };

struct Character {
    Class kind;
    std::size_t length;
};

Class class_of(char32_t code) {
    if (code < 0x80) {
        if ((code | 0x20) >= 'a' && (code | 0x20) <= 'z') return Class::letter;
        if (code >= '0' && code <= '9') return Class::number;
        return is_white_space(code) ? Class::space : Class::other;
    }
    if (is_letter(code)) return Class::letter;
    if (is_number(code)) return Class::number;
    return is_white_space(code) ? Class::space : Class::other;
}

Character read(std::string_view text) {
    const Utf8Step step = read_utf8(text);
    return {step.status == Utf8Step::Status::valid ? class_of(step.code) : Class::other, step.length};
}

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
    return 0;
}

/// End of the run of characters of one class that contains `from`.
std::size_t run_end(std::string_view text, std::size_t from, Class kind) {
    while (from < text.size()) {
        const Character next = read(text.substr(from));
        if (next.kind != kind) break;
        from += next.length;
    }
    return from;
}

/// `\s+(?!\S)|\s+`: the last character of a run of spaces belongs to the word after it, unless the run has only one.
std::size_t space_length(std::string_view text) {
    std::size_t end = 0;
    std::size_t last = 0;
    while (end < text.size()) {
        const Character next = read(text.substr(end));
        if (next.kind != Class::space) return last > 0 ? last : end;
        last = end;
        end += next.length;
    }
    return end;
}

std::size_t gpt2_word_length(std::string_view text) {
    if (const std::size_t length = contraction_length(text, false)) return length;
    const std::size_t start = text[0] == ' ' && text.size() > 1 ? 1 : 0;
    const Class kind = read(text.substr(start)).kind;
    return kind == Class::space ? space_length(text) : run_end(text, start, kind);
}

bool starts_with_number(std::string_view text) { return !text.empty() && read(text).kind == Class::number; }

std::size_t smollm_word_length(std::string_view text) {
    const Character first = read(text);
    if (first.kind == Class::number) return first.length;
    // The text ends before the next number, for gpt2: a space before it is not part of a word.
    if (first.kind == Class::space)
        if (const std::size_t end = run_end(text, 0, Class::space); starts_with_number(text.substr(end))) return end;
    return gpt2_word_length(text);
}

bool is_newline(char byte) { return byte == '\r' || byte == '\n'; }

/// `\s*[\r\n]+|\s+(?!\S)|\s+`: a run of spaces ends behind its last newline, if it has one.
std::size_t space_length_with_newlines(std::string_view text) {
    const std::string_view run = text.substr(0, run_end(text, 0, Class::space));
    const std::size_t newline = run.find_last_of("\r\n");
    return newline == run.npos ? space_length(text) : newline + 1;
}

/// `most_digits`: the most characters of \p{N} in a word.
std::size_t llama3_word_length(std::string_view text, int most_digits) {
    if (const std::size_t length = contraction_length(text, true)) return length;
    const Character first = read(text);
    if (first.kind == Class::letter) return run_end(text, 0, Class::letter);
    if (first.kind == Class::number) {
        std::size_t end = first.length;
        for (int count = 1; count < most_digits && starts_with_number(text.substr(end)); ++count)
            end += read(text.substr(end)).length;
        return end;
    }
    if (!is_newline(text[0]) && first.length < text.size() && read(text.substr(first.length)).kind == Class::letter)
        return run_end(text, first.length, Class::letter);
    const std::size_t start = text[0] == ' ' ? 1 : 0;
    if (start == text.size() || read(text.substr(start)).kind != Class::other) return space_length_with_newlines(text);
    std::size_t end = run_end(text, start, Class::other);
    while (end < text.size() && is_newline(text[end])) ++end;
    return end;
}

}  // namespace

std::optional<WordRule> word_rule_named(std::string_view pre) {
    if (pre == "gpt-2") return WordRule::gpt2;
    if (pre == "smollm") return WordRule::smollm;
    if (pre == "llama-bpe" || pre == "llama3" || pre == "llama-v3") return WordRule::llama3;
    if (pre == "qwen2") return WordRule::qwen2;
    return std::nullopt;
}

std::size_t word_length(std::string_view text, WordRule rule) {
    switch (rule) {
        case WordRule::smollm: return smollm_word_length(text);
        case WordRule::llama3: return llama3_word_length(text, 3);
        case WordRule::qwen2: return llama3_word_length(text, 1);
        case WordRule::gpt2: break;
    }
    return gpt2_word_length(text);
}

}  // namespace cairn::inline v0::text
