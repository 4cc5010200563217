#include "cairn/models/llama.hpp"
#include "tests/apps/models/golden.hpp"
#include "tests/apps/models/reference_case.hpp"
#include "tests/io/weights/expect_error.hpp"
#include "tests/io/weights/gguf_bytes.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

/// The models of tests/golden/decoder_cases.json as GGUF files.
namespace cairn::models {
namespace {

using nlohmann::json;
using test::case_named, test::decoder_cases;
using test::GgufBytes, test::TempFolder;

/// The rows of each head as files of the architecture llama store them: 0 D/2 1 D/2+1 ...
std::vector<float> interleaved(const std::vector<float>& values, std::int64_t rows, std::int64_t heads) {
    const auto count = static_cast<std::size_t>(rows), length = values.size() / count,
               width = count / static_cast<std::size_t>(heads);
    std::vector<float> stored;
    for (std::size_t row = 0; row < count; ++row) {
        const std::size_t at = row % width, from = row / width * width + at % 2 * (width / 2) + at / 2;
        stored.insert(stored.end(), values.begin() + static_cast<std::ptrdiff_t>(from * length),
                      values.begin() + static_cast<std::ptrdiff_t>((from + 1) * length));
    }
    return stored;
}

struct GgufModel {
    LlamaConfig config;
    GgufBytes file;
    std::string data;

