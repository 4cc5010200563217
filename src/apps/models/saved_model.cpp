#include "apps/models/saved_model.hpp"

#include <system_error>

namespace cairn::inline v0::models {

void save_compiled(CompileOptions& options, const std::filesystem::path& folder) {
    if (folder.empty()) return;
    std::error_code fault;  // on failure, writing the files reports the error
    std::filesystem::create_directories(folder, fault);
    if (options.cache_file.empty()) options.cache_file = folder / "model.program";
}

void bind_saved(CompiledGraph& compiled, const WeightSource& source, const std::function<std::string()>& fingerprint,
                const std::filesystem::path& folder, const CompileOptions& options) {
    if (folder.empty()) return compiled.bind(source, options.progress, options.stop);
    compiled.bind(source, {folder / "model.packed", fingerprint()}, options.progress, options.stop);
}

}  // namespace cairn::inline v0::models
