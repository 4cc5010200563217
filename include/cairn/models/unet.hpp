#pragma once

#include "cairn/graph.hpp"
#include "cairn/models/checkpoint.hpp"
#include "cairn/models/image_sizes.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cairn::inline v0::models {

/// Configuration of a U-Net for diffusion (Ronneberger et al., arXiv 1505.04597; Ho et al., arXiv 2006.11239): the
/// UNet2DModel of diffusers. The defaults are its own, but for the channels. Each level of the U-Net has half the
/// height and width of the one above.
struct UnetConfig {
    std::int64_t sample_size = 32;  ///< height and width of the images it was trained on
    /// Channels of images, and of the output: as many, or twice as many if the model also predicts a variance, which
    /// samplers here do not use.
    std::int64_t channels = 3, output_channels = 3;
    std::vector<std::int64_t> level_channels{128, 256};  ///< hidden channels of each level
    std::vector<bool> down_attention{false, true};       ///< levels whose residual blocks are followed by attention,
    std::vector<bool> up_attention{true, false};         ///< and those of the way up, from the lowest level
    std::int64_t level_blocks = 2;  ///< residual blocks of a level on the way down; one more on the way up
    bool has_middle = true;         ///< two residual blocks follow the lowest level
    bool middle_attention = true;   ///< with attention between them
    double middle_scale = 1;        ///< by which their sums are divided
    std::int64_t time_width = 0;    ///< of the embedding of times; 0: four times the first level's channels
    double frequency_shift = 0;     ///< the time's lowest frequency is 10000^(-(n-1) / (n - shift)), n frequencies
    bool cosine_first = true;       ///< the embedding has cosines before sines
    bool pads_both_sides = true;    ///< downsampling pads all sides by one; otherwise the right and the bottom
    bool centers_input = false;     ///< the model reads 2 x - 1
    bool scales_by_time = false;    ///< the time scales and shifts a norm, instead of being added before it
    std::int64_t head_width = 8;    ///< channels of an attention head; 0: one head
    std::int64_t groups = 32;       ///< of group norms
    std::int64_t middle_groups =
        0;  ///< of the norm of the middle attention; 0: as the others, or no norm with scales_by_time
    double norm_epsilon = 1e-5;       ///< added under the square root
    std::string activation = "silu";  ///< of residual blocks: silu, gelu, relu, ...
    std::int64_t classes = 0;         ///< rows of the table of classes; 0: the model has none
    std::int64_t null_class = -1;     ///< the class that stands for no class; -1: none

    /// Reads config.json of diffusers. `null_class` is an entry of Cairn's own, which diffusers ignores: the class that
    /// the model was trained with where the class was left out. Throws Error(file) naming a missing or invalid entry,
    /// Error(unsupported) for parts that are not supported, with what the file has.
    CAIRN_API static UnetConfig read(const std::filesystem::path& config_json);

    /// Height and width of images must be multiples of it: 2^(levels - 1).
    CAIRN_API std::int64_t size_step() const;
};

/// The tensors of a U-Net, with the names of diffusers. Throws Error(argument) for a config out of range.
CAIRN_API std::vector<WeightSpec> unet_weights(const UnetConfig& config);

/// The graph of a U-Net. Inputs: `sample` f32[B,C,H,W], `time` f32[B] and, if the model has classes, `class` i32[B].
/// Output: `prediction` f32[B,C,H,W]. B is a symbol in 0..max_batch; H and W are sample_size, or multiples of
/// size_step() up to ImageSizes::max_height and max_width, by the symbols `h` and `w`. Throws Error(argument).
CAIRN_API Graph unet_graph(const UnetConfig& config, const std::vector<WeightSpec>& weights,
                           const ImageSizes& sizes = {});

}  // namespace cairn::inline v0::models
