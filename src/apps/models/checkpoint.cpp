#include "cairn/models/checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

namespace cairn::inline v0::models {
namespace {

std::string shape_text(const std::vector<std::int64_t>& sizes) {
    Shape shape;
    for (const std::int64_t size : sizes) shape.emplace_back(size);
    return to_string(shape);
}

std::optional<DType> floating(std::string_view dtype) {
    if (dtype == "F32") return DType::f32;
    if (dtype == "F16") return DType::f16;
    if (dtype == "BF16") return DType::bf16;
    if (dtype == "F64") return DType::f64;
    return std::nullopt;
}

/// `name` and alternative names of the same tensor: without the prefix, and with older endings.
std::vector<std::string> name_variants(const std::string& name, const std::string& prefix) {
    std::vector<std::string> all{name};
    if (!prefix.empty() && name.starts_with(prefix)) all.push_back(name.substr(prefix.size()));
    for (std::size_t i = 0, count = all.size(); i < count; ++i)
        for (const auto& [ending, older] :
             {std::pair("LayerNorm.weight", "LayerNorm.gamma"), std::pair("LayerNorm.bias", "LayerNorm.beta")})
            if (all[i].ends_with(ending))
                all.push_back(all[i].substr(0, all[i].size() - std::string_view(ending).size()) + older);
    return all;
}

std::optional<std::string> find(const std::string& name, const Safetensors& file, const std::string& prefix) {
    for (std::string& variant : name_variants(name, prefix))
        if (file.contains(variant)) return std::move(variant);
    return std::nullopt;
}

/// Owner of a view: releases it at the end of its lifetime.
class ReadTensor {
public:
    ReadTensor(const Safetensors& file, const std::string& name) : view_(file.view(name)) {}
    ReadTensor(const ReadTensor&) = delete;
    ReadTensor& operator=(const ReadTensor&) = delete;
    ~ReadTensor() {
        if (view_.release != nullptr) view_.release(view_.owner);
    }
    bool operator==(const ReadTensor& other) const {
        if (view_.dtype != other.view_.dtype || view_.shape != other.view_.shape) return false;
        std::size_t bytes = size_of(view_.dtype);
        for (const std::int64_t size : view_.shape) bytes *= static_cast<std::size_t>(size);
        return bytes == 0 || std::memcmp(view_.data, other.view_.data, bytes) == 0;
    }

private:
    InputView view_;
};

/// The names under which the file stores a weight: its own first, then tied ones.
std::vector<std::string> stored_names(const WeightSpec& spec, const Safetensors& file, const std::string& prefix) {
    std::vector<std::string> stored;
    if (const auto name = find(spec.name, file, prefix)) stored.push_back(*name);
    for (const std::string& tied : spec.tied_names)
        if (const auto name = find(tied, file, prefix)) stored.push_back(*name);
    return stored;
}

/// Describes tied names under which the file stores different contents; empty if all are equal.
std::string tied_fault(const WeightSpec& spec, const Safetensors& file, const std::string& prefix) {
    const std::vector<std::string> stored = stored_names(spec, file, prefix);
    for (std::size_t i = 1; i < stored.size(); ++i)
        if (!(ReadTensor(file, stored[0]) == ReadTensor(file, stored[i])))
            return stored[0] + " and " + stored[i] +
                   " differ, but the config ties them (tie_word_embeddings): false there keeps both";
    return {};
}

/// Describes the tensors of the file whose names are nearest to a missing one.
std::string nearest_tensors(const std::string& name, const Safetensors& file) {
    std::string list;
    for (const std::string& near : file.nearest(name)) list += (list.empty() ? "" : ", ") + near;
    const std::string count = std::to_string(file.tensors().size());
    return list.empty() ? "the file has no tensors"
                        : "the file has " + count + " tensors, the nearest to " + name + " are " + list;
}

}  // namespace

std::string name_in_file(const std::string& name, const Safetensors& file, const std::string& prefix) {
    return find(name, file, prefix).value_or(name);
}

std::string name_in_file(const WeightSpec& weight, const Safetensors& file, const std::string& prefix) {
    const std::vector<std::string> stored = stored_names(weight, file, prefix);
    return stored.empty() ? weight.name : stored.front();
}

WeightSource stored_weights(const std::vector<WeightSpec>& weights, const Safetensors& file,
                            const std::string& prefix) {
    std::map<std::string, std::string, std::less<>> names;
    for (const WeightSpec& weight : weights) names.emplace(weight.name, name_in_file(weight, file, prefix));
    return [names = std::move(names), source = file.source()](std::string_view name) {
        const auto stored = names.find(name);
        return source(stored == names.end() ? name : std::string_view(stored->second));
    };
}

void find_weights(std::vector<WeightSpec>& wanted, const Safetensors& file, const std::string& prefix,
                  const std::filesystem::path& path) {
    const auto& tensors = file.tensors();
    std::string faults, first_missing;
    const auto fault = [&](const std::string& text) { faults += (faults.empty() ? "" : "; ") + text; };
    for (WeightSpec& spec : wanted) {
        const std::string name = name_in_file(spec, file, prefix);
        const auto it = std::lower_bound(tensors.begin(), tensors.end(), name,
                                         [](const auto& tensor, const std::string& key) { return tensor.name < key; });
        if (it == tensors.end() || it->name != name) {
            fault(spec.name + " is missing");
            if (first_missing.empty()) first_missing = spec.name;
            continue;
        }
        if (it->shape != spec.shape)
            fault(spec.name + " is " + shape_text(it->shape) + ", expected " + shape_text(spec.shape));
        const std::optional<DType> dtype = floating(it->dtype);
        if (!dtype)
            fault(spec.name + " is stored as " + it->dtype + ", expected F32, F16, BF16 or F64");
        else
            spec.dtype = *dtype;
        if (const std::string differ = dtype ? tied_fault(spec, file, prefix) : ""; !differ.empty()) fault(differ);
    }
    if (faults.empty()) return;
    const std::string suggestion = first_missing.empty() ? "" : "; " + nearest_tensors(first_missing, file);
    throw Error(ErrorKind::file, "weights", path.string() + ": " + faults + suggestion);
}

}  // namespace cairn::inline v0::models
