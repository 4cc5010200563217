#pragma once

#include "cairn/compile.hpp"

#include <filesystem>
#include <functional>
#include <string>

/// A saved model: a folder with its compiled graph and its packed weights, for the next start.
namespace cairn::inline v0::models {

/// Sets the cache file of compile() to one in the folder, which is created if needed. An empty path disables saving.
void save_compiled(CompileOptions& options, const std::filesystem::path& folder);

/// Binds the weights of `source`; caches their packed layouts in the folder. `fingerprint` identifies their contents;
/// it is called only with a folder.
void bind_saved(CompiledGraph& compiled, const WeightSource& source, const std::function<std::string()>& fingerprint,
                const std::filesystem::path& folder, const CompileOptions& options);

}  // namespace cairn::inline v0::models
