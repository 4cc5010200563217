#pragma once

#include <filesystem>

namespace cairn::inline v0::models {

/// The files of a diffusion model: a folder that has them all, or a pipeline with the model in `unet` or `transformer`
/// and the schedule in `scheduler`.
struct DiffusionFolder {
    explicit DiffusionFolder(const std::filesystem::path& folder);

    std::filesystem::path config, schedule;  ///< config.json and scheduler_config.json
    std::filesystem::path weights;           ///< the safetensors file, or the index of its shards
};

}  // namespace cairn::inline v0::models
