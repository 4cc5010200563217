#pragma once

#include "apps/models/adapter_bank.hpp"
#include "apps/models/model_file.hpp"
#include "cairn/compile.hpp"

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

/// A saved model: a folder with its compiled graph and its packed weights, for the next start.
namespace cairn::inline v0::models {

/// Compiles a model whose tensors are in `file`, and binds them, with an adapter merged if `adapters` says so.
/// `weights` are its tensors, `prefix` and `names` as in ModelFile::find(); `compiled` compiles the graph for the
/// tensors as they are stored, and matches `adapters` with it; null: the model takes none. Both the compiled graph and
/// the packed weights are cached in `cache_folder`, which is created if needed; an empty path disables that.
CompiledGraph load_compiled(
    const ModelFile& file, std::vector<WeightSpec> weights, const std::string& prefix, std::span<const GgufName> names,
    CompileOptions options, const std::filesystem::path& cache_folder, AdapterBank* adapters,
    const std::function<CompiledGraph(const std::vector<WeightSpec>&, const CompileOptions&)>& compiled);

}  // namespace cairn::inline v0::models
