#include "apps/text/character_bpe.hpp"

#include "tokenizer_folder.hpp"

namespace cairn::text_test {
namespace {

using text::CharacterBpe;
using text::CharacterBpeParts;

/// <unk>, the bytes of U+00E9, and a few characters that merge.
CharacterBpeParts small_parts() {
    CharacterBpeParts parts;
    parts.source = "m.json";
    for (const char* token : {"<unk>", "<0xC3>", "<0xA9>", "a", "b", "▁", "ab", "▁ab", "abab"})
        parts.entries.push_back({token, static_cast<std::int64_t>(parts.entries.size())});
    parts.merges = {{"a", "b"}, {"▁", "ab"}, {"ab", "ab"}};
    parts.normalizer = {{.kind = text::NormalizerStep::Kind::replace, .from = " ", .to = "▁"}};
    parts.byte_fallback = parts.decodes_bytes = parts.fuses_unk = true;
    parts.unk_token = "<unk>";
    parts.space = "▁";
    return parts;
}

TEST(CharacterBpe, MergesByRank) {
    const CharacterBpe tokenizer(small_parts());
    EXPECT_EQ(tokenizer.encode("ab ab", {}), (Ids{6, 7}));
    EXPECT_EQ(tokenizer.encode("abab", {}), (Ids{8}));
    EXPECT_EQ(tokenizer.encode(" ba", {}), (Ids{5, 4, 3}));
    EXPECT_EQ(tokenizer.encode("", {}), Ids{});
    EXPECT_EQ(tokenizer.decode(Ids{7, 6}), " abab");
}

TEST(CharacterBpe, ACharacterWithoutATokenIsItsBytesOrUnknown) {
    CharacterBpeParts parts = small_parts();
    EXPECT_EQ(CharacterBpe(parts).encode("a\u00E9b", {}), (Ids{3, 1, 2, 4}));
    EXPECT_EQ(CharacterBpe(parts).decode(Ids{3, 1, 2, 4}), "a\u00E9b");
    EXPECT_EQ(CharacterBpe(parts).encode("xyzb", {}), (Ids{0, 4}));
    EXPECT_EQ(CharacterBpe(parts).encode("x\u00E9", {}), (Ids{1, 2, 0})) << "as Hugging Face tokenizers orders them";
    EXPECT_EQ(CharacterBpe(parts).encode("\xFF", {}), (Ids{0})) << "U+FFFD, whose bytes have no tokens";
    parts.fuses_unk = false;
    EXPECT_EQ(CharacterBpe(parts).encode("xyzb", {}), (Ids{0, 0, 0, 4}));
    parts.byte_fallback = false;
    EXPECT_EQ(CharacterBpe(parts).encode("a\u00E9b", {}), (Ids{3, 0, 4}));
    parts.unk_token.reset();
    EXPECT_EQ(CharacterBpe(parts).encode("axb", {}), (Ids{6})) << "left out";
}

TEST(CharacterBpe, WholeWordsAndFirstSpaces) {
    CharacterBpeParts parts = small_parts();
    parts.merges.clear();
    EXPECT_EQ(CharacterBpe(parts).encode("abab", {}), (Ids{3, 4, 3, 4}));
    parts.ignores_merges = true;
    EXPECT_EQ(CharacterBpe(parts).encode("abab", {}), (Ids{8}));
    EXPECT_EQ(CharacterBpe(parts).decode(Ids{7, 7}), " ab ab");
    parts.drops_first_space = true;
    EXPECT_EQ(CharacterBpe(parts).decode(Ids{7, 7}), "ab ab");
}

}  // namespace
}  // namespace cairn::text_test
