#pragma once

#include "cairn/types.hpp"
#include "cairn/weights.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace cairn::inline v0::models {

/// A tensor that a model reads, by the name it has in Hugging Face checkpoints.
struct WeightSpec {
    std::string name;
    std::vector<std::int64_t> shape;  ///< as stored
    DType dtype = DType::f32;         ///< as stored; the model computes in f32
    /// Names of tensors that the model ties to this one: a file may store the one tensor under any of the names.
    std::vector<std::string> tied_names{};
};

/// Finds each tensor of `wanted` in the file, by name_in_file(), and sets its dtype. Throws Error(file) naming at once
/// the tensors that are missing, what the file has instead, those that have another shape or no floating
/// dtype, and those that are stored under several tied names with different contents.
CAIRN_API void find_weights(std::vector<WeightSpec>& wanted, const Safetensors& file, const std::string& prefix,
                            const std::filesystem::path& path);

/// The name under which the file has a tensor: as it is, without `prefix` (files of the model without its head leave it
/// out), or, of a layer norm, with the older ending `LayerNorm.gamma` or `LayerNorm.beta`. `name` where there is none
/// of these.
CAIRN_API std::string name_in_file(const std::string& name, const Safetensors& file, const std::string& prefix);
/// The same for a tensor of a model, whose tied names are tried last: `lm_head.weight` for `transformer.wte.weight`
/// where safetensors' save_model stored the one tensor under that name.
CAIRN_API std::string name_in_file(const WeightSpec& weight, const Safetensors& file, const std::string& prefix);

/// Gives each of `weights` from the file, by name_in_file(). The file's maps stay open as long as the source lives.
CAIRN_API WeightSource stored_weights(const std::vector<WeightSpec>& weights, const Safetensors& file,
                                      const std::string& prefix);

}  // namespace cairn::inline v0::models
