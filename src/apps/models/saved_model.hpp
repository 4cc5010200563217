#pragma once

#include "cairn/compile.hpp"

#include <filesystem>

/// A folder in which a model is kept ready for the next start: its compiled graph, and its weights packed for it.
namespace cairn::inline v0::models {

/// Lets compile() keep its result there. The folder is made where there is none; with no path nothing is kept.
void save_compiled(CompileOptions& options, const std::filesystem::path& folder);

/// Binds what `source` finds in `file`, packed forms kept in the folder.
void bind_saved(CompiledGraph& compiled, const WeightSource& source, const Safetensors& file,
                const std::filesystem::path& folder, const CompileOptions& options);

}  // namespace cairn::inline v0::models
