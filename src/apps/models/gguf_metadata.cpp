#include "apps/models/blocks.hpp"
#include "apps/models/model_file.hpp"
#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"
#include "cairn/models/llama.hpp"

#include <cmath>
#include <optional>

/// Configurations and the tokenizer from the metadata of GGUF files.
namespace cairn::inline v0::models {
namespace {

/// Requires the architecture, under whose name the model's keys are.
void need_architecture(const Gguf& file, const std::string& wanted) {
    const std::string found = file.text("general.architecture");
    if (found != wanted)
        throw Error(ErrorKind::unsupported, "gguf",
                    file.path().string() + ": the architecture is " + found + ", expected " + wanted);
}

/// The rows of the table of tokens.
std::int64_t vocabulary_of(const Gguf& file) {
    for (const Gguf::Tensor& tensor : file.tensors())
        if (tensor.name == "token_embd.weight" && tensor.shape.size() == 2) return tensor.shape[0];
    throw Error(ErrorKind::file, "gguf", file.path().string() + ": there is no matrix token_embd.weight");
}

/// The rows of the table of token types; 0 if there is none.
std::int64_t token_types_of(const Gguf& file) {
    for (const Gguf::Tensor& tensor : file.tensors())
        if (tensor.name == "token_types.weight" && !tensor.shape.empty())
            return tensor.shape.size() == 1 ? 1 : tensor.shape[0];
    return 0;
}

/// The elements of a tensor of f32.
std::vector<double> floats_of(const Gguf& file, const std::string& name) {
    const InputView view = file.view(name);
    std::vector<double> values;
    if (view.dtype == DType::f32 && view.shape.size() == 1)
        values.assign(static_cast<const float*>(view.data), static_cast<const float*>(view.data) + view.shape[0]);
    if (view.release != nullptr) view.release(view.owner);
    if (values.empty())
        throw Error(ErrorKind::file, "gguf", file.path().string() + ": " + name + " is no vector of f32");
    return values;
}

/// The sizes that every transformer has, from the keys under its architecture's name.
template <typename Config>
Config sizes_of(const Gguf& file, const std::string& architecture) {
    Config config;
    config.vocabulary = vocabulary_of(file);
    config.positions = file.integer(architecture + ".context_length");
    config.width = file.integer(architecture + ".embedding_length");
    config.heads = file.integer(architecture + ".attention.head_count");
    config.layers = file.integer(architecture + ".block_count");
    return config;
}

}  // namespace

Gpt2Config Gpt2Config::read(const Gguf& file) {
    need_architecture(file, "gpt2");
    auto config = sizes_of<Gpt2Config>(file, "gpt2");
    config.inner = file.has("gpt2.feed_forward_length") ? file.integer("gpt2.feed_forward_length") : 4 * config.width;
    config.layer_norm_epsilon = file.number("gpt2.attention.layer_norm_epsilon");
    config.tied = !file.contains("output.weight");
    return config;
}

EncoderConfig EncoderConfig::read(const Gguf& file) {
    need_architecture(file, "bert");
    const auto unsupported = [&](const std::string& what) {
        throw Error(ErrorKind::unsupported, "gguf", file.path().string() + ": " + what);
    };
    auto config = sizes_of<EncoderConfig>(file, "bert");
    config.inner = file.integer("bert.feed_forward_length");
    config.layer_norm_epsilon = file.number("bert.attention.layer_norm_epsilon");
    config.token_types = token_types_of(file);
    if (file.has("tokenizer.ggml.padding_token_id"))
        config.padding_id = static_cast<std::int32_t>(file.integer("tokenizer.ggml.padding_token_id"));
    if (file.contains("cls.output.weight")) {
        if (config.token_types != 0)
            unsupported("a classifier is supported without token types only, as of DistilBERT");
        config.type = EncoderType::distilbert;
        config.head = EncoderHead::sequence;
        if (file.has("bert.classifier.output_labels")) config.labels = file.texts("bert.classifier.output_labels");
        return config;
    }
    // llama.cpp's numbers: 0 none, 1 mean, 2 first token, 3 last token, 4 rank.
    const std::int64_t pooling = file.has("bert.pooling_type") ? file.integer("bert.pooling_type") : 0;
    if (pooling < 0 || pooling > 2) unsupported("bert.pooling_type " + std::to_string(pooling) + " is not supported");
    config.head = pooling == 0 ? EncoderHead::none : EncoderHead::pooling;
    config.pooling = pooling == 2 ? Pooling::first : Pooling::mean;
    config.normalizes = pooling != 0;
    return config;
}

LlamaConfig LlamaConfig::read(const Gguf& file) {
    const std::string architecture = file.text("general.architecture");
    const bool is_gemma = architecture == "gemma3", is_qwen2 = architecture == "qwen2",
               is_qwen3 = architecture == "qwen3";
    const auto unsupported = [&](const std::string& what) {
        throw Error(ErrorKind::unsupported, "gguf", file.path().string() + ": " + what);
    };
    if (!is_gemma && !is_qwen2 && !is_qwen3 && architecture != "llama")
        unsupported("the architecture is " + architecture + ", expected one of llama, qwen2, qwen3, gemma3");
    const auto key = [&](const char* name) { return architecture + '.' + name; };
    const auto integer = [&](const char* name, std::int64_t otherwise) {
        return file.has(key(name)) ? file.integer(key(name)) : otherwise;
    };
    const auto number = [&](const char* name, double otherwise) {
        return file.has(key(name)) ? file.number(key(name)) : otherwise;
    };
    auto config = sizes_of<LlamaConfig>(file, architecture);
    check_sizes(architecture, {{"heads", config.heads}, {"layers", config.layers}});
    config.key_heads = integer("attention.head_count_kv", config.heads);
    config.head_width = integer("attention.key_length", config.width / config.heads);
    config.inner = file.integer(key("feed_forward_length"));
    config.norm_epsilon = file.number(key("attention.layer_norm_rms_epsilon"));
    config.tied = !file.contains("output.weight");
    config.has_qkv_bias = file.contains("blk.0.attn_q.bias");
    config.has_output_bias = file.contains("blk.0.attn_output.bias");
    config.has_head_norms = is_gemma || is_qwen3;
    config.has_post_norms = is_gemma;
    config.rope_base = number("rope.freq_base", 10000);
    if (integer("expert_count", 0) != 0) unsupported("a mixture of experts is not supported");
    if (integer("attention.value_length", config.head_width) != config.head_width ||
        integer("rope.dimension_count", config.head_width) != config.head_width)
        unsupported("heads of keys, of values and their rotated part must have one width");
    const std::string scaling = file.has(key("rope.scaling.type")) ? file.text(key("rope.scaling.type")) : "none";
    if (scaling != "none" && scaling != "linear")
        unsupported("rotary scaling of type " + scaling + " is not supported");
    if (file.contains("rope_freqs.weight")) config.rope_factors = floats_of(file, "rope_freqs.weight");
    if (scaling == "linear")
        config.rope_factors.assign(static_cast<std::size_t>(config.head_width / 2), number("rope.scaling.factor", 1));
    if (!is_gemma) return config;
    config.activation = "gelu_pytorch_tanh";
    config.embedding_scale = std::sqrt(static_cast<double>(config.width));
    // llama.cpp knows the model of 27 billion parameters, whose scale is not that of its heads, by its layers.
    if (config.layers == 62)
        config.attention_scale = std::sqrt(static_cast<double>(config.heads) / static_cast<double>(config.width));
    config.window = integer("attention.sliding_window", 512);
    config.local_rope_base = number("rope.freq_base_swa", 10000);
    for (std::int64_t layer = 0; layer < config.layers; ++layer) config.is_local.push_back((layer + 1) % 6 != 0);
    return config;
}

Gpt2Config Gpt2Config::of_model(const std::filesystem::path& model) {
    return is_gguf(model) ? read(Gguf::open(model)) : read(model / "config.json");
}

text::GgufVocabulary gguf_vocabulary(const Gguf& file) {
    const auto id = [&](const char* key) {
        return file.has(key) ? std::optional(file.integer(key)) : std::optional<std::int64_t>();
    };
    text::GgufVocabulary vocabulary;
    vocabulary.source = file.path().string();
    vocabulary.model = file.text("tokenizer.ggml.model");
    if (file.has("tokenizer.ggml.pre")) vocabulary.pre = file.text("tokenizer.ggml.pre");
    vocabulary.tokens = file.texts("tokenizer.ggml.tokens");
    if (file.has("tokenizer.ggml.token_type")) vocabulary.types = file.integers("tokenizer.ggml.token_type");
    if (file.has("tokenizer.ggml.scores")) vocabulary.scores = file.numbers("tokenizer.ggml.scores");
    if (file.has("tokenizer.ggml.merges")) vocabulary.merges = file.texts("tokenizer.ggml.merges");
    vocabulary.bos = id("tokenizer.ggml.bos_token_id");
    vocabulary.eos = id("tokenizer.ggml.eos_token_id");
    vocabulary.unk = id("tokenizer.ggml.unknown_token_id");
    vocabulary.sep = id("tokenizer.ggml.seperator_token_id");
    vocabulary.pad = id("tokenizer.ggml.padding_token_id");
    vocabulary.cls = id("tokenizer.ggml.cls_token_id");
    vocabulary.mask = id("tokenizer.ggml.mask_token_id");
    const auto flag = [&](const char* key) {
        return file.has(key) ? std::optional(file.flag(key)) : std::optional<bool>();
    };
    vocabulary.add_bos = flag("tokenizer.ggml.add_bos_token");
    vocabulary.add_eos = flag("tokenizer.ggml.add_eos_token");
    vocabulary.add_space_prefix = flag("tokenizer.ggml.add_space_prefix").value_or(true);
    return vocabulary;
}

std::unique_ptr<text::Tokenizer> model_tokenizer(const std::filesystem::path& model) {
    return is_gguf(model) ? text::make_tokenizer(gguf_vocabulary(Gguf::open(model))) : text::load_tokenizer(model);
}

text::ChatTemplate model_chat_template(const std::filesystem::path& model, const text::Tokenizer& tokenizer) {
    if (!is_gguf(model)) return text::load_chat_template(model, tokenizer);
    return {Gguf::open(model).text("tokenizer.chat_template"), tokenizer};
}

}  // namespace cairn::inline v0::models
