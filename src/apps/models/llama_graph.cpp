#include "apps/models/blocks.hpp"
#include "apps/models/decoder_graph.hpp"
#include "apps/models/llama_check.hpp"
#include "apps/models/llama_modules.hpp"

#include <cmath>

namespace cairn::inline v0::models {
namespace {

std::string layer_prefix(std::int64_t layer) { return "model.layers." + std::to_string(layer) + '.'; }

/// The frequencies of a rotary embedding: base^(-2i/D) by its factor, for each pair of D elements.
std::vector<double> frequencies(double base, std::int64_t head_width, const std::vector<double>& factors) {
    std::vector<double> result;
    for (std::int64_t i = 0; i < head_width / 2; ++i) {
        const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(head_width);
        result.push_back(std::pow(base, exponent) / (factors.empty() ? 1 : factors[static_cast<std::size_t>(i)]));
    }
    return result;
}

class LlamaBuilder {
public:
    LlamaBuilder(const LlamaConfig& config, const std::vector<WeightSpec>& weights, DecoderGraph& decoder,
                 AdapterBank& adapters)
        : config_(config),
          decoder_(decoder),
          weight_(decoder.graph(), weights, &adapters),
          all_(frequencies(config.rope_base, config.head_width, config.rope_factors)),
          local_(frequencies(config.local_rope_base, config.head_width, {})) {}

    Tensor logits() {
        const Tensor table = weight_("model.embed_tokens.weight");
        Tensor x = embedding(table, decoder_.ids());
        if (config_.embedding_scale != 1) x = x * config_.embedding_scale;
        x = name(x, "embeddings");
        for (std::int64_t layer = 0; layer < config_.layers; ++layer) x = decoder_layer(x, layer);
        x = norm(decoder_.with_logits(x), "model.norm");
        return weight_.product(x, "lm_head", config_.tied ? "model.embed_tokens.weight" : "lm_head.weight");
    }

private:
    Tensor norm(const Tensor& x, const std::string& name) const {
        const Tensor weight = weight_(name + ".weight");
        return rms_norm(x, config_.norms_add_one ? weight + 1 : weight, config_.norm_epsilon);
    }

    /// Heads [B,heads,T,D] of a projection; with the norm and the rotation that queries and keys have.
    Tensor heads(const Tensor& x, const std::string& prefix, char part, std::int64_t count, bool is_local) const {
        Tensor y = split_heads(weight_.project(x, prefix + part + "_proj"), count);
        if (part == 'v') return y;
        if (config_.has_head_norms) y = norm(y, prefix + part + "_norm");
        const Tensor& positions = decoder_.positions();
        return rope(y, reshape(positions, {positions.dim(0), 1, positions.dim(1)}), is_local ? local_ : all_);
    }

    Tensor self_attention(const Tensor& x, std::int64_t layer) {
        const std::string prefix = layer_prefix(layer) + "self_attn.", own = "layer " + std::to_string(layer);
        const bool is_local = !config_.is_local.empty() && config_.is_local[static_cast<std::size_t>(layer)];
        AttentionOptions options;
        if (is_local) options.window = config_.window;
        options.scale = config_.attention_scale != 0 ? config_.attention_scale
                                                     : 1 / std::sqrt(static_cast<double>(config_.head_width));
        const Tensor seen = decoder_.attend(layer, heads(x, prefix, 'q', config_.heads, is_local),
                                            heads(x, prefix, 'k', config_.key_heads, is_local),
                                            heads(x, prefix, 'v', config_.key_heads, is_local), options);
        return weight_.project(merge_heads(name(seen, own + " attention")), prefix + "o_proj");
    }

    Tensor feed_forward(const Tensor& x, std::int64_t layer) const {
        const std::string prefix = layer_prefix(layer) + "mlp.";
        const auto projected = [&](const Tensor& value, const char* part) {
            return weight_.project(value, prefix + part + "_proj");
        };
        const Tensor hidden = activate(config_.activation, projected(x, "gate")) * projected(x, "up");
        return projected(name(hidden, "layer " + std::to_string(layer) + " feed-forward hidden"), "down");
    }

    Tensor decoder_layer(Tensor x, std::int64_t layer) {
        const std::string prefix = layer_prefix(layer), own = "layer " + std::to_string(layer);
        const auto added = [&](const Tensor& value, const char* post) {
            return config_.has_post_norms ? norm(value, prefix + post) : value;
        };
        const char* before = config_.has_post_norms ? "pre_feedforward_layernorm" : "post_attention_layernorm";
        x = x + added(self_attention(norm(x, prefix + "input_layernorm"), layer), "post_attention_layernorm");
        x = name(x, own + " attention residual");
        x = x + added(feed_forward(norm(x, prefix + before), layer), "post_feedforward_layernorm");
        return name(x, own + " feed-forward residual");
    }

    const LlamaConfig& config_;
    DecoderGraph& decoder_;
    const WeightTable weight_;
    const std::vector<double> all_, local_;
};

}  // namespace

Graph llama_graph(const LlamaConfig& config, const std::vector<WeightSpec>& weights, const DecoderOptions& options,
                  AdapterBank& adapters) {
    check(config);
    DecoderGraph decoder("llama", config.positions, options);
    adapters.begin(decoder.graph(), decoder.ids().dim(0));
    const Tensor logits = LlamaBuilder(config, weights, decoder, adapters).logits();
    adapters.end(weights);
    return decoder.finished(logits);
}

Graph llama_graph(const LlamaConfig& config, const std::vector<WeightSpec>& weights, const DecoderOptions& options) {
    AdapterBank adapters(llama_modules(config), options.adapters);
    return llama_graph(config, weights, options, adapters);
}

}  // namespace cairn::inline v0::models
