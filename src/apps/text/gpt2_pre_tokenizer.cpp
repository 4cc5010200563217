#include "apps/text/gpt2_pre_tokenizer.hpp"

#include "apps/text/unicode.hpp"

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

std::size_t contraction_length(std::string_view text) {
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
        if (text.starts_with(ending)) return ending.size();
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

}  // namespace

std::size_t gpt2_word_length(std::string_view text) {
    if (const std::size_t length = contraction_length(text)) return length;
    const std::size_t start = text[0] == ' ' && text.size() > 1 ? 1 : 0;
    const Class kind = read(text.substr(start)).kind;
    return kind == Class::space ? space_length(text) : run_end(text, start, kind);
}

}  // namespace cairn::inline v0::text
