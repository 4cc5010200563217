#include "apps/text/character_kinds.hpp"

namespace cairn::inline v0::text {

KnownCharacter first_character(std::string_view text) {
    const auto byte = static_cast<unsigned char>(text[0]);
    if (byte < 0x80) {
        if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z')
            return {byte < 'a' ? CharacterKind::upper : CharacterKind::lower, 1};
        return {kind_of(byte), 1};
    }
    const Utf8Step step = read_utf8(text);
    return {step.status == Utf8Step::Status::valid ? kind_of(step.code) : CharacterKind::symbol, step.length};
}

bool starts_with(std::string_view text, CharacterKinds kinds) {
    return !text.empty() && kinds.contains(first_character(text).kind);
}

std::size_t run_end(std::string_view text, std::size_t from, CharacterKinds kinds) {
    while (from < text.size()) {
        const KnownCharacter next = first_character(text.substr(from));
        if (!kinds.contains(next.kind)) break;
        from += next.length;
    }
    return from;
}

std::size_t number_length(std::string_view text, int most) {
    std::size_t end = 0;
    for (int count = 0; count < most && starts_with(text.substr(end), numbers); ++count)
        end += first_character(text.substr(end)).length;
    return end;
}

std::size_t trailing_space(std::string_view text) {
    std::size_t start = text.size();
    while (start > 0) {
        std::size_t before = start - 1;
        while (before > 0 && (static_cast<unsigned char>(text[before]) & 0xC0) == 0x80) --before;
        const Utf8Step step = read_utf8(text.substr(before, start - before));
        if (step.length != start - before || !is_white_space(step.code)) break;
        start = before;
    }
    return start;
}

std::size_t space_length(std::string_view text) {
    std::size_t end = 0;
    std::size_t last = 0;
    while (end < text.size()) {
        const KnownCharacter next = first_character(text.substr(end));
        if (next.kind != CharacterKind::space) return last > 0 ? last : end;
        last = end;
        end += next.length;
    }
    return end;
}

std::size_t space_length_with_newlines(std::string_view text) {
    const std::string_view run = text.substr(0, run_end(text, 0, spaces));
    const std::size_t newline = run.find_last_of("\r\n");
    return newline == run.npos ? space_length(text) : newline + 1;
}

std::size_t sign_or_space_length(std::string_view text, CharacterKinds signs, std::string_view ends) {
    const std::size_t start = text[0] == ' ' ? 1 : 0;
    std::size_t end = run_end(text, start, signs);
    if (end == start) return space_length_with_newlines(text);
    while (end < text.size() && ends.find(text[end]) != ends.npos) ++end;
    return end;
}

}  // namespace cairn::inline v0::text
