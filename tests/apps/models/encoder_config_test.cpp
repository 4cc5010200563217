#include "cairn/models/encoder.hpp"
#include "tests/io/weights/expect_error.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>

namespace cairn::models {
namespace {

using nlohmann::json;
using test::refused;
using test::TempFolder;

json bert_config() {
    return {{"model_type", "bert"},   {"architectures", {"BertModel"}},
            {"vocab_size", 30},       {"max_position_embeddings", 16},
            {"hidden_size", 12},      {"num_attention_heads", 3},
            {"num_hidden_layers", 4}, {"intermediate_size", 20}};
}

json bert_with(const json& changes) {
    json config = bert_config();
    config.update(changes);
    return config;
}

EncoderConfig read_encoder(const json& config) {
    const TempFolder folder;
    return EncoderConfig::read(folder.write("config.json", config.dump()));
}

TEST(EncoderConfig, EntriesThatAreAbsentHaveTheDefaultsOfTheModel) {
    const EncoderConfig of_bert = read_encoder(bert_config());
    EXPECT_EQ(of_bert.type, EncoderType::bert);
    EXPECT_EQ(of_bert.token_types, 2);
    EXPECT_EQ(of_bert.padding_id, 0);
    EXPECT_EQ(of_bert.activation, "gelu");
    EXPECT_EQ(of_bert.longest(), 16);
    const EncoderConfig roberta = read_encoder(bert_with({{"model_type", "roberta"}, {"type_vocab_size", 1}}));
    EXPECT_EQ(roberta.padding_id, 1);
    EXPECT_EQ(roberta.longest(), 14);
    EXPECT_EQ(roberta.token_types, 1);
    const EncoderConfig albert = read_encoder(bert_with({{"model_type", "albert"}, {"num_hidden_groups", 2}}));
    EXPECT_EQ(albert.activation, "gelu_new");
    EXPECT_EQ(albert.embedding_width, 128);
    EXPECT_EQ(albert.groups, 2);
    EXPECT_EQ(albert.inner_layers, 1);
    EXPECT_EQ(read_encoder(bert_with({{"model_type", "camembert"}})).type, EncoderType::roberta);
    EXPECT_EQ(read_encoder(bert_with({{"pad_token_id", nullptr}})).padding_id, 0);
}

TEST(EncoderConfig, TheClassNamesTheHead) {
    const auto head = [](const char* name) { return read_encoder(bert_with({{"architectures", {name}}})).head; };
    EXPECT_EQ(head("BertModel"), EncoderHead::none);
    EXPECT_EQ(head("BertForSequenceClassification"), EncoderHead::sequence);
    EXPECT_EQ(head("BertForTokenClassification"), EncoderHead::token);
    EXPECT_EQ(head("BertForQuestionAnswering"), EncoderHead::question);
    EXPECT_EQ(head("BertForMaskedLM"), EncoderHead::masked);
    EXPECT_EQ(head("BertForPreTraining"), EncoderHead::masked);
    EXPECT_EQ(read_encoder(bert_with({{"architectures", nullptr}})).head, EncoderHead::none);
    EXPECT_THAT([&] { head("BertForMultipleChoice"); },
                refused("the head of BertForMultipleChoice is not supported", ErrorKind::unsupported));
}

TEST(EncoderConfig, WhatIsNotSupportedIsNamed) {
    const auto expect = [](const json& changes, const std::string& what, ErrorKind kind = ErrorKind::unsupported) {
        EXPECT_THAT([&] { read_encoder(bert_with(changes)); }, refused(what, kind));
    };
    expect({{"model_type", "mpnet"}},
           "model_type is \"mpnet\", expected one of bert, roberta, xlm-roberta, camembert, distilbert, albert");
    expect({{"model_type", nullptr}}, "entry \"model_type\" is missing", ErrorKind::file);
    expect({{"position_embedding_type", "relative_key"}}, "position_embedding_type relative_key is not supported");
    expect({{"is_decoder", true}}, "is_decoder is not supported");
    expect({{"hidden_act", "snake"}}, "activation \"snake\" is not known");
    expect({{"architectures", "BertModel"}}, "entry \"architectures\" must be a list of strings", ErrorKind::file);
    expect({{"num_attention_heads", 5}}, "hidden_size is no multiple of num_attention_heads", ErrorKind::file);
    expect({{"type_vocab_size", -1}}, "entry \"type_vocab_size\" must be a whole number of at least 0, got -1",
           ErrorKind::file);
    expect({{"pad_token_id", 30}}, "pad_token_id is not in the vocabulary", ErrorKind::file);
    expect({{"model_type", "roberta"}, {"pad_token_id", 15}},
           "max_position_embeddings is not more than pad_token_id + 1", ErrorKind::file);
    expect({{"model_type", "albert"}, {"num_hidden_groups", 5}}, "num_hidden_groups is more than num_hidden_layers",
           ErrorKind::file);
    expect({{"model_type", "albert"}, {"inner_group_num", 5000}}, "must be at most 10000", ErrorKind::file);
}

TEST(EncoderConfig, AConfigOfTheCallerIsChecked) {
    const auto fault = [](const std::function<void(EncoderConfig&)>& spoil, const std::string& what) {
        EncoderConfig config;
        spoil(config);
        EXPECT_THAT([&] { encoder_weights(config); }, refused(what, ErrorKind::argument));
        EXPECT_THAT([&] { encoder_graph(config, {}); }, refused(what, ErrorKind::argument));
    };
    fault([](auto& c) { c.token_types = -1; }, "token types must be in 0..2147483648, got -1");
    fault([](auto& c) { c.padding_id = -1; }, "padding id -1 is not in the vocabulary of 30522");
    fault([](auto& c) { c.type = EncoderType::roberta, c.padding_id = 511; },
          "positions must be more than padding id + 1, got 512 and 511");
    fault([](auto& c) { c.embedding_width = 128; }, "they differ for albert alone");
    fault([](auto& c) { c.groups = 2; }, "they differ for albert alone");
    fault([](auto& c) { c.type = EncoderType::albert, c.groups = 13; }, "groups must be at most layers, got 13 and 12");
    fault([](auto& c) { c.type = EncoderType::albert, c.inner_layers = 0; }, "inner layers must be in 1..");
    fault([](auto& c) { c.type = EncoderType::albert, c.layers = 200, c.inner_layers = 51; },
          "layers times inner layers must be at most 10000, got 10200");
    EXPECT_THAT([] { encoder_graph(EncoderConfig(), {}, 0); },
                refused("max_batch must be at least 1", ErrorKind::argument));
}

/// A folder of sentence-transformers.
class SentenceFolder : public testing::Test {
protected:
    SentenceFolder() { std::filesystem::create_directory(folder / "1_Pooling"); }

