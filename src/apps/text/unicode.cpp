#include "apps/text/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

namespace cairn::inline v0::text {

namespace {

utf8proc_category_t category(char32_t code) { return utf8proc_category(static_cast<utf8proc_int32_t>(code)); }

utf8proc_propval_t combining_class(char32_t code) {
    return utf8proc_get_property(static_cast<utf8proc_int32_t>(code))->combining_class;
}

/// `options` of utf8proc_decompose_char.
std::u32string decomposition(std::u32string_view text, int options) {
    std::u32string out;
    out.reserve(text.size());
    for (const char32_t code : text) {
        utf8proc_int32_t parts[32];  // the longest decomposition has 18 code points
        int boundary = 0;
        const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts, 32,
                                                   static_cast<utf8proc_option_t>(options), &boundary);
        for (utf8proc_ssize_t i = 0; i < count; ++i) out += static_cast<char32_t>(parts[i]);
    }
    // utf8proc_decompose orders marks by exchanging neighbours, which is quadratic in a long run of them.
    const auto is_starter = [](char32_t code) { return combining_class(code) == 0; };
    for (auto run = out.begin(); run != out.end();) {
        run = std::find_if_not(run, out.end(), is_starter);
        const auto end = std::find_if(run, out.end(), is_starter);
        std::stable_sort(run, end, [](char32_t a, char32_t b) { return combining_class(a) < combining_class(b); });
        run = end;
    }
    return out;
}

}  // namespace

Utf8Step read_utf8(std::string_view bytes) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return {lead, 1, Utf8Step::Status::valid};
    if (lead < 0xC2 || lead > 0xF4) return {0xFFFD, 1, Utf8Step::Status::invalid};

    const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t code = lead & (0x7Fu >> length);
    // The range of the second byte excludes overlong forms, surrogates and code points above U+10FFFF.
    unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    for (std::size_t i = 1; i < length; ++i) {
        if (i == bytes.size()) return {0xFFFD, i, Utf8Step::Status::truncated};
        if (byte(i) < low || byte(i) > high) return {0xFFFD, i, Utf8Step::Status::invalid};
        code = code << 6 | (byte(i) & 0x3Fu);
        low = 0x80;
        high = 0xBF;
    }
    return {code, length, Utf8Step::Status::valid};
}

void append_utf8(std::string& out, char32_t code) {
    utf8proc_uint8_t buffer[4];
    const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), buffer);
    out.append(reinterpret_cast<const char*>(buffer), static_cast<std::size_t>(length));
}

bool is_white_space(char32_t code) {
    if (code < 0x80) return code == ' ' || (code >= '\t' && code <= '\r');
    if (code == 0x85) return true;
    const auto kind = category(code);
    return kind == UTF8PROC_CATEGORY_ZS || kind == UTF8PROC_CATEGORY_ZL || kind == UTF8PROC_CATEGORY_ZP;
}

CharacterKind kind_of(char32_t code) {
    if (is_white_space(code)) return CharacterKind::space;
    const auto kind = category(code);
    const auto lies_in = [&](utf8proc_category_t first, utf8proc_category_t last) {
        return kind >= first && kind <= last;
    };
    if (kind == UTF8PROC_CATEGORY_LL) return CharacterKind::lower;
    if (lies_in(UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LT)) return CharacterKind::upper;
    if (lies_in(UTF8PROC_CATEGORY_LM, UTF8PROC_CATEGORY_LO)) return CharacterKind::caseless;
    if (lies_in(UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME)) return CharacterKind::mark;
    if (lies_in(UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO)) return CharacterKind::number;
    if (lies_in(UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO)) return CharacterKind::punctuation;
    return lies_in(UTF8PROC_CATEGORY_SM, UTF8PROC_CATEGORY_SO) ? CharacterKind::symbol : CharacterKind::other;
}

bool is_punctuation(char32_t code) {
    const auto kind = category(code);
    return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

bool is_nonspacing_mark(char32_t code) { return category(code) == UTF8PROC_CATEGORY_MN; }

bool is_mark(char32_t code) {
    const auto kind = category(code);
    return kind >= UTF8PROC_CATEGORY_MN && kind <= UTF8PROC_CATEGORY_ME;
}

bool is_control(char32_t code) {
    const auto kind = category(code);
    return kind >= UTF8PROC_CATEGORY_CC && kind <= UTF8PROC_CATEGORY_CO;
}

void append_lower(std::u32string& out, char32_t code) {
    // The only character whose full mapping is longer than the simple mapping of utf8proc.
    if (code == 0x130) {
        out += U"i\u0307";
    } else {
        out += static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code)));
    }
}

void append_case_folded(std::string& out, char32_t code) {
    utf8proc_int32_t folded[4];  // at most three characters
    int boundary = 0;
    const auto count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), folded, 4, UTF8PROC_CASEFOLD, &boundary);
    for (utf8proc_ssize_t i = 0; i < count; ++i) append_utf8(out, static_cast<char32_t>(folded[i]));
}

std::u32string canonical_decomposition(std::u32string_view text) { return decomposition(text, UTF8PROC_DECOMPOSE); }

std::u32string compatibility_decomposition(std::u32string_view text) {
    return decomposition(text, UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
}

std::u32string canonical_composition(std::u32string decomposed) {
    if (decomposed.empty()) return decomposed;
    std::vector<utf8proc_int32_t> codes(decomposed.begin(), decomposed.end());
    const auto length = utf8proc_normalize_utf32(codes.data(), static_cast<utf8proc_ssize_t>(codes.size()),
                                                 static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    return std::u32string(codes.begin(), codes.begin() + length);
}

bool GraphemeBreaks::begins(char32_t next) {
    const bool breaks = is_first_ || utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(last_),
                                                                      static_cast<utf8proc_int32_t>(next), &state_);
    is_first_ = false;
    last_ = next;
    return breaks;
}

}  // namespace cairn::inline v0::text
