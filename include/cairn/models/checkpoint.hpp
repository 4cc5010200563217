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
};

/// Finds each tensor of `wanted` in the file, by its name or by what follows `prefix` in it (older GPT-2 files leave
/// "transformer." out), and sets its dtype. Throws Error(file) naming all tensors that are missing, have another
/// shape, or no floating dtype, at once.
CAIRN_API void find_weights(std::vector<WeightSpec>& wanted, const Safetensors& file, const std::string& prefix,
                            const std::filesystem::path& path);

/// The name under which the file has a tensor: as it is, or without `prefix`.
CAIRN_API std::string name_in_file(const std::string& name, const Safetensors& file, const std::string& prefix);

}  // namespace cairn::inline v0::models
