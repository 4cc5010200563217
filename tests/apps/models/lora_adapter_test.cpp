#include "cairn/models/adapters.hpp"

#include "cairn/models/llama.hpp"
#include "tests/apps/models/adapter_folder.hpp"
#include "tests/apps/models/golden.hpp"
#include "tests/apps/models/reference_case.hpp"
#include "tests/io/weights/expect_error.hpp"
#include "tests/io/weights/gguf_bytes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

// Files of adapters, valid and invalid.
namespace cairn::models {
namespace {

using nlohmann::json;
using test::adapter_cases, test::adapter_named, test::adapter_tensors, test::case_named, test::write_adapter;
using test::refused, test::TempFolder;

const json& plain() { return adapter_named(case_named(adapter_cases(), "gpt2"), "plain"); }

/// Reads the adapter `plain` with other entries in its config; null removes one.
LoraAdapter read_with(const json& entries) {
    const TempFolder folder;
    json config = plain()["config"];
    config.update(entries);
    return LoraAdapter(write_adapter(folder, "a", config, adapter_tensors(plain())));
}

TEST(LoraAdapter, ReadsAFolderOfPeft) {
    const LoraAdapter read = read_with(json::object());
    ASSERT_EQ(read.updates().size(), 2U);
    const LoraUpdate& update = read.updates()[1];
    EXPECT_EQ(update.module, "transformer.h.1.attn.c_attn");
    EXPECT_EQ(update.rank, 2);
    EXPECT_EQ(update.in, 24);
    EXPECT_EQ(update.out, 72);
    EXPECT_EQ(update.scale, 1.5);
    EXPECT_EQ(update.a, adapter_tensors(plain())[2].values);
    EXPECT_EQ(update.b, adapter_tensors(plain())[3].values);
}

TEST(LoraAdapter, ScalesFollowTheConfig) {
    EXPECT_EQ(read_with({{"lora_alpha", 5}}).updates()[0].scale, 2.5);
    EXPECT_DOUBLE_EQ(read_with({{"use_rslora", true}}).updates()[0].scale, 3 / std::sqrt(2));
    const json patterns{{"alpha_pattern", {{"^transformer\\.h\\.1.attn.c_attn", 8}}}};
    EXPECT_EQ(read_with(patterns).updates()[0].scale, 1.5);
    EXPECT_EQ(read_with(patterns).updates()[1].scale, 4);
    EXPECT_EQ(read_with({{"alpha_pattern", {{"c_attn", 8}}}}).updates()[0].scale, 4);
    EXPECT_EQ(read_with({{"alpha_pattern", {{"^c_attn", 8}, {"attn", 9}}}}).updates()[0].scale, 1.5);
    EXPECT_EQ(read_with({{"r", 7}, {"rank_pattern", {{"attn.c_attn", 2}}}}).updates()[0].scale, 1.5);
    EXPECT_THAT(
        [] {
            read_with({{"alpha_pattern", {{"c_attn", 8}, {"attn.c_attn", 9}}}});
        },
        refused("several patterns of \"alpha_pattern\" match transformer.h.0.attn.c_attn", ErrorKind::unsupported));
    EXPECT_THAT(
        [] {
            read_with({{"alpha_pattern", {{"h.(0|1).attn.c_attn", 8}}}});
        },
        refused("the pattern \"h.(0|1).attn.c_attn\" is no name of a module", ErrorKind::unsupported));
}

TEST(LoraAdapter, OtherMethodsAreRefusedByName) {
    const auto unsupported = [](const json& entries, const std::string& what) {
        EXPECT_THAT([&] { read_with(entries); }, refused(what, ErrorKind::unsupported)) << entries;
    };
    unsupported({{"peft_type", "IA3"}}, "peft_type is \"IA3\", expected LORA");
    unsupported({{"peft_type", nullptr}}, "peft_type is \"\", expected LORA");
    unsupported({{"use_dora", true}}, "DoRA (use_dora) is not supported");
    unsupported({{"bias", "lora_only"}}, "bias is \"lora_only\", expected none");
    unsupported({{"lora_bias", true}}, "biases of adapters (lora_bias) is not supported");
    unsupported({{"trainable_token_indices", {1, 2}}}, "trained tokens (trainable_token_indices) is not supported");
    unsupported({{"init_lora_weights", "pissa_niter_4"}}, "init_lora_weights is \"pissa_niter_4\"");
    EXPECT_EQ(read_with({{"init_lora_weights", "gaussian"}, {"target_parameters", json::array()}}).rank(), 2);
}

TEST(LoraAdapter, DamagedFoldersAreRefused) {
    const TempFolder folder;
    const auto fault = [&](const std::vector<test::AdapterTensor>& tensors, const std::string& what,
                           ErrorKind kind = ErrorKind::file, json config = plain()["config"]) {
        const auto path = write_adapter(folder, "damaged", config, tensors);
        EXPECT_THAT([&] { LoraAdapter read(path); }, refused(what, kind));
    };
    std::vector<test::AdapterTensor> tensors = adapter_tensors(plain());
    const auto without = [&](std::vector<std::size_t> left_out) {
        std::vector<test::AdapterTensor> rest;
        for (std::size_t i = 0; i < tensors.size(); ++i)
            if (std::ranges::find(left_out, i) == left_out.end()) rest.push_back(tensors[i]);
        return rest;
    };
    fault(without({0, 3}),
          "transformer.h.0.attn.c_attn.lora_A.weight is missing; "
          "transformer.h.1.attn.c_attn.lora_B.weight is missing");
    fault(without({0, 1, 2, 3}), "it changes no module");
    json config = plain()["config"];
    config["r"] = 3;
    fault(tensors, "transformer.h.0.attn.c_attn has lora_A [2,24] and lora_B [72,2], but the config's rank is 3",
          ErrorKind::file, config);
    config["r"] = 0;
    fault(tensors, "entry \"r\" must be a positive integer, got 0", ErrorKind::file, config);
    config["r"] = 2;
    config["lora_alpha"] = "high";
    fault(tensors, "entry \"lora_alpha\" must be a number of at least 0", ErrorKind::file, config);
    config = plain()["config"];
    config["rank_pattern"] = {{"c_attn", "two"}};
    fault(tensors, "entry \"rank_pattern\" must have numbers of at least 0", ErrorKind::file, config);
    config = plain()["config"];
    config["lora_alpha"] = 1e300;
    fault(tensors, "transformer.h.0.attn.c_attn has a scale that is not finite", ErrorKind::file, config);
    tensors[1].values[5] = NAN;
    tensors[2].values[0] = INFINITY;
    fault(tensors,
          "transformer.h.0.attn.c_attn has an element that is not finite; "
          "transformer.h.1.attn.c_attn has an element that is not finite");
    tensors = adapter_tensors(plain());
    tensors[0].name = "base_model.model.transformer.wte.lora_embedding_A";
    fault(tensors, "an adapter of an embedding (transformer.wte) is not supported", ErrorKind::unsupported);
    tensors[0].name = "base_model.model.transformer.h.0.attn.c_attn.lora_magnitude_vector.weight";
    fault(tensors, "lora_magnitude_vector.weight is not supported", ErrorKind::unsupported);
    EXPECT_THAT([&] { LoraAdapter read(folder / "nowhere"); }, refused("cannot read"));
    std::filesystem::remove(folder / "damaged/adapter_model.safetensors");
    EXPECT_THAT([&] { LoraAdapter read(folder / "damaged"); }, refused("adapter_model.safetensors"));
}

/// A GGUF file of the adapter `attention` of the case llama, with interleaved rows as its architecture has them.
std::string gguf_adapter(double alpha, const std::vector<std::string>& left_out = {},
                         const std::string& architecture = "llama") {
    test::GgufBytes file;
    file.text("general.type", "adapter");
    file.text("general.architecture", architecture);
    file.text("adapter.type", "lora");
    file.key("adapter.lora.alpha", 6, test::GgufBytes::raw(static_cast<float>(alpha)));
    std::string data;
    for (test::AdapterTensor& tensor :
         adapter_tensors(adapter_named(case_named(adapter_cases(), "llama"), "attention"))) {
        const bool is_b = tensor.name.ends_with("lora_B.weight"),
                   is_query = tensor.name.find("q_proj") != std::string::npos;
        const std::string layer = tensor.name.substr(tensor.name.find("layers.") + 7, 1);
        const std::string name =
            "blk." + layer + (is_query ? ".attn_q" : ".attn_v") + ".weight.lora_" + (is_b ? 'b' : 'a');
        if (std::ranges::find(left_out, name) != left_out.end()) continue;
        std::vector<float> stored = tensor.values;
        const std::size_t rank = static_cast<std::size_t>(tensor.shape[1]), width = 4;
        for (std::size_t row = 0; is_b && is_query && architecture == "llama" && row < stored.size() / rank; ++row) {
            const std::size_t at = row % width, from = row - at + at % 2 * (width / 2) + at / 2;
            std::copy_n(tensor.values.begin() + static_cast<std::ptrdiff_t>(from * rank), rank,
                        stored.begin() + static_cast<std::ptrdiff_t>(row * rank));
        }
        file.tensor(name, {tensor.shape.rbegin(), tensor.shape.rend()}, 0, data.size());
        data.append(reinterpret_cast<const char*>(stored.data()), stored.size() * sizeof(float));
        data.append((32 - data.size() % 32) % 32, '\0');
    }
    return file.bytes(data);
}

TEST(LoraAdapter, ReadsAFileOfLlamaCpp) {
    const TempFolder folder;
    const json& reference = case_named(adapter_cases(), "llama");
    const LlamaConfig config = LlamaConfig::read(folder.write("config.json", reference["config"].dump()));
    const std::vector<WeightSpec> tensors = test::tensors_of(reference), weights = llama_weights(config);
    for (const char* architecture : {"llama", "qwen2"}) {
        const auto path = folder.write("a.gguf", gguf_adapter(8, {}, architecture));
        EXPECT_EQ(LoraAdapter(path).updates().size(), 6U);
        for (const AdapterForm form : {AdapterForm::exchanged, AdapterForm::merged}) {
            Llama model(config, weights, test::reference_source(tensors, weights), Context(),
                        {.logits = Logits::all, .capacity = 16, .adapters = {{{"a", path}}, form}});
            EXPECT_LE(test::relative_difference(model.forward(reference["ids"].get<std::vector<std::int32_t>>()),
                                                adapter_named(reference, "attention")["output"]),
                      6e-6)
                << architecture;
        }
    }
    EXPECT_EQ(LoraAdapter(folder.write("b.gguf", gguf_adapter(0))).updates()[0].scale, 1) << "as llama.cpp does";
    const auto fault = [&](const std::string& bytes, const std::string& what, ErrorKind kind = ErrorKind::file) {
        const auto path = folder.write("c.gguf", bytes);
        EXPECT_THAT([&] { LoraAdapter read(path); }, refused(what, kind));
    };
    fault(gguf_adapter(8, {"blk.0.attn_q.weight.lora_b", "blk.2.attn_v.weight.lora_a"}),
          "blk.0.attn_q.weight.lora_b is missing; blk.2.attn_v.weight.lora_a is missing");
    fault(gguf_adapter(INFINITY), "blk.0.attn_q has a scale that is not finite");
    test::GgufBytes other;
    other.text("general.architecture", "llama");
    fault(other.bytes(""), "general.type is absent, expected adapter", ErrorKind::unsupported);
}

TEST(LoraAdapter, UpdatesOfTheCallerAreChecked) {
    const LoraUpdate good{.module = "m", .rank = 1, .in = 2, .out = 3, .scale = 2, .a = {1, 2}, .b = {1, 2, 3}};
    EXPECT_EQ(LoraAdapter("own", {good}).rank(), 1);
    const auto fault = [&](const auto& spoil, const std::string& what) {
        LoraUpdate update = good;
        spoil(update);
        EXPECT_THAT(([&] { LoraAdapter("own", {update}); }), refused(what, ErrorKind::argument));
    };
    fault([](auto& u) { u.a.pop_back(); }, "own: m has other elements than a [1,2] and b [3,1]");
    fault([](auto& u) { u.rank = 0; }, "m has other elements than a [0,2] and b [3,0]");
    fault([](auto& u) { u.rank = -1; }, "m has other elements");
    fault([](auto& u) { u.scale = NAN; }, "m has a scale that is not finite");
    fault([](auto& u) { u.b[1] = INFINITY; }, "m has an element that is not finite");
    EXPECT_THAT(([&] { LoraAdapter("own", {good, good}); }), refused("m is named twice", ErrorKind::argument));
    EXPECT_THAT(([&] { LoraAdapter("own", {}); }), refused("own: it changes no module", ErrorKind::argument));
}

}  // namespace
}  // namespace cairn::models
