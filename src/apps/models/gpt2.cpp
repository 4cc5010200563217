#include "cairn/models/gpt2.hpp"

#include "apps/models/decoder_graph.hpp"
#include "apps/models/model_file.hpp"
#include "apps/models/saved_model.hpp"

namespace cairn::inline v0::models {
namespace {

constexpr const char* gpt2_prefix = "transformer.";

}  // namespace

std::vector<WeightSpec> gpt2_weights(const Gpt2Config& config, const std::filesystem::path& model) {
    std::vector<WeightSpec> weights = gpt2_weights(config);
    ModelFile(model).find(weights, gpt2_prefix, gpt2_gguf_names());
    return weights;
}

Gpt2::Gpt2(const Gpt2Config& config, const std::vector<WeightSpec>& weights, const WeightSource& source,
           const Context& context, const DecoderOptions& options, CompileOptions compile_options)
    : Gpt2(config, {"gpt2", config.vocabulary, capacity_of(config.positions, options), options,
                    compile_decoder(gpt2_graph(config, weights, options), context, options, compile_options)}) {
    compiled().bind(source, compile_options.progress, compile_options.stop);
}

Gpt2 Gpt2::load(const std::filesystem::path& path, const Context& context, const DecoderOptions& options,
                CompileOptions compile_options, const std::filesystem::path& cache_folder) {
    const ModelFile file(path);
    const auto config = file.config<Gpt2Config>();
    return {config, Decoder("gpt2", config.vocabulary, capacity_of(config.positions, options), options,
                            load_compiled(
                                file, gpt2_weights(config), gpt2_prefix, gpt2_gguf_names(), std::move(compile_options),
                                cache_folder, [&](const std::vector<WeightSpec>& weights, const CompileOptions& how) {
                                    return compile_decoder(gpt2_graph(config, weights, options), context, options, how);
                                }))};
}

}  // namespace cairn::inline v0::models
