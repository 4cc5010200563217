#include "tests/apps/models/tiny_model.hpp"

#include "tests/io/weights/test_files.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace cairn::test {
namespace {

constexpr std::int64_t width = 8, inner = 32, positions = 16;

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::invalid_argument("no file " + path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Small numbers without a pattern that is invariant under transposition.
TinyModel::Tensor made(std::string name, std::vector<std::int64_t> shape) {
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    TinyModel::Tensor tensor{std::move(name), std::move(shape), std::vector<float>(count)};
    for (std::size_t i = 0; i < count; ++i)
        tensor.values[i] = static_cast<float>((i * 7919 + tensor.name.size() * 31) % 101) / 64 - 0.78125f;
    return tensor;
}

void add_linear(TinyModel& model, const std::string& name, std::vector<std::int64_t> shape, std::int64_t outputs) {
    model.tensors.push_back(made(name + ".weight", std::move(shape)));
    model.tensors.push_back(made(name + ".bias", {outputs}));
}

}  // namespace

TinyModel::Tensor& TinyModel::tensor(std::string_view name) {
    const auto found =
        std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& tensor) { return tensor.name == name; });
    if (found == tensors.end()) throw std::invalid_argument("no tensor " + std::string(name));
    return *found;
}

void TinyModel::erase(std::string_view name) { tensors.erase(tensors.begin() + (&tensor(name) - tensors.data())); }

nlohmann::json TinyModel::header() const {
    nlohmann::json header;
    std::size_t offset = 0;
    for (const Tensor& tensor : tensors) {
        const std::size_t end = offset + tensor.values.size() * sizeof(float);
        header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
        offset = end;
    }
    return header;
}

std::string TinyModel::weights(const std::string& header) const {
    std::string data;
    for (const Tensor& tensor : tensors)
        data.append(reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * sizeof(float));
    return safetensors_bytes(header, data);
}

void TinyModel::write(const std::filesystem::path& folder) const {
    std::filesystem::create_directories(folder);
    std::map<std::string, std::string> all = files;
    all.try_emplace("config.json", config.dump());
    all.try_emplace("model.safetensors", weights());
    for (const auto& [name, bytes] : all) std::ofstream(folder / name, std::ios::binary) << bytes;
}

TinyModel tiny_gpt2() {
    TinyModel model;
    model.config = {{"model_type", "gpt2"}, {"vocab_size", 1024}, {"n_positions", positions},
                    {"n_embd", width},      {"n_head", 2},        {"n_layer", 1}};
    model.tensors = {made("transformer.wte.weight", {1024, width}), made("transformer.wpe.weight", {positions, width})};
    const std::string layer = "transformer.h.0.";
    add_linear(model, layer + "ln_1", {width}, width);
    add_linear(model, layer + "attn.c_attn", {width, 3 * width}, 3 * width);
    add_linear(model, layer + "attn.c_proj", {width, width}, width);
    add_linear(model, layer + "ln_2", {width}, width);
    add_linear(model, layer + "mlp.c_fc", {width, inner}, inner);
    add_linear(model, layer + "mlp.c_proj", {inner, width}, width);
    add_linear(model, "transformer.ln_f", {width}, width);
    const std::filesystem::path source = std::string(CAIRN_SOURCE_DIR) + "/examples/models/shakespeare-gpt2";
    for (const char* name : {"vocab.json", "merges.txt"}) model.files[name] = bytes_of(source / name);
    return model;
}

TinyModel tiny_llama() {
    TinyModel model;
    const std::int64_t words = 703;
    model.config = {{"model_type", "llama"},  {"vocab_size", words},        {"max_position_embeddings", 256},
                    {"hidden_size", width},   {"num_attention_heads", 2},   {"num_key_value_heads", 1},
                    {"num_hidden_layers", 1}, {"intermediate_size", inner}, {"rms_norm_eps", 1e-5},
                    {"rope_theta", 10000},    {"hidden_act", "silu"},       {"tie_word_embeddings", true}};
    model.tensors = {made("model.embed_tokens.weight", {words, width}), made("model.norm.weight", {width})};
    const std::string layer = "model.layers.0.";
    const std::pair<const char*, std::vector<std::int64_t>> weights[] = {{"input_layernorm", {width}},
                                                                         {"self_attn.q_proj", {width, width}},
                                                                         {"self_attn.k_proj", {width / 2, width}},
                                                                         {"self_attn.v_proj", {width / 2, width}},
                                                                         {"self_attn.o_proj", {width, width}},
                                                                         {"post_attention_layernorm", {width}},
                                                                         {"mlp.gate_proj", {inner, width}},
                                                                         {"mlp.up_proj", {inner, width}},
                                                                         {"mlp.down_proj", {width, inner}}};
    for (const auto& [name, shape] : weights) model.tensors.push_back(made(layer + name + ".weight", shape));
    const std::filesystem::path source = std::string(CAIRN_SOURCE_DIR) + "/tests/data/transformers5/llama3";
    for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) model.files[name] = bytes_of(source / name);
    model.files["chat_template.jinja"] =
        "{{ bos_token }}{% for message in messages %}{% if message.role == 'wizard' %}{{ raise_exception('no magic') }}"
        "{% endif %}{{ message.role }}: {{ message.content }}<|eot_id|>{% endfor %}"
        "{% if add_generation_prompt %}assistant: {% endif %}";
    return model;
}

TinyModel tiny_distilbert() {
    TinyModel model;
    std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    for (char letter = 'a'; letter <= 'z'; ++letter) vocabulary += std::string(1, letter) + "\n";
    const std::int64_t words = 31;
    model.config = {{"model_type", "distilbert"},
                    {"architectures", {"DistilBertForSequenceClassification"}},
                    {"vocab_size", words},
                    {"max_position_embeddings", positions},
                    {"dim", width},
                    {"n_heads", 2},
                    {"n_layers", 1},
                    {"hidden_dim", inner},
                    {"id2label", {{"0", "NO"}, {"1", "YES"}}}};
    model.tensors = {made("distilbert.embeddings.word_embeddings.weight", {words, width}),
                     made("distilbert.embeddings.position_embeddings.weight", {positions, width})};
    add_linear(model, "distilbert.embeddings.LayerNorm", {width}, width);
    const std::string layer = "distilbert.transformer.layer.0.";
    for (const char* part : {"attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin"})
        add_linear(model, layer + part, {width, width}, width);
    add_linear(model, layer + "sa_layer_norm", {width}, width);
    add_linear(model, layer + "ffn.lin1", {inner, width}, inner);
    add_linear(model, layer + "ffn.lin2", {width, inner}, width);
    add_linear(model, layer + "output_layer_norm", {width}, width);
    add_linear(model, "pre_classifier", {width, width}, width);
    add_linear(model, "classifier", {2, width}, 2);
    model.files["vocab.txt"] = vocabulary;
    return model;
}

}  // namespace cairn::test
