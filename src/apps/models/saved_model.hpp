#pragma once

#include "cairn/compile.hpp"

#include <filesystem>

/// A saved model: a folder with its compiled graph and its packed weights, for the next start.
namespace cairn::inline v0::models {

/// Sets the cache file of compile() to one in the folder, which is created if needed. An empty path disables saving.
void save_compiled(CompileOptions& options, const std::filesystem::path& folder);

/// Binds the weights that `source` finds in `file`; caches their packed layouts in the folder.
void bind_saved(CompiledGraph& compiled, const WeightSource& source, const Safetensors& file,
                const std::filesystem::path& folder, const CompileOptions& options);

}  // namespace cairn::inline v0::models
