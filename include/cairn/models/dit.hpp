#pragma once

#include "cairn/graph.hpp"
#include "cairn/models/checkpoint.hpp"
#include "cairn/models/image_sizes.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cairn::inline v0::models {

/// Configuration of a diffusion transformer with adaLN-zero modulation (Peebles & Xie, arXiv 2212.09748): the
/// DiTTransformer2DModel of diffusers. The defaults are DiT-XL/2 for latents of 256 x 256 pixels.
struct DitConfig {
    std::int64_t sample_size = 32;  ///< height and width of the images it was trained on
    /// Channels of images, and of the output: as many, or twice as many if the model also predicts a variance, which
    /// samplers here do not use.
    std::int64_t channels = 4, output_channels = 8;
    std::int64_t patch = 2;                       ///< height and width of a patch, of which each is one token
    std::int64_t heads = 16, head_width = 72;     ///< attention heads, and their width
    std::int64_t layers = 28;                     ///< transformer blocks
    std::int64_t classes = 1000;                  ///< without the null class, which is row `classes` of the table
    bool attention_bias = true;                   ///< queries, keys and values have a bias
    std::string activation = "gelu-approximate";  ///< of the feed-forward layer: gelu or gelu-approximate
    double norm_epsilon = 1e-5;                   ///< of the norm before the feed-forward layer

    /// Reads config.json of diffusers. Throws Error(file) naming a missing or invalid entry, Error(unsupported) for
    /// parts that are not supported, with what the file has.
    CAIRN_API static DitConfig read(const std::filesystem::path& config_json);

    /// Width of the hidden states.
    std::int64_t width() const { return heads * head_width; }
};

/// The tensors of a diffusion transformer, with the names of diffusers. Throws Error(argument) for a config out of
/// range.
CAIRN_API std::vector<WeightSpec> dit_weights(const DitConfig& config);

/// The graph of a diffusion transformer: inputs, output and symbols as of unet_graph(), with `class` i32[B] and the
/// patch as size step. Other sizes than sample_size are encoded as positions between those of training, by the same
/// sines. Throws Error(argument).
CAIRN_API Graph dit_graph(const DitConfig& config, const std::vector<WeightSpec>& weights,
                          const ImageSizes& sizes = {});

}  // namespace cairn::inline v0::models
