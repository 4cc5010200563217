#include "cairn/models/gpt2.hpp"

#include "apps/models/decoder_graph.hpp"
#include "apps/models/gpt2_modules.hpp"
#include "apps/models/model_file.hpp"
#include "apps/models/saved_model.hpp"

namespace cairn::inline v0::models {
namespace {

constexpr const char* gpt2_prefix = "transformer.";

Decoder decoder_of(const Gpt2Config& config, const DecoderOptions& options, CompiledGraph compiled,
                   std::shared_ptr<AdapterBank> adapters) {
    return {"gpt2",  config.vocabulary,   capacity_of(config.positions, options),
            options, std::move(compiled), std::move(adapters)};
}

Decoder bound_decoder(const Gpt2Config& config, const std::vector<WeightSpec>& weights, const WeightSource& source,
                      const Context& context, const DecoderOptions& options, const CompileOptions& compile_options) {
    auto adapters = std::make_shared<AdapterBank>(gpt2_modules(), options.adapters);
    CompiledGraph compiled =
        compile_decoder(gpt2_graph(config, weights, options, *adapters), context, options, *adapters, compile_options);
    compiled.bind(adapters->merged(source, weights), compile_options.progress, compile_options.stop);
    return decoder_of(config, options, std::move(compiled), std::move(adapters));
}

}  // namespace

ModuleNames gpt2_modules() {
    return {"gpt2", gpt2_prefix, [](bool) { return gpt2_gguf_names(); }};
}

std::vector<WeightSpec> gpt2_weights(const Gpt2Config& config, const std::filesystem::path& model) {
    std::vector<WeightSpec> weights = gpt2_weights(config);
    ModelFile(model).find(weights, gpt2_prefix, gpt2_gguf_names());
    return weights;
}

Gpt2::Gpt2(const Gpt2Config& config, const std::vector<WeightSpec>& weights, const WeightSource& source,
           const Context& context, const DecoderOptions& options, const CompileOptions& compile_options)
    : Gpt2(config, bound_decoder(config, weights, source, context, options, compile_options)) {}

Gpt2 Gpt2::load(const std::filesystem::path& path, const Context& context, const DecoderOptions& options,
                CompileOptions compile_options, const std::filesystem::path& cache_folder) {
    const ModelFile file(path);
    const auto config = file.config<Gpt2Config>();
    auto adapters = std::make_shared<AdapterBank>(gpt2_modules(), options.adapters);
    CompiledGraph compiled = load_compiled(
        file, gpt2_weights(config), gpt2_prefix, gpt2_gguf_names(), std::move(compile_options), cache_folder,
        adapters.get(), [&](const std::vector<WeightSpec>& weights, const CompileOptions& how) {
            return compile_decoder(gpt2_graph(config, weights, options, *adapters), context, options, *adapters, how);
        });
    return {config, decoder_of(config, options, std::move(compiled), std::move(adapters))};
}

}  // namespace cairn::inline v0::models
