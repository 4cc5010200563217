#include "apps/text/character_map.hpp"
#include "tokenizer_folder.hpp"

#include <random>

namespace cairn::text_test {
namespace {

std::string u32(std::uint32_t value) {
    std::string bytes;
    for (const unsigned shift : {0u, 8u, 16u, 24u}) bytes += static_cast<char>(value >> shift & 0xFF);
    return bytes;
}

/// A trie for "a" -> "X", "ab" -> "" and U+00E9 (C3 A9) -> "yz", by hand. The units of a node's children lie at its
/// base xor the label: root at base 256, "a" at 512, C3 at 768, "ab" at 1024, C3 A9 at 1280.
std::string small_map() {
    std::vector<std::uint32_t> units(1536, 0x7F);
    const auto node = [](std::uint32_t label, bool leaf, std::size_t position, std::size_t base) {
        return label | (leaf ? 0x100u : 0u) | static_cast<std::uint32_t>(position ^ base) << 10;
    };
    units[0] = 256u << 10;
    units[256 ^ 'a'] = node('a', true, 256 ^ 'a', 512);
    units[512] = 0x8000'0000u | 0;
    units[512 ^ 'b'] = node('b', true, 512 ^ 'b', 1024);
    units[1024] = 0x8000'0000u | 1;
    units[256 ^ 0xC3] = node(0xC3, false, 256 ^ 0xC3, 768);
    units[768 ^ 0xA9] = node(0xA9, true, 768 ^ 0xA9, 1280);
    units[1280] = 0x8000'0000u | 3;
    std::string bytes = u32(static_cast<std::uint32_t>(4 * units.size()));
    for (const std::uint32_t unit : units) bytes += u32(unit);
    return bytes + std::string("X\0\0yz\0", 6);
}

TEST(CharacterMap, ReplacesClustersAndCharacters) {
    const text::CharacterMap map(small_map(), "test");
    EXPECT_EQ(map.apply(""), "");
    EXPECT_EQ(map.apply("cab"), "cXb");  // each letter is a cluster
    EXPECT_EQ(map.apply("\u00E9x\u00E9"), "yzxyz");
    EXPECT_EQ(map.apply("a\u0301x"), "Xx");                              // the whole cluster of 3 bytes
    EXPECT_EQ(map.apply("a\u0301\u0302x"), "Xx");                        // of 5 bytes
    EXPECT_EQ(map.apply("a\u0301\u0302\u0303"), "X\u0301\u0302\u0303");  // of 7 bytes: character by character
    EXPECT_EQ(map.apply("\u4E2D"), "\u4E2D");
}

TEST(CharacterMap, MalformedTables) {
    const auto message = [](const std::string& bytes) {
        return error_of([&] { text::CharacterMap(bytes, "file"); }, ErrorKind::file);
    };
    EXPECT_NE(message("abc").find("the precompiled_charsmap has no size (file)"), std::string::npos);
    EXPECT_NE(message(u32(8) + u32(0)).find("states a trie of 8 bytes, but has 4"), std::string::npos);
    EXPECT_NE(message(u32(0)).find("states a trie of 0 bytes"), std::string::npos);
    EXPECT_NE(message(u32(5) + u32(0) + u32(0)).find("states a trie of 5 bytes"), std::string::npos);
    EXPECT_NE(message(u32(4) + u32(0) + "\xFF").find("replacements that are no UTF-8"), std::string::npos);
    EXPECT_EQ(message(small_map()), "");
}

TEST(CharacterMap, DamagedTablesAreRead) {
    std::mt19937 random(3);
    const std::string bytes = small_map();
    for (int round = 0; round < 500; ++round) {
        std::string damaged = bytes;
        for (int unit = 0; unit < 200; ++unit)
            damaged[4 + random() % (damaged.size() - 10)] = static_cast<char>(random());
        const text::CharacterMap map(damaged, "test");
        for (const char* text : {"a", "ab\u00E9", "\u4E2D\u0301", "zzz\xF0\x9F\x98\x80"}) {
            const std::string out = map.apply(text);
            EXPECT_LE(out.size(), 6 * std::string_view(text).size());
        }
    }
}

TEST(CharacterMap, Base64) {
    EXPECT_EQ(text::base64_bytes(""), "");
    EXPECT_EQ(text::base64_bytes("TWFu"), "Man");
    EXPECT_EQ(text::base64_bytes("TWE="), "Ma");
    EXPECT_EQ(text::base64_bytes("TQ=="), "M");
    EXPECT_EQ(text::base64_bytes("AP+/"), std::string("\0\xFF\xBF", 3));
    for (const char* bad : {"TWF", "TW-u", "T===", "====", "TQ==TQ==", "T=Fu", " TQ="})
        EXPECT_EQ(text::base64_bytes(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace cairn::text_test
