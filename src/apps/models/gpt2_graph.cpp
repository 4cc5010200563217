#include "apps/models/blocks.hpp"
#include "apps/models/config_file.hpp"
#include "apps/models/decoder_graph.hpp"
#include "apps/models/gpt2_modules.hpp"
#include "cairn/models/gpt2.hpp"

#include <cmath>

namespace cairn::inline v0::models {
namespace {

std::string block_prefix(std::int64_t layer) { return "transformer.h." + std::to_string(layer) + "."; }

/// Names a value of a layer: `layer 3 attention`.
Tensor named(const Tensor& value, std::int64_t layer, const std::string& what) {
    return name(value, "layer " + std::to_string(layer) + ' ' + what);
}

/// Self-attention over the cache, and its output projection.
Tensor self_attention(DecoderGraph& decoder, const Tensor& x, std::int64_t layer, const Gpt2Config& config,
                      const WeightTable& weight) {
    const std::string name = block_prefix(layer) + "attn.";
    const Tensor qkv = named(weight.project(x, name + "c_attn", MatrixOrder::in_out), layer, "qkv");
    const auto part = [&](std::int64_t i) {
        return split_heads(slice(qkv, -1, i * config.width, (i + 1) * config.width), config.heads);
    };
    AttentionOptions options;
    const auto head_width = static_cast<double>(config.width / config.heads);
    options.scale = (config.scale_attention ? 1 / std::sqrt(head_width) : 1) /
                    (config.scale_by_layer ? static_cast<double>(layer + 1) : 1);
    const Tensor seen = decoder.attend(layer, part(0), part(1), part(2), options);
    return weight.project(merge_heads(named(seen, layer, "attention")), name + "c_proj", MatrixOrder::in_out);
}

/// A config filled in by the caller may contain anything.
void check(const Gpt2Config& config) {
    check_sizes("gpt2", {{"vocabulary", config.vocabulary},
                         {"positions", config.positions},
                         {"width", config.width},
                         {"heads", config.heads},
                         {"layers", config.layers},
                         {"inner", config.inner}});
    check_heads("gpt2", config.width, config.heads);
    if (!(config.layer_norm_epsilon >= 0) || std::isinf(config.layer_norm_epsilon))
        throw Error(ErrorKind::argument, "gpt2",
                    "layer_norm_epsilon must be a finite number of at least 0, got " +
                        std::to_string(config.layer_norm_epsilon));
}

}  // namespace

std::vector<WeightSpec> gpt2_weights(const Gpt2Config& config) {
    check(config);
    const std::int64_t c = config.width, inner = config.inner;
    std::vector<WeightSpec> weights{{"transformer.wte.weight", {config.vocabulary, c}},
                                    {"transformer.wpe.weight", {config.positions, c}}};
    const auto add = [&](const std::string& name, std::vector<std::int64_t> shape) {
        weights.push_back({name + ".weight", shape});
        weights.push_back({name + ".bias", {shape.back()}});
    };
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        const std::string prefix = block_prefix(layer);
        add(prefix + "ln_1", {c});
        add(prefix + "attn.c_attn", {c, 3 * c});
        add(prefix + "attn.c_proj", {c, c});
        add(prefix + "ln_2", {c});
        add(prefix + "mlp.c_fc", {c, inner});
        add(prefix + "mlp.c_proj", {inner, c});
    }
    add("transformer.ln_f", {c});
    if (config.tied)
        weights.front().tied_names = {"lm_head.weight"};
    else
        weights.push_back({"lm_head.weight", {config.vocabulary, c}});
    return weights;
}

Graph gpt2_graph(const Gpt2Config& config, const std::vector<WeightSpec>& weights, const DecoderOptions& options,
                 AdapterBank& adapters) {
    check(config);
    DecoderGraph decoder("gpt2", config.positions, options);
    adapters.begin(decoder.graph(), decoder.ids().dim(0));
    const WeightTable weight(decoder.graph(), weights, &adapters);
    const Tensor table = weight("transformer.wte.weight");
    Tensor x = name(embedding(table, decoder.ids()) + embedding(weight("transformer.wpe.weight"), decoder.positions()),
                    "embeddings");
    const auto norm = [&](const Tensor& value, const std::string& name) {
        return layer_norm(value, weight(name + ".weight"), weight(name + ".bias"), config.layer_norm_epsilon);
    };
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        const std::string prefix = block_prefix(layer);
        x = named(x + self_attention(decoder, norm(x, prefix + "ln_1"), layer, config, weight), layer,
                  "attention residual");
        const Tensor h = activate(config.activation,
                                  weight.project(norm(x, prefix + "ln_2"), prefix + "mlp.c_fc", MatrixOrder::in_out));
        x = x + weight.project(named(h, layer, "feed-forward hidden"), prefix + "mlp.c_proj", MatrixOrder::in_out);
        x = named(x, layer, "feed-forward residual");
    }
    x = norm(decoder.with_logits(x), "transformer.ln_f");
    const Tensor logits = weight.product(x, "lm_head", config.tied ? "transformer.wte.weight" : "lm_head.weight");
    adapters.end(weights);
    return decoder.finished(logits);
}

Graph gpt2_graph(const Gpt2Config& config, const std::vector<WeightSpec>& weights, const DecoderOptions& options) {
    AdapterBank adapters(gpt2_modules(), options.adapters);
    return gpt2_graph(config, weights, options, adapters);
}

Gpt2Config Gpt2Config::read(const std::filesystem::path& config_json) {
    const ConfigFile file(config_json);
    if (const std::string type = file.text("model_type", "gpt2"); type != "gpt2")
        file.unsupported("model_type is \"" + type + "\", expected gpt2");
    Gpt2Config config;
    config.vocabulary = file.size("vocab_size");
    config.positions = file.size({"n_positions", "max_position_embeddings"});
    config.width = file.size({"n_embd", "hidden_size"});
    config.heads = file.size({"n_head", "num_attention_heads"});
    config.layers = file.layers({"n_layer", "num_hidden_layers"});
    config.inner = file.size("n_inner", 4 * config.width);
    config.layer_norm_epsilon = file.number("layer_norm_epsilon", 1e-5);
    config.activation = file.text("activation_function", "gelu_new");
    config.scale_attention = file.flag("scale_attn_weights", true);
    config.scale_by_layer = file.flag("scale_attn_by_inverse_layer_idx", false);
    config.tied = file.flag("tie_word_embeddings", true);
    if (config.width % config.heads != 0) file.fail("n_embd is no multiple of n_head");
    if (const std::string fault = activation_fault(config.activation); !fault.empty())
        file.unsupported("activation_function " + fault);
    if (file.flag("add_cross_attention", false)) file.unsupported("cross attention is not supported");
    return config;
}

}  // namespace cairn::inline v0::models
