#include "tests/apps/models/tiny_model.hpp"
#include "tests/examples/run_program.hpp"
#include "tests/io/weights/test_files.hpp"

#include <functional>
#include <limits>

/// Model folders that are incomplete, damaged or inconsistent.
namespace cairn::test {
namespace {

using nlohmann::json;

struct Damage {
    std::function<void(TinyModel&)> make;
    std::vector<std::string> words;
};

class WrongModelFolder : public testing::Test {
protected:
    /// Writes a damaged copy of `model` and expects the program to refuse it.
    void refuse(const std::string& program, TinyModel model, const Damage& damage, const std::string& text = "ab") {
        const std::filesystem::path folder = temp / std::to_string(++made_);
        damage.make(model);
        model.write(folder);
        std::vector<std::string> arguments{"--model",       folder.string(), "--mode", "off",
                                           "--no-progress", "--threads",     "1"};
        if (program == CAIRN_GPT2) arguments.insert(arguments.end(), {"--tokens", "2", "--prompt"});
        arguments.push_back(text);
        EXPECT_TRUE(refuses(run(program, arguments), damage.words));
    }
    void refuse_both(const std::function<void(TinyModel&)>& make, const std::vector<std::string>& words) {
        refuse(CAIRN_GPT2, tiny_gpt2(), {make, words});
        refuse(CAIRN_DISTILBERT, tiny_distilbert(), {make, words});
    }
    TempFolder temp;

private:
    int made_ = 0;
};

TEST_F(WrongModelFolder, TheTinyModelsAreValid) {
    tiny_gpt2().write(temp / "gpt2");
    tiny_distilbert().write(temp / "distilbert");
    const std::vector<std::string> common{"--mode", "off", "--no-progress", "--threads", "1", "--model"};
    std::vector<std::string> gpt2 = common, distilbert = common;
    gpt2.insert(gpt2.end(), {(temp / "gpt2").string(), "--prompt", "ab", "--tokens", "2"});
    distilbert.insert(distilbert.end(), {(temp / "distilbert").string(), "a b"});
    const Outcome text = run(CAIRN_GPT2, gpt2), label = run(CAIRN_DISTILBERT, distilbert);
    EXPECT_TRUE(succeeds(text));
    EXPECT_TRUE(text.out.starts_with("ab")) << text.out;
    EXPECT_TRUE(succeeds(label));
    EXPECT_TRUE(label.out.starts_with("NO ") || label.out.starts_with("YES ")) << label.out;
}

TEST_F(WrongModelFolder, InvalidConfigs) {
    const auto config_text = [](const std::string& text) {
        return [text](TinyModel& model) { model.files["config.json"] = text; };
    };
    for (const std::string text : {"", "{"})
        refuse_both(config_text(text), {"config.json: it is not valid JSON at byte "});
    for (const std::string text : {"[]", "null"})
        refuse_both(config_text(text), {"config.json: it is not a JSON object"});
    for (const std::string text : {"\xff\xfe", "{\"a\": \"\xff\"}"})
        refuse_both(config_text(text), {"config.json: it is not valid UTF-8 at byte "});
    refuse_both(config_text("{\"vocab_size\": 1e999}"),
                {"config.json: it holds a number beyond the range of a double"});
    refuse_both(config_text(std::string(1 << 20, '[')), {"config.json: it is nested more than 64 deep"});
    refuse_both(config_text("{}"), {"config.json: entry \"", "\" is missing"});
    tiny_gpt2().write(temp / "a");
    const std::vector<std::string> arguments{"--model", (temp / "a").string(), "--prompt", "a", "--tokens", "1"};
    std::filesystem::remove(temp / "a" / "config.json");
    EXPECT_TRUE(refuses(run(CAIRN_GPT2, arguments), {"[config] cannot read", "a/config.json"}));
    std::filesystem::create_directory(temp / "a" / "config.json");
    EXPECT_TRUE(refuses(run(CAIRN_GPT2, arguments), {"[config] cannot read", "a/config.json"}));
}

TEST_F(WrongModelFolder, ConfigsOfAnotherModel) {
    const auto entry = [](const char* key, const json& value) {
        return [=](TinyModel& model) { model.config[key] = value; };
    };
    refuse_both(entry("model_type", "llama"), {"model_type is \"llama\""});
    refuse_both(entry("model_type", 2), {"\"model_type\" must be a string, got 2"});
    for (const json& value : {json(0), json(-1), json(1.5), json("31"), json(1e30),
                              json(std::numeric_limits<std::uint64_t>::max()), json(true)})
        refuse_both(entry("vocab_size", value), {"\"vocab_size\" must be a positive integer, got " + value.dump()});
    refuse_both(entry("vocab_size", nullptr), {"\"vocab_size\" is missing"});
    refuse_both(entry("vocab_size", 2000000000), {"2000000000"});
    const auto gpt2 = [&](const char* key, const json& value, std::vector<std::string> words) {
        refuse(CAIRN_GPT2, tiny_gpt2(), {entry(key, value), std::move(words)});
    };
    const auto distilbert = [&](const char* key, const json& value, std::vector<std::string> words) {
        refuse(CAIRN_DISTILBERT, tiny_distilbert(), {entry(key, value), std::move(words)});
    };
    gpt2("n_head", 3, {"n_embd is no multiple of n_head"});
    gpt2("n_layer", 2, {"transformer.h.1.ln_1.weight is missing", "transformer.h.1.mlp.c_proj.bias is missing"});
    gpt2("n_layer", 2000000000, {"2000000000"});
    gpt2("n_positions", 17, {"transformer.wpe.weight is [16,8], expected [17,8]"});
    gpt2("n_inner", 8, {"transformer.h.0.mlp.c_fc.weight is [8,32], expected [8,8]"});
    gpt2("activation_function", "snake", {"\"snake\" is not known"});
    gpt2("layer_norm_epsilon", "small", {"\"layer_norm_epsilon\" must be a number"});
    gpt2("scale_attn_weights", 1, {"\"scale_attn_weights\" must be true or false"});
    gpt2("add_cross_attention", true, {"cross attention is not supported"});
    gpt2("tie_word_embeddings", false, {"lm_head.weight is missing"});
    distilbert("n_heads", 3, {"dim is no multiple of n_heads"});
    distilbert("n_layers", 2000000000, {"2000000000"});
    distilbert("activation", "snake", {"\"snake\" is not known"});
    distilbert("id2label", json::array({"NO", "YES"}), {"\"id2label\" must be an object"});
    distilbert("id2label", {{"1", "NO"}, {"2", "YES"}}, {"\"id2label\" must name labels 0 to 1"});
    distilbert("id2label", {{"0", "NO"}, {"1", "YES"}, {"2", "MAYBE"}}, {"classifier.weight is [2,8], expected [3,8]"});
}

TEST_F(WrongModelFolder, TokenizerFiles) {
    const auto without = [](const char* name) { return [=](TinyModel& model) { model.files.erase(name); }; };
    const auto with = [](const char* name, const std::string& text) {
        return [=](TinyModel& model) { model.files[name] = text; };
    };
    refuse(CAIRN_GPT2, tiny_gpt2(), {without("merges.txt"), {"merges.txt", "the file is missing"}});
    refuse(CAIRN_GPT2, tiny_gpt2(), {without("vocab.json"), {"vocab.json", "the file is missing"}});
    refuse(CAIRN_GPT2, tiny_gpt2(), {with("vocab.json", "{\"a\": 0"), {"vocab.json"}});
    refuse(CAIRN_GPT2, tiny_gpt2(), {with("tokenizer.json", "{}"), {"tokenizer.json"}});
    refuse(CAIRN_GPT2, tiny_gpt2(), {with("tokenizer_config.json", "[]"), {"tokenizer_config.json"}});
    refuse(CAIRN_DISTILBERT, tiny_distilbert(), {without("vocab.txt"), {"vocab.txt, got none of them"}});
    refuse(CAIRN_DISTILBERT, tiny_distilbert(), {with("vocab.txt", ""), {"vocab.txt"}});
    const auto longer = [](TinyModel& model) { model.files["vocab.txt"] += "more\n"; };
    refuse(CAIRN_DISTILBERT, tiny_distilbert(), {longer, {"token id 31 is not in the vocabulary of 31"}}, "more");
}

TEST_F(WrongModelFolder, TruncatedWeights) {
    const std::string whole = tiny_gpt2().weights();
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{100}, whole.size() / 2, whole.size() - 1})
        refuse(
            CAIRN_GPT2, tiny_gpt2(),
            {[&](TinyModel& model) { model.files["model.safetensors"] = whole.substr(0, size); }, {"[safetensors]"}});
    refuse_both([](TinyModel& model) { model.files["model.safetensors"] = model.weights() + "more"; },
                {"the file has"});
    tiny_gpt2().write(temp / "none");
    std::filesystem::remove(temp / "none" / "model.safetensors");
    EXPECT_TRUE(refuses(run(CAIRN_GPT2, {"--model", (temp / "none").string(), "--prompt", "a", "--tokens", "1"}),
                        {"neither model.safetensors nor"}));
    std::filesystem::create_directory(temp / "none" / "model.safetensors");
    EXPECT_TRUE(refuses(run(CAIRN_GPT2, {"--model", (temp / "none").string(), "--prompt", "a", "--tokens", "1"}),
                        {"is not a regular file"}));
}

