#include "apps/models/blocks.hpp"
#include "apps/models/config_file.hpp"
#include "cairn/models/distilbert.hpp"

namespace cairn::inline v0::models {
namespace {

// Constant in the reference implementation; not in config.json.
constexpr double layer_norm_epsilon = 1e-12;

std::string layer_prefix(std::int64_t layer) { return "distilbert.transformer.layer." + std::to_string(layer) + "."; }

/// A projection with a weight stored [out, in].
Tensor project(const Tensor& x, const std::string& name, const WeightTable& weight) {
    return linear(x, transpose(weight(name + ".weight"), {1, 0}), weight(name + ".bias"));
}

Tensor norm(const Tensor& x, const std::string& name, const WeightTable& weight) {
    return layer_norm(x, weight(name + ".weight"), weight(name + ".bias"), layer_norm_epsilon);
}

/// A config filled in by the caller may contain anything.
void check(const DistilBertConfig& config) {
    check_sizes("distilbert", {{"vocabulary", config.vocabulary},
                               {"positions", config.positions},
                               {"width", config.width},
                               {"heads", config.heads},
                               {"layers", config.layers},
                               {"inner", config.inner},
                               {"number of labels", static_cast<std::int64_t>(config.labels.size())}});
    check_heads("distilbert", config.width, config.heads);
}

}  // namespace

std::vector<WeightSpec> distilbert_weights(const DistilBertConfig& config) {
    check(config);
    const std::int64_t c = config.width;
    std::vector<WeightSpec> weights{{"distilbert.embeddings.word_embeddings.weight", {config.vocabulary, c}},
                                    {"distilbert.embeddings.position_embeddings.weight", {config.positions, c}}};
    const auto add = [&](const std::string& name, std::vector<std::int64_t> shape) {
        weights.push_back({name + ".weight", shape});
        weights.push_back({name + ".bias", {shape.front()}});
    };
    add("distilbert.embeddings.LayerNorm", {c});
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        const std::string prefix = layer_prefix(layer);
        for (const char* part : {"attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin"})
            add(prefix + part, {c, c});
        add(prefix + "sa_layer_norm", {c});
        add(prefix + "ffn.lin1", {config.inner, c});
        add(prefix + "ffn.lin2", {c, config.inner});
        add(prefix + "output_layer_norm", {c});
    }
    add("pre_classifier", {c, c});
    add("classifier", {static_cast<std::int64_t>(config.labels.size()), c});
    return weights;
}

Graph distilbert_graph(const DistilBertConfig& config, const std::vector<WeightSpec>& weights, std::int64_t max_batch) {
    check(config);
    if (max_batch < 1) throw Error(ErrorKind::argument, "distilbert", "max_batch must be at least 1");
    Graph g("distilbert");
    const WeightTable weight(g, weights);
    const Dim batch = g.symbol("B", 1, max_batch), length = g.symbol("S", 1, config.positions);
    const Tensor ids = g.input("ids", DType::i32, {batch, length}),
                 mask = g.input("mask", DType::boolean, {batch, length});
    const Tensor words = embedding(weight("distilbert.embeddings.word_embeddings.weight"), ids);
    const Tensor position_rows = slice(weight("distilbert.embeddings.position_embeddings.weight"), 0, 0, length);
    Tensor x = name(norm(words + position_rows, "distilbert.embeddings.LayerNorm", weight), "embeddings");
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        const std::string prefix = layer_prefix(layer), own = "layer " + std::to_string(layer) + ' ';
        const auto head = [&](const char* part) {
            return split_heads(project(x, prefix + "attention." + part, weight), config.heads);
        };
        const Tensor seen = name(attention(head("q_lin"), head("k_lin"), head("v_lin"), mask), own + "attention");
        x = norm(project(merge_heads(seen), prefix + "attention.out_lin", weight) + x, prefix + "sa_layer_norm",
                 weight);
        x = name(x, own + "attention norm");
        const Tensor h =
            name(activate(config.activation, project(x, prefix + "ffn.lin1", weight)), own + "feed-forward hidden");
        x = norm(project(h, prefix + "ffn.lin2", weight) + x, prefix + "output_layer_norm", weight);
        x = name(x, own + "feed-forward norm");
    }
    const Tensor first = reshape(slice(x, 1, 0, 1), {batch, config.width});
    g.output("logits", name(project(relu(project(first, "pre_classifier", weight)), "classifier", weight), "logits"));
    return g;
}

DistilBertConfig DistilBertConfig::read(const std::filesystem::path& config_json) {
    const ConfigFile file(config_json);
    if (const std::string type = file.text("model_type", "distilbert"); type != "distilbert")
        file.unsupported("model_type is \"" + type + "\", expected distilbert");
    DistilBertConfig config;
    config.vocabulary = file.size("vocab_size");
    config.positions = file.size("max_position_embeddings");
    config.width = file.size({"dim", "hidden_size"});
    config.heads = file.size({"n_heads", "num_attention_heads"});
    config.layers = file.layers({"n_layers", "num_hidden_layers"});
    config.inner = file.size("hidden_dim");
    config.activation = file.text("activation", "gelu");
    config.labels = file.labels();
    config.problem_type = file.text("problem_type", "");
    if (config.width % config.heads != 0) file.fail("dim is no multiple of n_heads");
    if (const std::string fault = activation_fault(config.activation); !fault.empty())
        file.unsupported("activation " + fault);
    return config;
}

}  // namespace cairn::inline v0::models
