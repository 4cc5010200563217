#include "apps/text/character_map.hpp"

#include "apps/text/file_errors.hpp"
#include "apps/text/unicode.hpp"
#include "cairn/text/words.hpp"

namespace cairn::inline v0::text {

namespace {

constexpr std::size_t longest_whole_cluster = 5;

std::uint32_t read_u32(std::string_view bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    return value;
}

// Parts of a unit of the trie.
bool is_followed_by_leaf(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
std::uint32_t label_of(std::uint32_t unit) { return unit & (0x8000'0000u | 0xFF); }
std::size_t value_of(std::uint32_t unit) { return unit & 0x7FFF'FFFFu; }
std::size_t offset_of(std::uint32_t unit) { return std::size_t{unit >> 10} << ((unit & 0x200) >> 6); }

}  // namespace

CharacterMap::CharacterMap(std::string_view bytes, const std::string& source) {
    const auto refuse = [&](const std::string& what) { throw_bad_file(source, "the precompiled_charsmap " + what); };
    if (bytes.size() < 4) refuse("has no size");
    const std::size_t size = read_u32(bytes, 0);
    bytes.remove_prefix(4);
    if (size > bytes.size())
        refuse("states a trie of " + std::to_string(size) + " bytes, but has " + std::to_string(bytes.size()));
    if (size < 4 || size % 4 != 0) refuse("states a trie of " + std::to_string(size) + " bytes");
    for (std::size_t at = 0; at < size; at += 4) trie_.push_back(read_u32(bytes, at));
    replacements_ = bytes.substr(size);
    if (!is_utf8(replacements_)) refuse("has replacements that are no UTF-8");
}

std::optional<std::string_view> CharacterMap::replacement(std::string_view text) const {
    // Positions beyond the trie read as zero, a unit without a label, so that a damaged trie ends the search.
    std::size_t position = offset_of(unit(0));
    for (const char next : text) {
        const auto byte = static_cast<unsigned char>(next);
        if (byte == 0) break;
        position ^= byte;
        const std::uint32_t found = unit(position);
        if (label_of(found) != byte) break;
        position ^= offset_of(found);
        if (!is_followed_by_leaf(found)) continue;
        const std::size_t start = value_of(unit(position));
        if (start > replacements_.size()) break;
        return std::string_view(replacements_).substr(start, replacements_.find('\0', start) - start);
    }
    return std::nullopt;
}

void CharacterMap::append_cluster(std::string_view cluster, std::string& out) const {
    if (cluster.size() <= longest_whole_cluster)
        if (const auto whole = replacement(cluster)) {
            out += *whole;
            return;
        }
    while (!cluster.empty()) {
        const std::string_view character = cluster.substr(0, read_utf8(cluster).length);
        out += replacement(character).value_or(character);
        cluster.remove_prefix(character.size());
    }
}

std::string CharacterMap::apply(std::string_view text) const {
    std::string out;
    out.reserve(text.size());
    GraphemeBreaks breaks;
    std::size_t start = 0;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Step step = read_utf8(text.substr(at));
        if (breaks.begins(step.code) && at > start) {
            append_cluster(text.substr(start, at - start), out);
            start = at;
        }
        at += step.length;
    }
    append_cluster(text.substr(start), out);
    return out;
}

std::optional<std::string> base64_bytes(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    std::string bytes;
    std::size_t padding = 0;
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        std::uint32_t digit = 0;
        if (c >= 'A' && c <= 'Z')
            digit = static_cast<std::uint32_t>(c - 'A');
        else if (c >= 'a' && c <= 'z')
            digit = static_cast<std::uint32_t>(c - 'a' + 26);
        else if (c >= '0' && c <= '9')
            digit = static_cast<std::uint32_t>(c - '0' + 52);
        else if (c == '+' || c == '/')
            digit = c == '+' ? 62 : 63;
        else if (c == '=' && i + 2 >= text.size())
            ++padding;
        else
            return std::nullopt;
        if (padding > 0 && c != '=') return std::nullopt;
        bits = bits << 6 | digit;
        if (i % 4 != 3) continue;
        for (const unsigned shift : {16u, 8u, 0u}) bytes += static_cast<char>(bits >> shift & 0xFF);
        bits = 0;
    }
    bytes.resize(bytes.size() - padding);
    return bytes;
}

}  // namespace cairn::inline v0::text
