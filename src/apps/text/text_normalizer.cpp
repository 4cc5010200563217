#include "apps/text/text_normalizer.hpp"

#include "apps/text/unicode.hpp"

#include <algorithm>
#include <utility>

namespace cairn::inline v0::text {

namespace {

std::u32string codes_of(std::string_view text) {
    std::u32string codes;
    codes.reserve(text.size());
    while (!text.empty()) {
        const Utf8Step step = read_utf8(text);
        codes += step.code;
        text.remove_prefix(step.length);
    }
    return codes;
}

std::string utf8_of(std::u32string_view codes) {
    std::string text;
    text.reserve(codes.size());
    for (const char32_t code : codes) append_utf8(text, code);
    return text;
}

/// The text between two steps.
struct Codes {
    std::u32string codes;
    std::size_t start_count;  ///< number of leading characters that stem from the first character of the original text
};

/// Builds the result of a step.
class CodesBuilder {
public:
    void add(char32_t code, bool from_start) {
        if (from_start && out_.start_count == out_.codes.size()) ++out_.start_count;
        out_.codes += code;
    }
    Codes finish() { return std::move(out_); }

private:
    Codes out_{{}, 0};
};

/// Replaces each match; `match_length(rest)` is the length of one at the start of `rest`, 0: none. The characters of a
/// replacement stem from the last one of the match, as in Hugging Face tokenizers.
template <class MatchLength>
Codes replace_matches(const Codes& text, std::u32string_view to, const MatchLength& match_length) {
    CodesBuilder out;
    for (std::size_t at = 0; at < text.codes.size();) {
        const std::size_t length = match_length(std::u32string_view(text.codes).substr(at));
        if (length == 0) {
            out.add(text.codes[at], at < text.start_count);
            ++at;
            continue;
        }
        at += length;
        for (const char32_t code : to) out.add(code, at <= text.start_count);
    }
    return out.finish();
}

std::size_t space_run(std::u32string_view text) {
    const std::size_t length = std::min(text.find_first_not_of(U' '), text.size());
    return length < 2 ? 0 : length;
}

/// A step that maps texts; it also maps the characters that stem from the start.
template <class Map>
Codes mapped(const Codes& text, const Map& map) {
    Codes out{map(std::u32string_view(text.codes)), 0};
    out.start_count = map(std::u32string_view(text.codes).substr(0, text.start_count)).size();
    return out;
}

Codes strip_accents(const Codes& text) {
    CodesBuilder out;
    for (std::size_t at = 0; at < text.codes.size(); ++at)
        if (!is_mark(text.codes[at])) out.add(text.codes[at], at < text.start_count);
    return out.finish();
}

std::u32string lowered(std::u32string_view text) {
    std::u32string out;
    for (const char32_t code : text) append_lower(out, code);
    return out;
}

Codes strip_space(const NormalizerStep& step, const Codes& text) {
    std::size_t first = 0, last = text.codes.size();
    while (step.left && first < last && is_white_space(text.codes[first])) ++first;
    while (step.right && first < last && is_white_space(text.codes[last - 1])) --last;
    CodesBuilder out;
    for (; first < last; ++first) out.add(text.codes[first], first < text.start_count);
    return out.finish();
}

/// What is prepended stems from the first character.
Codes prepended(const std::u32string& start, const Codes& text) {
    if (text.codes.empty()) return text;
    return {start + text.codes, text.start_count > 0 ? start.size() + text.start_count : 0};
}

Codes map_characters(const CharacterMap& map, const Codes& text) {
    Codes out{codes_of(map.apply(utf8_of(text.codes))), 0};
    out.start_count = std::min<std::size_t>({1, text.start_count, out.codes.size()});
    return out;
}

Codes apply_step(const NormalizerStep& step, const Codes& text) {
    using Kind = NormalizerStep::Kind;
    switch (step.kind) {
        case Kind::replace: {
            const std::u32string from = codes_of(step.from);
            return replace_matches(text, codes_of(step.to),
                                   [&](std::u32string_view rest) { return rest.starts_with(from) ? from.size() : 0; });
        }
        case Kind::replace_spaces: return replace_matches(text, codes_of(step.to), space_run);
        case Kind::nfd: return mapped(text, canonical_decomposition);
        case Kind::nfkd: return mapped(text, compatibility_decomposition);
        case Kind::nfc:
            return mapped(
                text, [](std::u32string_view codes) { return canonical_composition(canonical_decomposition(codes)); });
        case Kind::nfkc:
            return mapped(text, [](std::u32string_view codes) {
                return canonical_composition(compatibility_decomposition(codes));
            });
        case Kind::strip_accents: return strip_accents(text);
        case Kind::lower_case: return mapped(text, lowered);
        case Kind::map_characters: return map_characters(*step.map, text);
        case Kind::strip: return strip_space(step, text);
        case Kind::prepend: return prepended(codes_of(step.to), text);
    }
    return text;
}

}  // namespace

bool NormalizerStep::operator==(const NormalizerStep& other) const {
    const bool same_map = map == other.map || (map && other.map && *map == *other.map);
    return same_map && kind == other.kind && from == other.from && to == other.to && left == other.left &&
           right == other.right;
}

std::string shown_steps(const std::vector<NormalizerStep>& steps) {
    constexpr const char* names[] = {"Replace",      "Replace",   "NFD",         "NFC",   "NFKD",   "NFKC",
                                     "StripAccents", "Lowercase", "Precompiled", "Strip", "Prepend"};
    std::string shown;
    for (const NormalizerStep& step : steps)
        shown.append(shown.empty() ? "" : ", ").append(names[static_cast<std::size_t>(step.kind)]);
    return shown.empty() ? "null" : shown;
}

NormalizedText TextNormalizer::apply(std::string_view text) const {
    Codes codes{codes_of(text), 1};
    for (const NormalizerStep& step : steps_) codes = apply_step(step, codes);
    return {utf8_of(codes.codes), codes.start_count > 0};
}

}  // namespace cairn::inline v0::text
