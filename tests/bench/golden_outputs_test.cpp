#include "bench/golden_outputs.hpp"

#include "cairn/error.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

const std::filesystem::path golden = CAIRN_SOURCE_DIR "/tests/golden";

TEST(GoldenRows, TextsOfBothKinds) {
    const std::vector<GoldenText> bundled = golden_texts(golden / "shakespeare_gpt2.json");
    ASSERT_EQ(bundled.size(), 10u);
    EXPECT_EQ(bundled[9].ids.size(), 208u);
    ASSERT_EQ(bundled[9].logits.size(), 1024u);
    EXPECT_EQ(bundled[9].logits[1023].first, 1023u);
    const std::vector<GoldenText> of_full_size = golden_texts(golden / "full_size_random.json");
    ASSERT_EQ(of_full_size.size(), 1u);
    const GoldenText& full = of_full_size[0];
    EXPECT_EQ(full.ids.size(), 128u);
    ASSERT_EQ(full.logits.size(), 64u);
    EXPECT_EQ(full.logits[0], (std::pair<std::size_t, double>(15230, 3.96015882)));
}

TEST(GoldenRows, SentencesWithoutTheirPadding) {
    const GoldenSentences full = golden_sentences(golden / "full_size_random.json");
    ASSERT_EQ(full.ids.size(), 2u);
    EXPECT_EQ(full.ids[0].size(), 128u);
    EXPECT_EQ(full.ids[1].size(), 37u);
    EXPECT_EQ(full.logits[1], (std::vector<double>{0.346181613, 0.576266965}));
    const GoldenSentences bundled = golden_sentences(golden / "sst2_distilbert.json");
    EXPECT_EQ(bundled.ids.size(), bundled.logits.size());
    EXPECT_EQ(bundled.ids[0].size(), 6u);
}

TEST(GoldenRows, InvalidFiles) {
    const cairn::test::TempFolder folder;
    EXPECT_THROW(golden_texts(folder / "missing.json"), cairn::Error);
    for (const char* text : {"", "{", "[]", "{}", R"({"cases": []})", R"({"cases": [{}]})", R"({"gpt2": {}})",
                             R"({"cases": [{"ids": "x"}]})"})
        EXPECT_THROW(golden_texts(folder.write("a.json", text)), cairn::Error) << text;
    for (const char* text : {"", "[]", R"({"cases": 3})", R"({"distilbert": {"input_ids": [[1]]}})",
                             R"({"cases": [{"ids": [1], "attention_mask": [], "logits": [0]}]})"})
        EXPECT_THROW(golden_sentences(folder.write("a.json", text)), cairn::Error) << text;
}

TEST(RelativeError, IsRelative) {
    RelativeError distance;
    distance.add(3, 3);
    distance.add(5, 4);
    EXPECT_DOUBLE_EQ(distance.relative(), 0.2);
}

}  // namespace
}  // namespace bench