    void add(const std::string& name, const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
        file.tensor(name, {shape.rbegin(), shape.rend()}, 0, data.size());
        data.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
        data.append((32 - data.size() % 32) % 32, '\0');
    }
    std::string bytes() { return file.bytes(data); }
};

GgufModel gguf_model(const std::string& name, const std::string& architecture) {
    const json& c = case_named(decoder_cases(), name);
    GgufModel model;
    {
        const TempFolder folder;
        model.config = LlamaConfig::read(folder.write("config.json", c["config"].dump()));
    }
    const LlamaConfig& config = model.config;
    model.file.text("general.architecture", architecture);
    const auto u32 = [&](const char* key, std::int64_t value) {
        model.file.u32(architecture + '.' + key, static_cast<std::uint32_t>(value));
    };
    const auto number = [&](const char* key, double value) {
        model.file.key(architecture + '.' + key, 6, GgufBytes::raw(static_cast<float>(value)));
    };
    u32("context_length", config.positions);
    u32("embedding_length", config.width);
    u32("feed_forward_length", config.inner);
    u32("block_count", config.layers);
    u32("attention.head_count", config.heads);
    u32("attention.head_count_kv", config.key_heads);
    u32("attention.key_length", config.head_width);
    u32("attention.value_length", config.head_width);
    number("attention.layer_norm_rms_epsilon", config.norm_epsilon);
    number("rope.freq_base", config.rope_base);
    const bool is_interleaved = architecture == "llama";
    const std::vector<WeightSpec> tensors = test::tensors_of(c), weights = llama_weights(config);
    const WeightSource source = test::reference_source(tensors, weights);
    for (const WeightSpec& spec : weights) {
        const InputView view = source(spec.name);
        std::vector<float> values = *static_cast<std::vector<float>*>(view.owner);
        view.release(view.owner);
        if (is_interleaved && spec.heads > 0) values = interleaved(values, spec.shape[0], spec.heads);
        model.add(gguf_name(spec.name, llama_gguf_names(config, is_interleaved)), spec.shape, values);
    }
    return model;
}

/// The relative difference of a model's logits from those of the reference.
double fault_of_logits(const std::filesystem::path& path, const json& c) {
    Llama model = Llama::load(path, Context({.threads = 1}), {.logits = Logits::all, .capacity = 16});
    return test::relative_difference(model.forward(c["ids"].get<std::vector<std::int32_t>>()), c["logits"]);
}

TEST(LlamaGguf, ComputesTheLogitsOfTheReference) {
    const TempFolder folder;
    for (const auto& [name, architecture] :
         {std::pair("llama", "llama"), {"llama_tied", "llama"}, {"qwen2", "qwen2"}, {"qwen3", "qwen3"}}) {
        GgufModel model = gguf_model(name, architecture);
        EXPECT_LE(fault_of_logits(folder.write("m.gguf", model.bytes()), case_named(decoder_cases(), name)), 1e-5)
            << name;
    }
}

TEST(LlamaGguf, RotaryScalingIsRead) {
    const TempFolder folder;
    GgufModel scaled = gguf_model("llama_scaled", "llama");
    scaled.add("rope_freqs.weight", {2}, {scaled.config.rope_factors.begin(), scaled.config.rope_factors.end()});
    EXPECT_LE(fault_of_logits(folder.write("m.gguf", scaled.bytes()), case_named(decoder_cases(), "llama_scaled")),
              1e-5);
    GgufModel linear = gguf_model("llama_linear", "llama");
    linear.file.text("llama.rope.scaling.type", "linear").key("llama.rope.scaling.factor", 6, GgufBytes::raw(2.5F));
    EXPECT_LE(fault_of_logits(folder.write("n.gguf", linear.bytes()), case_named(decoder_cases(), "llama_linear")),
              1e-5);
}

TEST(LlamaGguf, GemmaHasWindowsNormsAndScalesOfItsOwn) {
    const TempFolder folder;
    GgufModel model = gguf_model("gemma3", "gemma3");
    model.file.u32("gemma3.attention.sliding_window", 4);
    const auto path = folder.write("m.gguf", model.bytes());
    const LlamaConfig config = LlamaConfig::of_model(path);
    EXPECT_FALSE(config.norms_add_one) << "the file holds 1 + w";
    EXPECT_TRUE(config.has_head_norms && config.has_post_norms && config.tied);
    EXPECT_DOUBLE_EQ(config.embedding_scale, std::sqrt(24.0));
    EXPECT_EQ(config.is_local, (std::vector<bool>{true, true, true})) << "each sixth layer sees all";
    EXPECT_EQ(config.window, 4);
    EXPECT_EQ(config.local_rope_base, 10000);
    EXPECT_EQ(config.activation, "gelu_pytorch_tanh");
    Llama loaded = Llama::load(path, Context({.threads = 1}), {.capacity = 8});
    EXPECT_EQ(loaded.forward(std::vector<std::int32_t>{3, 1}).size(), 50U);
}

TEST(LlamaGguf, WhatIsNotSupportedIsNamed) {
    const auto expect = [](const std::string& what, ErrorKind kind, const auto& change) {
        const TempFolder folder;
        GgufModel model = gguf_model("llama", "llama");
        change(model);
        const auto path = folder.write("m.gguf", model.bytes());
        EXPECT_THAT([&] { LlamaConfig::of_model(path); }, test::refused(what, kind));
    };
    expect("a mixture of experts is not supported", ErrorKind::unsupported,
           [](GgufModel& m) { m.file.u32("llama.expert_count", 8); });
    expect("rotary scaling of type yarn is not supported", ErrorKind::unsupported,
           [](GgufModel& m) { m.file.text("llama.rope.scaling.type", "yarn"); });
    expect("heads of keys, of values and their rotated part must have one width", ErrorKind::unsupported,
           [](GgufModel& m) { m.file.u32("llama.rope.dimension_count", 2); });
    expect("rope_freqs.weight is no vector of f32", ErrorKind::file, [](GgufModel& m) {
        m.add("rope_freqs.weight", {1, 2}, {1, 1});
    });
    const TempFolder folder;
    const auto gpt2 = folder.write("x.gguf", GgufBytes().text("general.architecture", "gpt2").bytes());
    EXPECT_THAT(
        [&] { Llama::load(gpt2, Context()); },
        test::refused("the architecture is gpt2, expected one of llama, qwen2, qwen3, gemma3", ErrorKind::unsupported));
}

}  // namespace
}  // namespace cairn::models
