#include "apps/models/config_file.hpp"

#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <limits>

namespace cairn::models {
namespace {

struct Fault {
    ErrorKind kind;
    std::string message;
};

Fault fault_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) { return {error.kind(), error.what()}; }
    return {ErrorKind::internal, "nothing was thrown"};
}

class ConfigFileTest : public testing::Test {
protected:
    void expect_fault(const std::string& text, ErrorKind kind, const std::string& words) const {
        const auto path = folder.write("config.json", text);
        const Fault fault = fault_of([&] { Gpt2Config::read(path); });
        EXPECT_EQ(fault.kind, kind) << fault.message;
        EXPECT_NE(fault.message.find("[config] " + path.string() + ": " + words), std::string::npos) << fault.message;
    }
    /// A valid file with `entries` added or replaced.
    static std::string gpt2_with(const std::string& entries) {
        auto config = nlohmann::json::parse(sound_gpt2);
        config.update(nlohmann::json::parse("{" + entries + "}"));
        return config.dump();
    }
    static constexpr const char* sound_gpt2 =
        R"({"vocab_size": 8, "n_positions": 4, "n_embd": 6, "n_head": 2, "n_layer": 1})";
    test::TempFolder folder;
};

TEST_F(ConfigFileTest, EntriesAreReadAndAbsentOnesHaveDefaults) {
    const auto path = folder.write(
        "config.json", gpt2_with(R"("n_inner": null, "activation_function": "relu", "scale_attn_weights": false)"));
    const Gpt2Config config = Gpt2Config::read(path);
    EXPECT_EQ(config.vocabulary, 8);
    EXPECT_EQ(config.layers, 1);
    EXPECT_EQ(config.inner, 24);
    EXPECT_EQ(config.activation, "relu");
    EXPECT_FALSE(config.scale_attention);
    EXPECT_TRUE(config.tied);
}

