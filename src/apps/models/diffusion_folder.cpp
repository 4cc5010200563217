#include "apps/models/diffusion_folder.hpp"

#include <initializer_list>
#include <system_error>

namespace cairn::inline v0::models {
namespace {

bool is_there(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

/// The first of these folders of a pipeline that has the file, or the folder itself.
std::filesystem::path part_with(const std::filesystem::path& folder, const char* file,
                                std::initializer_list<const char*> parts) {
    for (const char* part : parts)
        if (is_there(folder / part / file)) return folder / part;
    return folder;
}

}  // namespace

DiffusionFolder::DiffusionFolder(const std::filesystem::path& folder) {
    const char* const config_name = "config.json";
    const char* const schedule_name = "scheduler_config.json";
    const std::filesystem::path model = part_with(folder, config_name, {"unet", "transformer"});
    config = model / config_name;
    schedule = part_with(folder, schedule_name, {"scheduler"}) / schedule_name;
    weights = model / "diffusion_pytorch_model.safetensors";
    if (!is_there(weights) && is_there(weights.string() + ".index.json")) weights += ".index.json";
}

}  // namespace cairn::inline v0::models
