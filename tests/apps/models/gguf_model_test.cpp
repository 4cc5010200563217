#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"
#include "graph/types/half.hpp"
#include "tests/apps/models/golden.hpp"
#include "tests/io/weights/expect_error.hpp"
#include "tests/io/weights/gguf_bytes.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

/// Models in one GGUF file beside the same models in folders.
namespace cairn::models {
namespace {

using test::GgufBytes, test::TempFolder;

enum : std::uint32_t { f32 = 0, q8_0 = 8, i32 = 26 };

/// A matrix, row by row.
struct Matrix {
    std::vector<std::int64_t> shape;
    std::vector<float> values;
    std::uint32_t type = f32;
};

bool is_transposed(const std::string& name, std::span<const GgufName> names) {
    return std::ranges::any_of(names, [&](const GgufName& row) {
        return row.is_transposed && name.ends_with(row.name.substr(row.name.find('#') + 1));
    });
}

/// The tensors of a folder, as f32, under the names and in the order of axes of GGUF files.
std::map<std::string, Matrix> tensors_of(const std::filesystem::path& folder, const std::vector<WeightSpec>& weights,
                                         const std::string& prefix, std::span<const GgufName> names) {
    const Safetensors file = Safetensors::open(folder);
    std::map<std::string, Matrix> tensors;
    for (const WeightSpec& spec : weights) {
        const InputView view = file.view(name_in_file(spec, file, prefix));
        Matrix stored{view.shape, {}};
        std::size_t count = 1;
        for (const std::int64_t size : view.shape) count *= static_cast<std::size_t>(size);
        for (std::size_t i = 0; i < count; ++i)
            stored.values.push_back(view.dtype == DType::f16
                                        ? types::f16_to_f32(static_cast<const std::uint16_t*>(view.data)[i])
                                        : static_cast<const float*>(view.data)[i]);
        if (is_transposed(spec.name, names)) {
            Matrix turned{{view.shape[1], view.shape[0]}, {}};
            for (std::int64_t column = 0; column < view.shape[1]; ++column)
                for (std::int64_t row = 0; row < view.shape[0]; ++row)
                    turned.values.push_back(stored.values[static_cast<std::size_t>(row * view.shape[1] + column)]);
            stored = std::move(turned);
        }
        tensors[gguf_name(spec.name, names)] = std::move(stored);
        if (view.release != nullptr) view.release(view.owner);
    }
    return tensors;
}

/// Blocks of q8_0, and in place of the values what they mean.
std::string quantized(Matrix& matrix) {
    std::string bytes;
    for (std::size_t begin = 0; begin < matrix.values.size(); begin += 32) {
        float largest = 0;
        for (std::size_t i = 0; i < 32; ++i) largest = std::max(largest, std::abs(matrix.values[begin + i]));
        const std::uint16_t scale = types::f32_to_f16(largest / 127);
        bytes += GgufBytes::raw(scale);
        for (std::size_t i = 0; i < 32; ++i) {
            const float unit = types::f16_to_f32(scale);
            const auto code = static_cast<std::int8_t>(unit == 0 ? 0 : std::lrint(matrix.values[begin + i] / unit));
            bytes += static_cast<char>(code);
            matrix.values[begin + i] = unit * static_cast<float>(code);
        }
    }
    return bytes;
}

/// Adds tensors to a file and returns its bytes. Matrices whose rows are whole blocks are quantized if asked for.
std::string with_tensors(GgufBytes& file, std::map<std::string, Matrix>& tensors, bool is_quantized) {
    std::string data;
    for (auto& [name, matrix] : tensors) {
        const bool in_blocks = is_quantized && matrix.shape.size() == 2 && matrix.shape[1] % 32 == 0;
        file.tensor(name, {matrix.shape.rbegin(), matrix.shape.rend()}, in_blocks ? q8_0 : matrix.type, data.size());
        data += in_blocks ? quantized(matrix)
                          : std::string(reinterpret_cast<const char*>(matrix.values.data()), matrix.values.size() * 4);
        data.append((32 - data.size() % 32) % 32, '\0');
    }
    return file.bytes(data);
}

GgufBytes gpt2_head(const Gpt2Config& config) {
    GgufBytes file;
    const auto size = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
    file.text("general.architecture", "gpt2").u32("gpt2.context_length", size(config.positions));
    file.u32("gpt2.embedding_length", size(config.width)).u32("gpt2.feed_forward_length", size(config.inner));
    file.u32("gpt2.block_count", size(config.layers)).u32("gpt2.attention.head_count", size(config.heads));
    return file.key("gpt2.attention.layer_norm_epsilon", 6, GgufBytes::raw(static_cast<float>(1e-5)));
}

std::vector<float> logits_of(Gpt2& model) {
    const std::vector<std::int32_t> ids{5, 17, 300, 2};
    std::span<const float> logits = model.forward(ids);
    std::vector<float> all(logits.begin(), logits.end());
    logits = model.forward({ids.data(), 1});
    all.insert(all.end(), logits.begin(), logits.end());
    return all;
}

double difference(const std::vector<float>& a, const std::vector<float>& b) {
    EXPECT_EQ(a.size(), b.size());
    double most = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        const double here = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
        if (!(here <= most)) most = here;  // NaN is a difference
    }
    return most;
}

using Tensors = std::map<std::string, Matrix>;

/// A source of the numbers that a file means, under the names of Hugging Face.
WeightSource source_of(const Tensors& tensors, std::span<const GgufName> names) {
    return [&tensors, names](std::string_view name) {
        const Matrix& matrix = tensors.at(gguf_name(std::string(name), names));
        InputView view;
        view.data = matrix.values.data(), view.shape = matrix.shape;
        return view;
    };
}

std::vector<WeightSpec> as_stored(std::vector<WeightSpec> weights, std::span<const GgufName> names) {
    for (WeightSpec& spec : weights) spec.is_transposed = is_transposed(spec.name, names);
    return weights;
}

TEST(GgufModels, Gpt2ComputesTheLogitsOfItsFolder) {
    const std::filesystem::path folder = test::model_folder("shakespeare-gpt2");
    const Gpt2Config config = Gpt2Config::read(folder / "config.json");
    const std::vector<WeightSpec> weights = gpt2_weights(config);
    const TempFolder temporary;
    for (const bool is_quantized : {false, true}) {
        Tensors tensors = tensors_of(folder, weights, "transformer.", gpt2_gguf_names());
        GgufBytes head = gpt2_head(config);
        const auto path = temporary.write("m.gguf", with_tensors(head, tensors, is_quantized));
        Gpt2 found = Gpt2::load(path, Context(), {}, {}, temporary / "cache");
        EXPECT_EQ(found.config().vocabulary, config.vocabulary);
        EXPECT_EQ(found.config().inner, config.inner);
        EXPECT_TRUE(found.config().tied);
        Gpt2 meant(config, as_stored(weights, gpt2_gguf_names()), source_of(tensors, gpt2_gguf_names()), Context());
        const std::vector<float> logits = logits_of(found);
        EXPECT_LT(difference(logits, logits_of(meant)), 2e-5) << is_quantized;
        Gpt2 original = Gpt2::load(folder, Context());
        EXPECT_LT(difference(logits, logits_of(original)), is_quantized ? 0.5 : 2e-5);
        Gpt2 again = Gpt2::load(path, Context(), {}, {}, temporary / "cache");
        EXPECT_EQ(logits_of(again), logits) << "from the cache";
    }
}

TEST(GgufModels, Gpt2MayHaveAnOutputOfItsOwn) {
    const std::filesystem::path folder = test::model_folder("shakespeare-gpt2");
    Gpt2Config config = Gpt2Config::read(folder / "config.json");
    Tensors tensors = tensors_of(folder, gpt2_weights(config), "transformer.", gpt2_gguf_names());
    tensors["output.weight"] = tensors.at("token_embd.weight");
    for (float& value : tensors.at("output.weight").values) value *= 2;
    GgufBytes head = gpt2_head(config);
    const TempFolder temporary;
    Gpt2 found = Gpt2::load(temporary.write("m.gguf", with_tensors(head, tensors, false)), Context());
    EXPECT_FALSE(found.config().tied);
    Gpt2 original = Gpt2::load(folder, Context());
    std::vector<float> wanted = logits_of(original);
    for (float& value : wanted) value *= 2;
    EXPECT_LT(difference(logits_of(found), wanted), 4e-5);
}

TEST(GgufModels, DistilBertComputesTheLogitsOfItsFolder) {
    const std::filesystem::path folder = test::model_folder("sst2-distilbert");
    const EncoderConfig config = EncoderConfig::read(folder / "config.json");
    Tensors tensors =
        tensors_of(folder, encoder_weights(config), "distilbert.", encoder_gguf_names(EncoderType::distilbert));
    const auto size = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
    GgufBytes head;
    head.text("general.architecture", "bert").u32("bert.context_length", size(config.positions));
    head.u32("bert.embedding_length", size(config.width)).u32("bert.feed_forward_length", size(config.inner));
    head.u32("bert.block_count", size(config.layers)).u32("bert.attention.head_count", size(config.heads));
    head.key("bert.attention.layer_norm_epsilon", 6, GgufBytes::raw(1e-12F));
    std::string labels;
    for (const std::string& label : config.labels) labels += GgufBytes::string(label);
    head.array("bert.classifier.output_labels", 8, config.labels.size(), labels);
    const TempFolder temporary;
    Encoder found = Encoder::load(temporary.write("m.gguf", with_tensors(head, tensors, false)), Context(),
                                  {.max_batch = 1}),
            original = Encoder::load(folder, Context(), {.max_batch = 1});
    EXPECT_EQ(found.config().labels, config.labels);
    const std::vector<std::int32_t> ids{101, 45, 7, 230, 12, 99, 102};
    const std::span<const float> a = found.forward(ids), b = original.forward(ids);
    EXPECT_LT(difference({a.begin(), a.end()}, {b.begin(), b.end()}), 2e-5);
}

TEST(GgufModels, WhatIsWrongIsSaid) {
    const TempFolder temporary;
    Gpt2Config config;
    config.vocabulary = 10, config.positions = 4, config.width = 8, config.heads = 2, config.layers = 1;
    config.inner = 32;
    const auto fault = [&](const std::string& text, const std::function<void(GgufBytes&, Tensors&)>& damage,
                           ErrorKind kind = ErrorKind::file) {
        Tensors tensors;
        for (const WeightSpec& spec : gpt2_weights(config)) {
            std::vector<std::int64_t> shape = spec.shape;
            if (is_transposed(spec.name, gpt2_gguf_names())) std::reverse(shape.begin(), shape.end());
            std::size_t count = 1;
            for (const std::int64_t each : shape) count *= static_cast<std::size_t>(each);
            tensors[gguf_name(spec.name, gpt2_gguf_names())] = {shape, std::vector<float>(count, 0.5F)};
        }
        GgufBytes head = gpt2_head(config);
        damage(head, tensors);
        const auto path = temporary.write("m.gguf", with_tensors(head, tensors, false));
        EXPECT_THAT([&] { Gpt2::load(path, Context()); }, test::refused(text, kind));
        EXPECT_THAT([&] { Encoder::load(path, Context()); },
                    test::refused("the architecture is gpt2, expected bert", ErrorKind::unsupported));
    };
    fault("blk.0.ffn_up.weight is missing; the nearest to blk.0.ffn_up.weight are",
          [](GgufBytes&, Tensors& tensors) { tensors.erase("blk.0.ffn_up.weight"); });
    fault("blk.0.attn_qkv.weight is [8,24], expected [24,8]",
          [](GgufBytes&, Tensors& tensors) { std::ranges::reverse(tensors.at("blk.0.attn_qkv.weight").shape); });
    fault("there is no matrix token_embd.weight",
          [](GgufBytes&, Tensors& tensors) { tensors.erase("token_embd.weight"); });
    fault("position_embd.weight is stored as I32, expected floats or blocks",
          [](GgufBytes&, Tensors& tensors) { tensors.at("position_embd.weight").type = i32; });
    const auto llama = temporary.write("x.gguf", GgufBytes().text("general.architecture", "llama").bytes());
    EXPECT_THAT([&] { Gpt2::load(llama, Context()); },
                test::refused("the architecture is llama, expected gpt2", ErrorKind::unsupported));
    EXPECT_THAT([&] { Gpt2::load(temporary.write("x.gguf", GgufBytes().u32("k", 1).bytes()), Context()); },
                test::refused("there is no key 'general.architecture'"));
    EXPECT_THAT([&] { Gpt2::load(temporary / "none.gguf", Context()); }, test::refused("cannot be opened"));
}

TEST(GgufModels, TheVocabularyIsRead) {
    GgufBytes file;
    file.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "gpt-2").u32("tokenizer.ggml.bos_token_id", 1);
    file.array("tokenizer.ggml.tokens", 8, 2, GgufBytes::string("a") + GgufBytes::string("<e>"));
    file.array("tokenizer.ggml.token_type", 5, 2, GgufBytes::raw(1) + GgufBytes::raw(3));
    file.array("tokenizer.ggml.merges", 8, 1, GgufBytes::string("a b")).key("tokenizer.ggml.add_bos_token", 7, "\x01");
    const TempFolder temporary;
    const text::GgufVocabulary vocabulary = gguf_vocabulary(Gguf::open(temporary.write("m.gguf", file.bytes())));
    EXPECT_EQ(vocabulary.model, "gpt2");
    EXPECT_EQ(vocabulary.pre, "gpt-2");
    EXPECT_THAT(vocabulary.tokens, testing::ElementsAre("a", "<e>"));
    EXPECT_THAT(vocabulary.types, testing::ElementsAre(1, 3));
    EXPECT_THAT(vocabulary.merges, testing::ElementsAre("a b"));
    EXPECT_EQ(vocabulary.bos, 1);
    EXPECT_EQ(vocabulary.eos, std::nullopt);
    EXPECT_TRUE(vocabulary.add_bos);
    EXPECT_FALSE(vocabulary.add_eos);
    EXPECT_THAT([&] { gguf_vocabulary(Gguf::open(temporary.write("n.gguf", GgufBytes().u32("k", 1).bytes()))); },
                test::refused("there is no key 'tokenizer.ggml.model'"));
}

}  // namespace
}  // namespace cairn::models