TEST_F(WrongModelFolder, InconsistentWeightHeaders) {
    constexpr const char* name = "model.safetensors";
    for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40, ~std::uint64_t{0}})
        refuse_both(
            [=](TinyModel& model) {
                std::string bytes = model.weights();
                for (int i = 0; i < 8; ++i) bytes[static_cast<std::size_t>(i)] = static_cast<char>(length >> (8 * i));
                model.files[name] = bytes;
            },
            {"[safetensors]"});
    const auto header_with = [&](const std::string& tensor, const char* key, const json& value) {
        return [=](TinyModel& model) {
            json header = model.header();
            header[tensor][key] = value;
            model.files[name] = model.weights(header.dump());
        };
    };
    const std::string wpe = "transformer.wpe.weight";
    const auto gpt2 = [&](const char* key, const json& value, std::vector<std::string> words) {
        refuse(CAIRN_GPT2, tiny_gpt2(), {header_with(wpe, key, value), std::move(words)});
    };
    gpt2("data_offsets", {0, 512}, {"without hole or overlap"});
    gpt2("data_offsets", {32768, 1 << 30}, {wpe});
    gpt2("data_offsets", {33280, 32768}, {"without hole or overlap"});
    gpt2("shape", {16, 9}, {wpe, "its shape needs 576 bytes"});
    gpt2("shape", {16, -8}, {wpe});
    gpt2("shape", {std::int64_t{1} << 62, 8}, {wpe});
    gpt2("dtype", "F33", {wpe, "F33"});
    gpt2("dtype", "I32", {wpe + " is stored as I32, expected F32, F16, BF16 or F64"});
    refuse_both([](TinyModel& model) { model.files[name] = model.weights("{\"a\": "); }, {"[safetensors]"});
}

