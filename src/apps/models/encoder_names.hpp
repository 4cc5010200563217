#pragma once

#include "cairn/models/encoder.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn::inline v0::models {

/// The names of an encoder's tensors in Hugging Face checkpoints, without `.weight` and `.bias`. Those of a layer
/// follow EncoderNames::layer().
struct EncoderNames {
    std::string_view prefix;  ///< of all but the heads; files of a model without a head omit it
    std::string_view query, key, value, output, attention_norm, up, down, output_norm;
    std::string_view pooler;        ///< the layer before the classifier of texts
    std::string_view classifier;    ///< of texts
    std::string_view hidden;        ///< of EncoderHead::masked: the layer before the product with the words,
    std::string_view hidden_norm;   ///< its norm,
    std::string_view decoder;       ///< the product, with a weight of its own if it is not tied,
    std::string_view decoder_bias;  ///< and its bias

    static const EncoderNames& of(EncoderType type);
    /// A name under the prefix: `bert.embeddings.LayerNorm`.
    std::string under_prefix(std::string_view name) const;
    /// The bias of the product with the words. A product that is not tied has one of its own beside `decoder_bias`,
    /// which is then not used.
    std::string bias_of_decoder(const EncoderConfig& config) const;
    /// The prefix of the tensors of a layer and, of ALBERT, of an inner layer: `bert.encoder.layer.3.`
    std::string layer(const EncoderConfig& config, std::int64_t layer, std::int64_t inner_layer) const;
};

}  // namespace cairn::inline v0::models
