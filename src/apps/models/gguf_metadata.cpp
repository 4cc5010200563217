#include "apps/models/gguf_names.hpp"
#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"

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
    if (file.has("tokenizer.ggml.merges")) vocabulary.merges = file.texts("tokenizer.ggml.merges");
    vocabulary.bos = id("tokenizer.ggml.bos_token_id");
    vocabulary.eos = id("tokenizer.ggml.eos_token_id");
    vocabulary.unk = id("tokenizer.ggml.unknown_token_id");
    vocabulary.sep = id("tokenizer.ggml.seperator_token_id");
    vocabulary.pad = id("tokenizer.ggml.padding_token_id");
    vocabulary.cls = id("tokenizer.ggml.cls_token_id");
    vocabulary.mask = id("tokenizer.ggml.mask_token_id");
    const auto flag = [&](const char* key) { return file.has(key) && file.flag(key); };
    vocabulary.add_bos = flag("tokenizer.ggml.add_bos_token");
    vocabulary.add_eos = flag("tokenizer.ggml.add_eos_token");
    return vocabulary;
}

std::unique_ptr<text::Tokenizer> model_tokenizer(const std::filesystem::path& model) {
    return is_gguf(model) ? text::make_tokenizer(gguf_vocabulary(Gguf::open(model))) : text::load_tokenizer(model);
}

}  // namespace cairn::inline v0::models
