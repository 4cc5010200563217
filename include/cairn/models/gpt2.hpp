#pragma once

#include "cairn/compile.hpp"
#include "cairn/models/checkpoint.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
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

/// The positions for which logits are computed.
enum class Logits { last, all };

/// Options of gpt2_graph().
struct Gpt2Options {
    Logits logits = Logits::last;  ///< positions with logits
    std::int64_t max_batch = 1;    ///< rows; above 1 the graph has an input `start`
    std::int64_t capacity = 0;     ///< length of the cache in positions, at most the config's; 0: the config's
    /// The graph chooses the most likely token itself: for Gpt2::generate(), with one row and without logits.
    bool greedy = false;
};

/// One graph for prefill and decode: T new tokens after `past` cached ones.
///
/// Inputs: `ids` i32[B,T]; with max_batch > 1 also `start` i32[B], the position in each row at which its text begins:
/// rows are left-padded, tokens before `start` are masked, and positions count from it. States `keys.i`, `values.i`
/// f32[B,heads,past,width/heads] grow by T in each run. Output: `logits` f32[B,vocabulary] of the last position, or
/// f32[B,T,vocabulary]. Symbols: B, T, past.
///
/// With `greedy` the output is instead `next` i32[1,1], the most likely token after the last position (of equal ones
/// the lowest), and a state `text` i32[1,written] grows by it; where an id is negative, the last token of `text` is
/// read in its place. So the runs of a text follow each other without the host. The first element of `text` is no
/// token: it makes room for a symbol that is at least 1.
CAIRN_API Graph gpt2_graph(const Gpt2Config& config, const std::vector<WeightSpec>& weights,
                           const Gpt2Options& options = {});

/// A compiled GPT-2 with its key/value cache. Not thread-safe; instance() returns further ones that share programs and
/// weights.
///
///     Gpt2 model = Gpt2::load("examples/models/shakespeare-gpt2", context);
///     auto logits = model.forward(ids);            // prefill: logits of the last position
///     auto next = model.forward({&chosen, 1});     // decode, one token at a time
class CAIRN_API Gpt2 {
public:
    /// Reads a folder with config.json and model.safetensors (or its shards), or a `.gguf` file, compiles and binds.
    /// Throws Error(file) and what compile() throws. Splits T into 1, 2..12 and 13.. if compile_options has no splits.
    ///
    /// `cache_folder` caches the compiled graph and the packed weights for the next start, as
    /// CompileOptions::cache_file and PackedFile describe. It is created if absent, and is for one model and one set of
    /// compile options.
    static Gpt2 load(const std::filesystem::path& path, const Context& context, const Gpt2Options& options = {},
                     CompileOptions compile_options = {}, const std::filesystem::path& cache_folder = {});
    /// As load(), with weights from another source, under the names and dtypes of `weights`.
    Gpt2(const Gpt2Config& config, const std::vector<WeightSpec>& weights, const WeightSource& source,
         const Context& context, const Gpt2Options& options = {}, CompileOptions compile_options = {});

    /// Appends tokens to the text and returns logits (of the last token, or of all of them, row after row), valid until
    /// the next call. Throws Error(argument) for no tokens, an id outside the vocabulary, or a text longer than the
    /// capacity; the cache is then unchanged.
    std::span<const float> forward(std::span<const std::int32_t> ids);
    /// Appends tokens to the text and continues it by `count` tokens, each the most likely one, which are returned. The
    /// last of them is not in the cache yet: without ids, the next call goes on behind it. On a GPU the runs are
    /// submitted one behind another, and only the last one is waited for. Requires Gpt2Options::greedy. Throws
    /// Error(argument) as forward() does, for count < 1, and without ids if there is no text to go on from.
    ///
    ///     std::vector<std::int32_t> text = model.generate(ids, 8);   // 8 tokens
    ///     text = model.generate({}, 8);                              // the next 8
    std::vector<std::int32_t> generate(std::span<const std::int32_t> ids, std::int64_t count);
    /// As forward() above, for several rows of equal length: `ids` holds starts.size() rows, and the text of row r
    /// begins at position starts[r]. Requires max_batch > 1.
    std::span<const float> forward(std::span<const std::int32_t> ids, std::span<const std::int32_t> starts);

    /// Number of tokens in the cache, and its capacity.
    std::int64_t length() const noexcept { return length_; }
    std::int64_t capacity() const noexcept { return capacity_; }
    /// Truncates the cache to its first `length` tokens. Throws Error(argument) if it has fewer.
    void rewind(std::int64_t length = 0);
    /// A second model with the same weights and its own cache.
    Gpt2 instance() const;

    /// The configuration, and the underlying compiled graph.
    const Gpt2Config& config() const noexcept { return config_; }
    CompiledGraph& compiled() noexcept { return compiled_; }
    /// Options for the runs of forward(): stop, progress, profile.
    RunOptions run_options;

private:
    Gpt2(Gpt2Config config, const Gpt2Options& options, CompiledGraph compiled, std::int64_t capacity);
    std::span<const float> run(std::span<const std::int32_t> ids, std::int64_t rows);
    void submit(std::span<const std::int32_t> ids, std::int64_t count);
    void check(std::span<const std::int32_t> ids, std::int64_t added) const;

    Gpt2Config config_;
    Gpt2Options options_;
    CompiledGraph compiled_;
    std::int64_t capacity_ = 0, length_ = 0, written_ = 0;
};

}  // namespace cairn::inline v0::models
