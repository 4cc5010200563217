#include "apps/models/model_file.hpp"

#include <set>

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

void ModelFile::refuse_others(const std::vector<WeightSpec>& known,
                              std::initializer_list<std::string_view> unused) const {
    if (!safetensors_) return;
    std::set<std::string_view> names(unused);
    for (const WeightSpec& spec : known) {
        names.insert(spec.name);
        names.insert(spec.tied_names.begin(), spec.tied_names.end());
    }
    std::string first;
    std::size_t count = 0;
    for (const Safetensors::Tensor& tensor : safetensors_->tensors())
        if (!names.contains(tensor.name) && ++count == 1) first = tensor.name;
    if (count > 0)
        throw Error(ErrorKind::file, "weights",
                    path_.string() + ": " + std::to_string(count) +
                        " tensors have no place in the model of config.json, " + first + " among them");
}

WeightSource ModelFile::source(const std::vector<WeightSpec>& weights, const std::string& prefix,
                               std::span<const GgufName> names) const {
    return gguf_ ? stored_weights(weights, *gguf_, names) : stored_weights(weights, *safetensors_, prefix);
}

std::string ModelFile::fingerprint() const { return gguf_ ? gguf_->fingerprint() : safetensors_->fingerprint(); }

}  // namespace cairn::inline v0::models
