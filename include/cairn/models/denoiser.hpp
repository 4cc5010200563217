#pragma once

#include "cairn/models/dit.hpp"
#include "cairn/models/unet.hpp"

#include <filesystem>
#include <variant>
#include <vector>

/// The models that diffusion samplers call, one or the other architecture. Such a model, called a denoiser, computes
/// from noisy images, their times and their classes what noise they contain (noise_schedule.hpp).
namespace cairn::inline v0::models {

/// The architecture with its configuration.
using DenoiserConfig = std::variant<UnetConfig, DitConfig>;

/// Reads config.json of a folder, or of its `unet` or `transformer`: UNet2DModel or DiTTransformer2DModel, by
/// `_class_name`. Throws what UnetConfig::read() and DitConfig::read() throw, and Error(unsupported) naming another
/// class.
CAIRN_API DenoiserConfig read_denoiser(const std::filesystem::path& folder);

/// What the two architectures have in common.
struct DenoiserTraits {
    std::int64_t channels;     ///< of images
    std::int64_t sample_size;  ///< height and width of the images it was trained on
    std::int64_t size_step;    ///< height and width must be multiples of it
    std::int64_t classes;      ///< rows of the table of classes; 0: the model has none
    /// The class that stands for no class, for classifier-free guidance; -1: the model has none.
    std::int64_t null_class;
};
/// The traits of a configuration.
CAIRN_API DenoiserTraits traits_of(const DenoiserConfig& config);

/// The tensors of a denoiser: unet_weights() or dit_weights().
CAIRN_API std::vector<WeightSpec> denoiser_weights(const DenoiserConfig& config);
/// The same as such a folder stores them. Throws what find_weights() throws, and Error(file) for tensors that the model
/// does not have.
CAIRN_API std::vector<WeightSpec> denoiser_weights(const DenoiserConfig& config, const std::filesystem::path& folder);
/// The graph of a denoiser: unet_graph() or dit_graph().
CAIRN_API Graph denoiser_graph(const DenoiserConfig& config, const std::vector<WeightSpec>& weights,
                               const ImageSizes& sizes = {});

}  // namespace cairn::inline v0::models
