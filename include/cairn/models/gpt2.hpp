#pragma once

#include "cairn/compile.hpp"
#include "cairn/models/checkpoint.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// GPT-2 (Radford et al. 2019) as a graph: any size of the family, read from an ordinary Hugging Face folder.
namespace cairn::inline v0::models {

/// What config.json says of a GPT-2. The defaults are the 124M model.
struct Gpt2Config {
    /// Sizes: entries of the vocabulary, positions, width, attention heads, layers, inner width.
    std::int64_t vocabulary = 50257, positions = 1024, width = 768, heads = 12, layers = 12, inner = 3072;
    double layer_norm_epsilon = 1e-5;     ///< inside the root; finite and at least 0
    std::string activation = "gelu_new";  ///< gelu_new, gelu_fast and gelu_pytorch_tanh are gelu_tanh; gelu, relu, silu
    bool scale_attention = true;          ///< by 1/sqrt(width / heads)
    bool scale_by_layer = false;          ///< and by 1/(layer + 1)
    bool tied = true;                     ///< the output projection is the embedding

    /// Reads config.json. Throws Error(file) naming the entry that is missing or makes no sense, Error(unsupported) for
    /// another kind of model.
    CAIRN_API static Gpt2Config read(const std::filesystem::path& config_json);
};

/// The tensors of a GPT-2 in the order of the reference implementation's state dictionary. Throws Error(argument) for a
/// config out of range: sizes begin at 1, heads divide the width.
CAIRN_API std::vector<WeightSpec> gpt2_weights(const Gpt2Config& config);

/// Which positions get logits.
enum class Logits { last, all };

/// How the graph is made.
struct Gpt2Options {
    Logits logits = Logits::last;  ///< of which positions
    std::int64_t max_batch = 1;    ///< rows; above 1 the graph takes an input `start`
    std::int64_t capacity = 0;     ///< positions kept, at most those of the config; 0: all
};

/// One graph for prefill and decode: T new tokens behind `past` ones.
///
/// Inputs: `ids` i32[B,T]; with max_batch > 1 also `start` i32[B], the position in each row at which its text begins:
/// rows are padded on the left, what lies before is never seen and positions count from there. States `keys.i`,
/// `values.i` f32[B,heads,past,width/heads] grow by T a run. Output: `logits` f32[B,vocabulary] of the last position,
/// or f32[B,T,vocabulary]. Symbols B, T, past.
CAIRN_API Graph gpt2_graph(const Gpt2Config& config, const std::vector<WeightSpec>& weights,
                           const Gpt2Options& options = {});

/// A compiled GPT-2 with its key/value cache. For one thread at a time; instance() makes further ones that share
/// programs and weights.
///
///     Gpt2 model = Gpt2::load("examples/models/shakespeare-gpt2", context);
///     auto logits = model.forward(ids);            // prefill: logits of the last position
///     auto next = model.forward({&chosen, 1});     // decode, one token at a time
class CAIRN_API Gpt2 {
public:
    /// Reads config.json and model.safetensors (or its shards), compiles and binds. Throws Error(file) and what
    /// compile() throws. Splits T into 1, 2..12 and 13.. where compile_options has no splits.
    ///
    /// In `cache_folder`, a folder of one model and one way to compile it, made where there is none, the compiled graph
    /// and the packed weights are kept for the next start, as CompileOptions::saved and PackedFile say.
    static Gpt2 load(const std::filesystem::path& folder, const Context& context, const Gpt2Options& options = {},
                     CompileOptions compile_options = {}, const std::filesystem::path& cache_folder = {});
    /// The same with weights from elsewhere, under the names and dtypes of `weights`.
    Gpt2(const Gpt2Config& config, const std::vector<WeightSpec>& weights, const WeightSource& source,
         const Context& context, const Gpt2Options& options = {}, CompileOptions compile_options = {});

    /// Appends tokens to the text and gives logits (of the last token, or of all of them, row after row), valid until
    /// the next call. Throws Error(argument) for no tokens, an id outside the vocabulary, or a text longer than the
    /// capacity; the cache is then as before.
    std::span<const float> forward(std::span<const std::int32_t> ids);
    /// Several rows of equal length at once: `ids` holds starts.size() rows, row r begins at position starts[r]. Needs
    /// max_batch > 1.
    std::span<const float> forward(std::span<const std::int32_t> ids, std::span<const std::int32_t> starts);

    /// Tokens in the cache, and the most it holds.
    std::int64_t length() const noexcept { return length_; }
    std::int64_t capacity() const noexcept { return capacity_; }
    /// Forgets all but the first `length` tokens. Throws Error(argument) when there are fewer.
    void rewind(std::int64_t length = 0);
    /// Another model on the same weights, with a cache of its own.
    Gpt2 instance() const;

    /// What it was made from, and the compiled graph below it.
    const Gpt2Config& config() const noexcept { return config_; }
    CompiledGraph& compiled() noexcept { return compiled_; }
    /// Options of the runs that forward() makes: stop, progress, profile.
    RunOptions run_options;

private:
    Gpt2(Gpt2Config config, const Gpt2Options& options, CompiledGraph compiled, std::int64_t capacity);
    std::span<const float> run(std::span<const std::int32_t> ids, std::int64_t rows);

    Gpt2Config config_;
    Gpt2Options options_;
    CompiledGraph compiled_;
    std::int64_t capacity_ = 0, length_ = 0;
};

}  // namespace cairn::inline v0::models
