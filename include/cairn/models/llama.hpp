#pragma once

#include "cairn/models/checkpoint.hpp"
#include "cairn/models/decoder.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// Llama (Touvron et al., arXiv 2302.13971) and its relatives as graphs: Mistral, Qwen 2 and 3, Gemma 3.
namespace cairn::inline v0::models {

/// Configuration of a Llama or a relative. The defaults are a Llama with the sizes of SmolLM2-135M.
struct LlamaConfig {
    /// Sizes: vocabulary, positions, hidden width, query heads, key heads (which divide the query heads), width of a
    /// head, layers, width of the feed-forward layer.
    std::int64_t vocabulary = 49152, positions = 8192, width = 576, heads = 9, key_heads = 3, head_width = 64,
                 layers = 30, inner = 1536;
    double norm_epsilon = 1e-5;       ///< of the RMS norms; finite and at least 0
    std::string activation = "silu";  ///< of the gate
    bool tied = true;                 ///< the output projection uses the embedding's weights
    bool has_qkv_bias = false;        ///< Qwen 2
    bool has_output_bias = false;     ///< of the projection after the attention
    bool has_inner_bias = false;      ///< of the feed-forward layer
    bool has_head_norms = false;      ///< RMS norm of each query and key head: Qwen 3, Gemma 3
    bool has_post_norms = false;      ///< RMS norm of what attention and feed-forward layer add: Gemma 3
    bool norms_add_one = false;       ///< norms multiply by 1 + weight: Gemma 3 in safetensors files
    double embedding_scale = 1;       ///< multiplies the embeddings: sqrt(width) in Gemma 3
    double attention_scale = 0;       ///< multiplies the scores; 0: 1/sqrt(head_width)

    double rope_base = 100000;           ///< of the rotary position embedding
    std::vector<double> rope_factors{};  ///< divide its frequencies, one for each pair of a head; empty: none
    /// Layers with true attend to the last `window` positions only, with the base `local_rope_base` and no factors.
    /// Empty: none does.
    std::vector<bool> is_local{};
    std::int64_t window = 0;
    double local_rope_base = 10000;

    /// Reads config.json of a llama, mistral, qwen2, qwen3 or gemma3_text. Throws Error(file) naming a missing or
    /// invalid entry, Error(unsupported) for another kind of model or of rotary scaling.
    CAIRN_API static LlamaConfig read(const std::filesystem::path& config_json);
    /// Reads the metadata of a GGUF file of the architecture llama, qwen2, qwen3 or gemma3. Throws as above.
    CAIRN_API static LlamaConfig read(const Gguf& file);
    /// Reads what a model's folder or `.gguf` file says.
    CAIRN_API static LlamaConfig of_model(const std::filesystem::path& model);
};

/// The tensors of such a model. Throws Error(argument) for a config out of range: sizes are at least 1, head widths
/// even, and key heads divide heads.
CAIRN_API std::vector<WeightSpec> llama_weights(const LlamaConfig& config);
/// The same as a model's folder or `.gguf` file stores them. Throws what find_weights() throws.
CAIRN_API std::vector<WeightSpec> llama_weights(const LlamaConfig& config, const std::filesystem::path& model);

/// The names of these tensors in GGUF files. Files of the architecture llama store the rows of each query and key head
/// interleaved.
CAIRN_API std::span<const GgufName> llama_gguf_names(const LlamaConfig& config, bool is_interleaved);

/// The graph of such a model, as Decoder describes it. Throws Error(argument) for a config or options out of range.
CAIRN_API Graph llama_graph(const LlamaConfig& config, const std::vector<WeightSpec>& weights,
                            const DecoderOptions& options = {});

/// A compiled Llama or relative with its key/value cache. Not thread-safe; instance() returns further ones that share
/// programs and weights.
///
///     Llama model = Llama::load("SmolLM2-135M-Instruct.Q4_1.gguf", context, {.capacity = 1024});
///     auto logits = model.forward(ids);
class CAIRN_API Llama : public Decoder {
public:
    /// Reads a folder with config.json and model.safetensors (or its shards), or a `.gguf` file, compiles and binds.
    /// Throws Error(file) and what compile() throws. Splits T into 1, 2..12 and 13.. if compile_options has no splits.
    ///
    /// The cache of keys and values has `capacity` positions: name one, since models state up to 131,072.
    /// `cache_folder` caches the compiled graph and the packed weights for the next start, as
    /// CompileOptions::cache_file and PackedFile describe. It is created if absent, and is for one model and one set of
    /// compile options.
    static Llama load(const std::filesystem::path& path, const Context& context, const DecoderOptions& options = {},
                      CompileOptions compile_options = {}, const std::filesystem::path& cache_folder = {});
    /// As load(), with weights from another source, under the names and dtypes of `weights`.
    Llama(const LlamaConfig& config, const std::vector<WeightSpec>& weights, const WeightSource& source,
          const Context& context, const DecoderOptions& options = {}, const CompileOptions& compile_options = {});

    /// A second model with the same weights and its own cache.
    Llama instance() const { return {config_, Decoder::instance()}; }
    const LlamaConfig& config() const noexcept { return config_; }

private:
    Llama(LlamaConfig config, Decoder decoder) : Decoder(std::move(decoder)), config_(std::move(config)) {}

    LlamaConfig config_;
};

}  // namespace cairn::inline v0::models
