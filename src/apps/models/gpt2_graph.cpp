#include "apps/models/blocks.hpp"
#include "apps/models/config_file.hpp"
#include "cairn/models/gpt2.hpp"

#include <cmath>
#include <optional>

namespace cairn::inline v0::models {
namespace {

std::string block_prefix(std::int64_t layer) { return "transformer.h." + std::to_string(layer) + "."; }

/// Names a value of a layer: `layer 3 attention`.
Tensor named(const Tensor& value, std::int64_t layer, const std::string& what) {
    return name(value, "layer " + std::to_string(layer) + ' ' + what);
}

/// Self-attention over the cache: appends the new keys and values; each query attends to all positions before it.
Tensor self_attention(Graph& g, const Tensor& x, std::int64_t layer, const Dim& past, std::int64_t capacity,
                      const Tensor& key_mask, const Gpt2Config& config, const WeightTable& weight) {
    const std::string name = block_prefix(layer) + "attn.";
    const Tensor qkv = named(linear(x, weight(name + "c_attn.weight"), weight(name + "c_attn.bias")), layer, "qkv");
    const auto part = [&](std::int64_t i) {
        return split_heads(slice(qkv, -1, i * config.width, (i + 1) * config.width), config.heads);
    };
    const std::int64_t head_width = config.width / config.heads;
    const Shape live{x.dim(0), config.heads, past, head_width};
    State keys = g.state("keys." + std::to_string(layer), DType::f32, live, 2, capacity);
    State values = g.state("values." + std::to_string(layer), DType::f32, live, 2, capacity);
    AttentionOptions options;
    options.causal = true;
    options.scale = (config.scale_attention ? 1 / std::sqrt(static_cast<double>(head_width)) : 1) /
                    (config.scale_by_layer ? static_cast<double>(layer + 1) : 1);
    const Tensor all_keys = keys.append(part(1)), all_values = values.append(part(2));
    const Tensor seen = key_mask.empty() ? attention(part(0), all_keys, all_values, options)
                                         : attention(part(0), all_keys, all_values, key_mask, options);
    return linear(merge_heads(named(seen, layer, "attention")), weight(name + "c_proj.weight"),
                  weight(name + "c_proj.bias"));
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

Graph gpt2_graph(const Gpt2Config& config, const std::vector<WeightSpec>& weights, const Gpt2Options& options) {
    check(config);
    const std::int64_t capacity = options.capacity == 0 ? config.positions : options.capacity;
    if (capacity < 1 || capacity > config.positions)
        throw Error(ErrorKind::argument, "gpt2",
                    "capacity must be in 1.." + std::to_string(config.positions) + ", got " + std::to_string(capacity));
    if (options.max_batch < 1) throw Error(ErrorKind::argument, "gpt2", "max_batch must be at least 1");
    if (options.greedy && (options.max_batch > 1 || options.logits != Logits::last))
        throw Error(ErrorKind::argument, "gpt2", "greedy needs one row and the last position's logits");
    Graph g("gpt2");
    const WeightTable weight(g, weights);
    const Dim batch = g.symbol("B", 1, options.max_batch), tokens = g.symbol("T", 1, capacity),
              past = g.symbol("past", 0, capacity - 1);
    Tensor ids = g.input("ids", DType::i32, {batch, tokens});
    std::optional<State> text;
    if (options.greedy) {
        const Dim written = g.symbol("written", 1, capacity);
        text.emplace(g.state("text", DType::i32, {batch, written}, 1, capacity + 1));
        ids = where(ids < 0, slice(text->read(), 1, written - 1, written), ids);
    }
    Tensor position = reshape(iota(g, tokens, DType::i32, past), {1, tokens}), key_mask;
    if (options.max_batch > 1) {
        const Tensor start = reshape(g.input("start", DType::i32, {batch}), {batch, 1});
        position = max(position - start, 0);
        key_mask = reshape(iota(g, past + tokens), {1, past + tokens}) >= start;
    }
    const Tensor table = weight("transformer.wte.weight");
    Tensor x = name(embedding(table, ids) + embedding(weight("transformer.wpe.weight"), position), "embeddings");
    const auto norm = [&](const Tensor& value, const std::string& name) {
        return layer_norm(value, weight(name + ".weight"), weight(name + ".bias"), config.layer_norm_epsilon);
    };
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        const std::string prefix = block_prefix(layer);
        x = named(x + self_attention(g, norm(x, prefix + "ln_1"), layer, past, capacity, key_mask, config, weight),
                  layer, "attention residual");
        const Tensor h = activate(
            config.activation,
            linear(norm(x, prefix + "ln_2"), weight(prefix + "mlp.c_fc.weight"), weight(prefix + "mlp.c_fc.bias")));
        x = x + linear(named(h, layer, "feed-forward hidden"), weight(prefix + "mlp.c_proj.weight"),
                       weight(prefix + "mlp.c_proj.bias"));
        x = named(x, layer, "feed-forward residual");
    }
    if (options.logits == Logits::last) x = reshape(slice(x, 1, tokens - 1, tokens), {batch, config.width});
    x = norm(x, "transformer.ln_f");
    const Tensor head = config.tied ? table : weight("lm_head.weight");
    const Tensor logits = name(linear(x, transpose(head, {1, 0})), "logits");
    if (!text) {
        g.output("logits", logits);
        return g;
    }
    const Tensor next = name(reshape(argmax(logits, -1), {batch, 1}), "next");
    text->append(next);
    g.output("next", next);
    return g;
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
