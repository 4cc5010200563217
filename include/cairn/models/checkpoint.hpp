#pragma once

#include "cairn/types.hpp"
#include "cairn/weights.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace cairn::inline v0::models {

/// A tensor that a model reads, with its name in Hugging Face checkpoints.
struct WeightSpec {
    std::string name;
    std::vector<std::int64_t> shape;  ///< as stored
    DType dtype = DType::f32;         ///< as stored; the model computes in f32
    /// Names of tensors that the model ties to this one: a file may store the shared tensor under any of these names.
    std::vector<std::string> tied_names{};
};

/// Looks up each tensor of `wanted` in the file, by name_in_file(), and sets its dtype. Throws Error(file) with all
/// faults at once: tensors that are missing and what the file has instead, tensors with another shape or a dtype that
/// is not floating, and tensors stored under several tied names with different contents.
CAIRN_API void find_weights(std::vector<WeightSpec>& wanted, const Safetensors& file, const std::string& prefix,
                            const std::filesystem::path& path);

/// The name of a tensor in the file: as given, without `prefix` (files of the model without its head omit it), or, for
/// a layer norm, with the older suffix `LayerNorm.gamma` or `LayerNorm.beta`. Returns `name` if the file has none of
/// these.
CAIRN_API std::string name_in_file(const std::string& name, const Safetensors& file, const std::string& prefix);
/// As above, for a tensor of a model; its tied names are tried last: `lm_head.weight` for `transformer.wte.weight` if
/// safetensors' save_model stored the shared tensor under that name.
CAIRN_API std::string name_in_file(const WeightSpec& weight, const Safetensors& file, const std::string& prefix);

/// A source of the tensors of `weights`, by name_in_file(). It keeps the file's maps open while it lives.
CAIRN_API WeightSource stored_weights(const std::vector<WeightSpec>& weights, const Safetensors& file,
                                      const std::string& prefix);

}  // namespace cairn::inline v0::models
