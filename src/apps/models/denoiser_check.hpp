#pragma once

#include "apps/models/model_file.hpp"

#include <vector>

namespace cairn::inline v0::models {

/// Throws Error(file) for tensors of the file that a denoiser with these weights does not read.
void refuse_other_tensors(const ModelFile& file, const std::vector<WeightSpec>& weights);

}  // namespace cairn::inline v0::models
