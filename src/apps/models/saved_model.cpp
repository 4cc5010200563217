#include "apps/models/saved_model.hpp"

#include <system_error>
#include <utility>

namespace cairn::inline v0::models {

CompiledGraph load_compiled(
    const ModelFile& file, std::vector<WeightSpec> weights, const std::string& prefix, std::span<const GgufName> names,
    CompileOptions options, const std::filesystem::path& cache_folder, AdapterBank* adapters,
    const std::function<CompiledGraph(const std::vector<WeightSpec>&, const CompileOptions&)>& compiled) {
    file.find(weights, prefix, names);
    if (!cache_folder.empty()) {
        std::error_code fault;  // on failure, writing the files reports the error
        std::filesystem::create_directories(cache_folder, fault);
        if (options.cache_file.empty()) options.cache_file = cache_folder / "model.program";
    }
    CompiledGraph result = compiled(weights, options);
    WeightSource source = file.source(weights, prefix, names);
    std::string fingerprint = file.fingerprint();
    if (adapters != nullptr) {
        source = adapters->merged(std::move(source), weights);
        fingerprint += adapters->fingerprint();
    }
    if (cache_folder.empty())
        result.bind(source, options.progress, options.stop);
    else
        result.bind(source, {cache_folder / "model.packed", std::move(fingerprint)}, options.progress, options.stop);
    return result;
}

}  // namespace cairn::inline v0::models
