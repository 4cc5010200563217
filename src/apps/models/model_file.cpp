#include "apps/models/model_file.hpp"

namespace cairn::inline v0::models {

bool is_gguf(const std::filesystem::path& path) { return path.extension() == ".gguf"; }

ModelFile::ModelFile(const std::filesystem::path& path) : path_(path) {
    if (is_gguf(path))
        gguf_.emplace(Gguf::open(path));
    else
        safetensors_.emplace(Safetensors::open(path));
}

void ModelFile::find(std::vector<WeightSpec>& wanted, const std::string& prefix,
                     std::span<const GgufName> names) const {
    if (gguf_)
        find_weights(wanted, *gguf_, names);
    else
        find_weights(wanted, *safetensors_, prefix, path_);
}

WeightSource ModelFile::source(const std::vector<WeightSpec>& weights, const std::string& prefix,
                               std::span<const GgufName> names) const {
    return gguf_ ? stored_weights(weights, *gguf_, names) : stored_weights(weights, *safetensors_, prefix);
}

std::string ModelFile::fingerprint() const { return gguf_ ? gguf_->fingerprint() : safetensors_->fingerprint(); }

}  // namespace cairn::inline v0::models
