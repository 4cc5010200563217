#include "cairn/models/llama.hpp"

#include "apps/models/decoder_graph.hpp"
#include "apps/models/llama_modules.hpp"
#include "apps/models/model_file.hpp"
#include "apps/models/saved_model.hpp"

namespace cairn::inline v0::models {
namespace {

constexpr const char* llama_prefix = "model.";

/// The names in the file; GGUF files of the architecture llama hold interleaved heads.
std::span<const GgufName> names_in(const ModelFile& file, const LlamaConfig& config) {
    return llama_gguf_names(config, file.gguf() != nullptr && file.gguf()->text("general.architecture") == "llama");
}

Decoder decoder_of(const LlamaConfig& config, const DecoderOptions& options, CompiledGraph compiled,
                   std::shared_ptr<AdapterBank> adapters) {
    return {"llama", config.vocabulary,   capacity_of(config.positions, options),
            options, std::move(compiled), std::move(adapters)};
}

Decoder bound_decoder(const LlamaConfig& config, const std::vector<WeightSpec>& weights, const WeightSource& source,
                      const Context& context, const DecoderOptions& options, const CompileOptions& compile_options) {
    auto adapters = std::make_shared<AdapterBank>(llama_modules(config), options.adapters);
    CompiledGraph compiled =
        compile_decoder(llama_graph(config, weights, options, *adapters), context, options, *adapters, compile_options);
    compiled.bind(adapters->merged(source, weights), compile_options.progress, compile_options.stop);
    return decoder_of(config, options, std::move(compiled), std::move(adapters));
}

}  // namespace

ModuleNames llama_modules(const LlamaConfig& config) {
    return {"llama", llama_prefix, [config](bool is_interleaved) { return llama_gguf_names(config, is_interleaved); }};
}

std::vector<WeightSpec> llama_weights(const LlamaConfig& config, const std::filesystem::path& model) {
    std::vector<WeightSpec> weights = llama_weights(config);
    const ModelFile file(model);
    file.find(weights, llama_prefix, names_in(file, config));
    return weights;
}

Llama::Llama(const LlamaConfig& config, const std::vector<WeightSpec>& weights, const WeightSource& source,
             const Context& context, const DecoderOptions& options, const CompileOptions& compile_options)
    : Llama(config, bound_decoder(config, weights, source, context, options, compile_options)) {}

Llama Llama::load(const std::filesystem::path& path, const Context& context, const DecoderOptions& options,
                  CompileOptions compile_options, const std::filesystem::path& cache_folder) {
    const ModelFile file(path);
    const auto config = file.config<LlamaConfig>();
    auto adapters = std::make_shared<AdapterBank>(llama_modules(config), options.adapters);
    CompiledGraph compiled = load_compiled(
        file, llama_weights(config), llama_prefix, names_in(file, config), std::move(compile_options), cache_folder,
        adapters.get(), [&](const std::vector<WeightSpec>& weights, const CompileOptions& how) {
            return compile_decoder(llama_graph(config, weights, options, *adapters), context, options, *adapters, how);
        });
    return {config, decoder_of(config, options, std::move(compiled), std::move(adapters))};
}

}  // namespace cairn::inline v0::models
