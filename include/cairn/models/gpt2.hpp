#pragma once

#include "cairn/models/checkpoint.hpp"
#include "cairn/models/decoder.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// GPT-2 (Radford et al. 2019) as a graph, in any size of the family, read from an ordinary Hugging Face folder.
namespace cairn::inline v0::models {

/// Configuration of a GPT-2, as in config.json. The defaults are the 124M model.
struct Gpt2Config {
    /// Sizes: vocabulary, positions, hidden width, attention heads, layers, width of the feed-forward layer.
    std::int64_t vocabulary = 50257, positions = 1024, width = 768, heads = 12, layers = 12, inner = 3072;
    double layer_norm_epsilon = 1e-5;     ///< added under the square root; finite and at least 0
    std::string activation = "gelu_new";  ///< gelu_new, gelu_fast and gelu_pytorch_tanh are gelu_tanh; gelu, relu, silu
    bool scale_attention = true;          ///< scale scores by 1/sqrt(width / heads)
    bool scale_by_layer = false;          ///< also scale scores by 1/(layer + 1)
    bool tied = true;                     ///< the output projection uses the embedding's weights

    /// Reads config.json. Throws Error(file) naming a missing or invalid entry, Error(unsupported) for another kind of
    /// model.
    CAIRN_API static Gpt2Config read(const std::filesystem::path& config_json);
    /// Reads the metadata of a GGUF file, whose architecture must be gpt2. Throws as above.
    CAIRN_API static Gpt2Config read(const Gguf& file);
    /// Reads what a model's folder or `.gguf` file says.
    CAIRN_API static Gpt2Config of_model(const std::filesystem::path& model);
};

/// The tensors of a GPT-2 in the order of the reference implementation's state dictionary. Throws Error(argument) for a
/// config out of range: sizes are at least 1, and heads divides width.
CAIRN_API std::vector<WeightSpec> gpt2_weights(const Gpt2Config& config);
/// The same as a model's folder or `.gguf` file stores them. Throws what find_weights() throws.
CAIRN_API std::vector<WeightSpec> gpt2_weights(const Gpt2Config& config, const std::filesystem::path& model);

/// The names of these tensors in GGUF files of the architecture gpt2.
CAIRN_API std::span<const GgufName> gpt2_gguf_names();

/// The graph of a GPT-2, as Decoder describes it. Throws Error(argument) for a config or options out of range.
CAIRN_API Graph gpt2_graph(const Gpt2Config& config, const std::vector<WeightSpec>& weights,
                           const DecoderOptions& options = {});

/// A compiled GPT-2 with its key/value cache. Not thread-safe; instance() returns further ones that share programs and
/// weights.
///
///     Gpt2 model = Gpt2::load("examples/models/shakespeare-gpt2", context);
///     auto logits = model.forward(ids);            // prefill: logits of the last position
///     auto next = model.forward({&chosen, 1});     // decode, one token at a time
class CAIRN_API Gpt2 : public Decoder {
public:
    /// Reads a folder with config.json and model.safetensors (or its shards), or a `.gguf` file, compiles and binds.
    /// Throws Error(file) and what compile() throws. Splits T into 1, 2..12 and 13.. if compile_options has no splits.
    ///
    /// `cache_folder` caches the compiled graph and the packed weights for the next start, as
    /// CompileOptions::cache_file and PackedFile describe. It is created if absent, and is for one model and one set of
    /// compile options.
    static Gpt2 load(const std::filesystem::path& path, const Context& context, const DecoderOptions& options = {},
                     CompileOptions compile_options = {}, const std::filesystem::path& cache_folder = {});
    /// As load(), with weights from another source, under the names and dtypes of `weights`.
    Gpt2(const Gpt2Config& config, const std::vector<WeightSpec>& weights, const WeightSource& source,
         const Context& context, const DecoderOptions& options = {}, const CompileOptions& compile_options = {});

    /// A second model with the same weights and its own cache.
    Gpt2 instance() const { return {config_, Decoder::instance()}; }
    const Gpt2Config& config() const noexcept { return config_; }

private:
    Gpt2(Gpt2Config config, Decoder decoder) : Decoder(std::move(decoder)), config_(std::move(config)) {}

    Gpt2Config config_;
};

}  // namespace cairn::inline v0::models