TEST_F(WrongModelFolder, MissingAndMisshapenTensorsAreAllNamed) {
    const auto damage = [](TinyModel& model) {
        model.erase("transformer.h.0.ln_1.bias");
        model.erase("transformer.h.0.mlp.c_fc.weight");
        model.tensor("transformer.h.0.attn.c_proj.weight").shape = {4, 16};
        model.tensor("transformer.ln_f.bias").shape = {8, 1};
    };
    refuse(CAIRN_GPT2, tiny_gpt2(),
           {damage,
            {"transformer.h.0.ln_1.bias is missing", "transformer.h.0.mlp.c_fc.weight is missing",
             "transformer.h.0.attn.c_proj.weight is [4,16], expected [8,8]",
             "transformer.ln_f.bias is [8,1], expected [8]"}});
    const auto all_but_one = [](TinyModel& model) {
        model.tensors.erase(model.tensors.begin(), model.tensors.end() - 1);
    };
    refuse(CAIRN_DISTILBERT, tiny_distilbert(),
           {all_but_one, {"distilbert.embeddings.word_embeddings.weight is missing", "classifier.weight is missing"}});
}

TEST_F(WrongModelFolder, NonFiniteWeights) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        const auto in = [bad](const char* tensor) {
            return [=](TinyModel& model) { model.tensor(tensor).values[0] = bad; };
        };
        refuse(CAIRN_GPT2, tiny_gpt2(), {in("transformer.ln_f.bias"), {"weights are damaged"}});
        refuse(CAIRN_DISTILBERT, tiny_distilbert(), {in("classifier.bias"), {"weights are damaged"}}, "a");
    }
}

}  // namespace
}  // namespace cairn::test