TEST_F(ConfigFileTest, AFileWithoutAnObjectIsRefused) {
    for (const std::string text : {"[1]", "3", "null"}) expect_fault(text, ErrorKind::file, "it is not a JSON object");
    for (const std::string text : {"", "{", "{\"a\": 1} more"})
        expect_fault(text, ErrorKind::file, "it is not valid JSON at byte ");
    expect_fault("\xff", ErrorKind::file, "it is not valid UTF-8 at byte 1");
    const auto expect_text = [&](const std::string& entries, const std::string& words) {
        expect_fault("{" + entries + "}", ErrorKind::file, words);
    };
    expect_text(R"("n_head": 2, "n_head": 1)", "it holds the key 'n_head' twice in one object");
    expect_text(R"("layer_norm_epsilon": 1e999)", "it holds a number beyond the range of a double at byte 28");
    expect_text("\"n_inner\": " + std::string(100'000, '[') + std::string(100'000, ']'),
                "it is nested more than 64 deep");
    for (const auto& path : {folder / "absent.json", folder.path()}) {
        const Fault fault = fault_of([&] { Gpt2Config::read(path); });
        EXPECT_EQ(fault.kind, ErrorKind::file);
        EXPECT_EQ(fault.message, "[config] cannot read " + path.string());
    }
}

TEST_F(ConfigFileTest, WrongEntriesAreNamedWithTheirValue) {
    expect_fault("{}", ErrorKind::file, "entry \"vocab_size\" is missing");
    expect_fault(R"({"vocab_size": -1})", ErrorKind::file, "entry \"vocab_size\" must be a positive integer, got -1");
    expect_fault(R"({"vocab_size": 18446744073709551615})", ErrorKind::file,
                 "entry \"vocab_size\" must be a positive integer, got 18446744073709551615");
    expect_fault(gpt2_with(R"("n_layer": 2000000000)"), ErrorKind::file,
                 "entry \"n_layer\" must be at most 10000, got 2000000000");
    expect_fault(gpt2_with(R"("n_head": 4)"), ErrorKind::file, "n_embd is no multiple of n_head");
    expect_fault(gpt2_with(R"("tie_word_embeddings": "yes")"), ErrorKind::file,
                 "entry \"tie_word_embeddings\" must be true or false, got \"yes\"");
    expect_fault(gpt2_with(R"("layer_norm_epsilon": [])"), ErrorKind::file,
                 "entry \"layer_norm_epsilon\" must be a number of at least 0, got []");
    expect_fault(gpt2_with(R"("layer_norm_epsilon": -1e-5)"), ErrorKind::file,
                 "entry \"layer_norm_epsilon\" must be a number of at least 0, got -1e-05");
    expect_fault(gpt2_with(R"("activation_function": "snake")"), ErrorKind::unsupported,
                 "activation_function \"snake\" is not known; known are gelu_new, gelu_fast, gelu_pytorch_tanh, gelu, "
                 "relu, silu, "
                 "swish, sigmoid");
    expect_fault(gpt2_with(R"("model_type": "llama")"), ErrorKind::unsupported,
                 "model_type is \"llama\", expected gpt2");
}

TEST(Gpt2ConfigTest, ValuesOutOfRangeAreNamed) {
    const auto fault = [](const std::function<void(Gpt2Config&)>& spoil) {
        Gpt2Config config{.vocabulary = 8, .positions = 4, .width = 6, .heads = 2, .layers = 1, .inner = 24};
        spoil(config);
        const Fault weights = fault_of([&] { gpt2_weights(config); });
        EXPECT_EQ(fault_of([&] { gpt2_graph(config, {}); }).message, weights.message);
        EXPECT_EQ(weights.kind, ErrorKind::argument);
        return weights.message;
    };
    EXPECT_EQ(fault([](auto& c) { c.heads = 0; }), "[gpt2] heads must be in 1..2147483648, got 0");
    EXPECT_EQ(fault([](auto& c) { c.layers = 20'000; }), "[gpt2] layers must be in 1..10000, got 20000");
    EXPECT_EQ(fault([](auto& c) { c.heads = 4; }), "[gpt2] width 6 is no multiple of heads 4");
    for (const double epsilon : {-1e-5, std::nan(""), std::numeric_limits<double>::infinity()})
        EXPECT_NE(fault([&](auto& c) {
                      c.layer_norm_epsilon = epsilon;
                  }).find("[gpt2] layer_norm_epsilon must be a finite number of at least 0, got "),
                  std::string::npos);
}

TEST(DistilBertConfigTest, ValuesOutOfRangeAreNamed) {
    const auto fault = [](const std::function<void(EncoderConfig&)>& spoil) {
        EncoderConfig config = EncoderConfig::distilbert_base();
        spoil(config);
        return fault_of([&] { encoder_graph(config, {}); }).message;
    };
    EXPECT_EQ(fault([](auto& c) { c.width = -1; }), "[distilbert] width must be in 1..2147483648, got -1");
    EXPECT_EQ(fault([](auto& c) { c.heads = 7; }), "[distilbert] width 768 is no multiple of heads 7");
    EXPECT_EQ(fault([](auto& c) { c.labels.clear(); }),
              "[distilbert] number of labels must be in 1..2147483648, got 0");
}

TEST_F(ConfigFileTest, LabelsAreNumberedFromZero) {
    const auto labels = [&](const std::string& text) { return ConfigFile(folder.write("labels.json", text)).labels(); };
    EXPECT_EQ(labels(R"({"id2label": {"1": "b", "0": "a"}})"), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(labels(R"({"id2label": {"0": 7, "1": true}, "num_labels": 2})"), (std::vector<std::string>{"7", "true"}));
    for (const std::string text :
         {R"({"id2label": {"1": "a"}})", R"({"id2label": {"0": []}})", R"({"id2label": ["a"]})", R"({"id2label": {}})",
          R"({"id2label": {"0": "a"}, "num_labels": 2})", R"({"num_labels": 0})", R"({"num_labels": "3"})",
          R"({"num_labels": 1000001})"})
        EXPECT_EQ(fault_of([&] { labels(text); }).kind, ErrorKind::file) << text;
}

TEST_F(ConfigFileTest, LabelsWithoutNamesAreNumbered) {
    const auto labels = [&](const std::string& text) { return ConfigFile(folder.write("labels.json", text)).labels(); };
    const std::vector<std::string> three{"LABEL_0", "LABEL_1", "LABEL_2"}, two{"LABEL_0", "LABEL_1"};
    EXPECT_EQ(labels(R"({"num_labels": 3})"), three);
    EXPECT_EQ(labels(R"({"num_labels": 3, "id2label": null})"), three);
    for (const std::string text : {"{}", R"({"num_labels": null})", R"({"label2id": {"a": 0, "b": 1, "c": 2}})"})
        EXPECT_EQ(labels(text), two) << text;
}

TEST_F(ConfigFileTest, GeneralNamesOfSizesAreAccepted) {
    const Gpt2Config gpt2 = Gpt2Config::read(folder.write(
        "config.json",
        R"({"vocab_size": 8, "max_position_embeddings": 4, "hidden_size": 6, "num_attention_heads": 2, "num_hidden_layers": 3})"));
    EXPECT_EQ(std::vector({gpt2.positions, gpt2.width, gpt2.heads, gpt2.layers}),
              (std::vector<std::int64_t>{4, 6, 2, 3}));
    expect_fault(gpt2_with(R"("hidden_size": 12)"), ErrorKind::file,
                 "entry \"n_embd\" is 6, but \"hidden_size\" is 12");
    expect_fault(gpt2_with(R"("n_embd": null, "hidden_size": -1)"), ErrorKind::file,
                 "entry \"hidden_size\" must be a positive integer, got -1");
    const EncoderConfig distilbert = EncoderConfig::read(folder.write(
        "config.json",
        R"({"model_type": "distilbert", "vocab_size": 8, "max_position_embeddings": 4, "hidden_size": 6, "num_attention_heads": 2, "num_hidden_layers": 3, "hidden_dim": 5, "problem_type": "regression"})"));
    EXPECT_EQ(std::vector({distilbert.width, distilbert.heads, distilbert.layers, distilbert.inner}),
              (std::vector<std::int64_t>{6, 2, 3, 5}));
    EXPECT_EQ(distilbert.problem_type, "regression");
}

}  // namespace
}  // namespace cairn::models
