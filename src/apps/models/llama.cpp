#include "cairn/models/llama.hpp"

#include "apps/models/decoder_graph.hpp"
#include "apps/models/model_file.hpp"
#include "apps/models/saved_model.hpp"

namespace cairn::inline v0::models {
namespace {

constexpr const char* llama_prefix = "model.";

/// The names in the file; GGUF files of the architecture llama hold interleaved heads.
std::span<const GgufName> names_in(const ModelFile& file, const LlamaConfig& config) {
    return llama_gguf_names(config, file.gguf() != nullptr && file.gguf()->text("general.architecture") == "llama");
}

}  // namespace

std::vector<WeightSpec> llama_weights(const LlamaConfig& config, const std::filesystem::path& model) {
    std::vector<WeightSpec> weights = llama_weights(config);
    const ModelFile file(model);
    file.find(weights, llama_prefix, names_in(file, config));
    return weights;
}

Llama::Llama(const LlamaConfig& config, const std::vector<WeightSpec>& weights, const WeightSource& source,
             const Context& context, const DecoderOptions& options, CompileOptions compile_options)
    : Llama(config,
            Decoder("llama", config.vocabulary, capacity_of(config.positions, options), options,
                    compile_decoder(llama_graph(config, weights, options), context, options, compile_options))) {
    compiled().bind(source, compile_options.progress, compile_options.stop);
}

Llama Llama::load(const std::filesystem::path& path, const Context& context, const DecoderOptions& options,
                  CompileOptions compile_options, const std::filesystem::path& cache_folder) {
    const ModelFile file(path);
    const auto config = file.config<LlamaConfig>();
    return {config, Decoder("llama", config.vocabulary, capacity_of(config.positions, options), options,
                            load_compiled(file, llama_weights(config), llama_prefix, names_in(file, config),
                                          std::move(compile_options), cache_folder,
                                          [&](const std::vector<WeightSpec>& weights, const CompileOptions& how) {
                                              return compile_decoder(llama_graph(config, weights, options), context,
                                                                     options, how);
                                          }))};
}

}  // namespace cairn::inline v0::models