    EncoderConfig read(const json& modules, const json& pooling) {
        folder.write("modules.json", modules.dump());
        folder.write("1_Pooling/config.json", pooling.dump());
        return EncoderConfig::read(folder.write("config.json", bert_config().dump()));
    }
    void expect(const json& modules, const json& pooling, const std::string& what,
                ErrorKind kind = ErrorKind::unsupported) {
        EXPECT_THAT([&] { read(modules, pooling); }, refused(what, kind));
    }
    static json module(const char* kind, const char* path = "") {
        return {
            {"idx", 0}, {"name", "0"}, {"path", path}, {"type", std::string("sentence_transformers.models.") + kind}};
    }

    const json transformer = module("Transformer"), pools = module("Pooling", "1_Pooling"),
               normalizes = module("Normalize", "2_Normalize"), mean = {{"pooling_mode_mean_tokens", true}};
    const TempFolder folder;
};

TEST_F(SentenceFolder, StatesPoolingNormalizationAndTheLengthOfTexts) {
    const EncoderConfig plain = read({transformer, pools}, mean);
    EXPECT_EQ(plain.head, EncoderHead::pooling);
    EXPECT_EQ(plain.pooling, Pooling::mean);
    EXPECT_FALSE(plain.normalizes);
    EXPECT_EQ(plain.max_tokens, 0);
    folder.write("sentence_bert_config.json", R"({"max_seq_length": 8, "do_lower_case": false})");
    const EncoderConfig first =
        read({transformer, pools, normalizes}, {{"pooling_mode_cls_token", true}, {"pooling_mode_mean_tokens", false}});
    EXPECT_EQ(first.pooling, Pooling::first);
    EXPECT_TRUE(first.normalizes);
    EXPECT_EQ(first.max_tokens, 8);
}

TEST_F(SentenceFolder, OtherModulesAreRefused) {
    expect(json::array({transformer}), mean, "there is no module of kind Pooling");
    expect({pools, transformer}, mean, "the first module is no Transformer");
    expect(json::array(), mean, "the first module is no Transformer");
    expect({transformer, normalizes, pools}, mean, "module 1 is of kind Normalize, expected Pooling, then Normalize");
    expect({transformer, pools, module("Dense", "2_Dense")}, mean, "module 2 is of kind Dense");
    expect({module("Transformer", "0_Transformer"), pools}, mean, "not in the folder itself: 0_Transformer");
    expect({transformer, pools}, {{"pooling_mode_max_tokens", true}}, "pooling_mode_max_tokens is not supported");
    expect({transformer, pools}, json::object(), "pooling_mode_mean_tokens or pooling_mode_cls_token must be true");
    expect({transformer, pools}, {{"pooling_mode_cls_token", true}, {"pooling_mode_mean_tokens", true}}, "only one of");
    expect({transformer, pools}, {{"pooling_mode_mean_tokens", 1}}, "must be true or false", ErrorKind::file);
    for (const json& malformed : {json::object(), json(3), json::array({3}), json::array({{{"type", "Pooling"}}})})
        expect(malformed, mean, "expected a list of modules with type and path", ErrorKind::file);
    folder.write("modules.json", "[");
    EXPECT_THAT([&] { EncoderConfig::read(folder / "config.json"); }, refused("modules.json"));
}

}  // namespace
}  // namespace cairn::models
