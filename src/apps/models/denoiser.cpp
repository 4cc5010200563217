#include "cairn/models/denoiser.hpp"

#include "apps/models/config_file.hpp"
#include "apps/models/denoiser_check.hpp"
#include "apps/models/diffusion_folder.hpp"
#include "apps/models/named_choice.hpp"

namespace cairn::inline v0::models {
namespace {

constexpr NamedChoice<bool> classes[] = {{"UNet2DModel", true}, {"DiTTransformer2DModel", false}};

}  // namespace

void refuse_other_tensors(const ModelFile& file, const std::vector<WeightSpec>& weights) {
    // Older files of transformers hold the table of positions, which is computed here.
    file.refuse_others(weights, {"pos_embed.pos_embed"});
}

DenoiserConfig read_denoiser(const std::filesystem::path& folder) {
    const std::filesystem::path config = DiffusionFolder(folder).config;
    if (choice_in(ConfigFile(config), "_class_name", classes, "")) return UnetConfig::read(config);
    return DitConfig::read(config);
}

DenoiserTraits traits_of(const DenoiserConfig& config) {
    if (const auto* unet = std::get_if<UnetConfig>(&config))
        return {unet->channels, unet->sample_size, unet->size_step(), unet->classes, unet->null_class};
    const auto& dit = std::get<DitConfig>(config);
    return {dit.channels, dit.sample_size, dit.patch, dit.classes + 1, dit.classes};
}

std::vector<WeightSpec> denoiser_weights(const DenoiserConfig& config) {
    const auto* unet = std::get_if<UnetConfig>(&config);
    return unet != nullptr ? unet_weights(*unet) : dit_weights(std::get<DitConfig>(config));
}

std::vector<WeightSpec> denoiser_weights(const DenoiserConfig& config, const std::filesystem::path& folder) {
    std::vector<WeightSpec> weights = denoiser_weights(config);
    const ModelFile file(DiffusionFolder(folder).weights);
    refuse_other_tensors(file, weights);
    file.find(weights, "", {});
    return weights;
}

Graph denoiser_graph(const DenoiserConfig& config, const std::vector<WeightSpec>& weights, const ImageSizes& sizes) {
    const auto* unet = std::get_if<UnetConfig>(&config);
    return unet != nullptr ? unet_graph(*unet, weights, sizes) : dit_graph(std::get<DitConfig>(config), weights, sizes);
}

}  // namespace cairn::inline v0::models
