#include "apps/models/encoder_names.hpp"

namespace cairn::inline v0::models {
namespace {

constexpr EncoderNames bert{
    .prefix = "bert.",
    .query = "attention.self.query",
    .key = "attention.self.key",
    .value = "attention.self.value",
    .output = "attention.output.dense",
    .attention_norm = "attention.output.LayerNorm",
    .up = "intermediate.dense",
    .down = "output.dense",
    .output_norm = "output.LayerNorm",
    .pooler = "bert.pooler.dense",
    .classifier = "classifier",
    .hidden = "cls.predictions.transform.dense",
    .hidden_norm = "cls.predictions.transform.LayerNorm",
    .decoder = "cls.predictions.decoder",
    .decoder_bias = "cls.predictions.bias",
};

constexpr EncoderNames roberta{
    .prefix = "roberta.",
    .query = bert.query,
    .key = bert.key,
    .value = bert.value,
    .output = bert.output,
    .attention_norm = bert.attention_norm,
    .up = bert.up,
    .down = bert.down,
    .output_norm = bert.output_norm,
    .pooler = "classifier.dense",
    .classifier = "classifier.out_proj",
    .hidden = "lm_head.dense",
    .hidden_norm = "lm_head.layer_norm",
    .decoder = "lm_head.decoder",
    .decoder_bias = "lm_head.bias",
};

constexpr EncoderNames distilbert{
    .prefix = "distilbert.",
    .query = "attention.q_lin",
    .key = "attention.k_lin",
    .value = "attention.v_lin",
    .output = "attention.out_lin",
    .attention_norm = "sa_layer_norm",
    .up = "ffn.lin1",
    .down = "ffn.lin2",
    .output_norm = "output_layer_norm",
    .pooler = "pre_classifier",
    .classifier = "classifier",
    .hidden = "vocab_transform",
    .hidden_norm = "vocab_layer_norm",
    .decoder = "vocab_projector",
    .decoder_bias = "vocab_projector.bias",
};

constexpr EncoderNames albert{
    .prefix = "albert.",
    .query = "attention.query",
    .key = "attention.key",
    .value = "attention.value",
    .output = "attention.dense",
    .attention_norm = "attention.LayerNorm",
    .up = "ffn",
    .down = "ffn_output",
    .output_norm = "full_layer_layer_norm",
    .pooler = "albert.pooler",
    .classifier = "classifier",
    .hidden = "predictions.dense",
    .hidden_norm = "predictions.LayerNorm",
    .decoder = "predictions.decoder",
    .decoder_bias = "predictions.bias",
};

}  // namespace

const EncoderNames& EncoderNames::of(EncoderType type) {
    switch (type) {
        case EncoderType::roberta: return roberta;
        case EncoderType::distilbert: return distilbert;
        case EncoderType::albert: return albert;
        case EncoderType::bert: break;
    }
    return bert;
}

std::string EncoderNames::under_prefix(std::string_view name) const { return std::string(prefix) + std::string(name); }

std::string EncoderNames::bias_of_decoder(const EncoderConfig& config) const {
    return config.tied ? std::string(decoder_bias) : std::string(decoder) + ".bias";
}

std::string EncoderNames::layer(const EncoderConfig& config, std::int64_t layer, std::int64_t inner_layer) const {
    if (config.type == EncoderType::distilbert) return under_prefix("transformer.layer.") + std::to_string(layer) + '.';
    if (config.type != EncoderType::albert) return under_prefix("encoder.layer.") + std::to_string(layer) + '.';
    const std::int64_t group = layer * config.groups / config.layers;
    return under_prefix("encoder.albert_layer_groups.") + std::to_string(group) + ".albert_layers." +
           std::to_string(inner_layer) + '.';
}

}  // namespace cairn::inline v0::models
