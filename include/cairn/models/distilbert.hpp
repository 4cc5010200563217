#pragma once

#include "cairn/compile.hpp"
#include "cairn/models/checkpoint.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

/// DistilBERT for sequence classification (Sanh et al., arXiv 1910.01108) as a graph, read from an ordinary Hugging
/// Face folder.
namespace cairn::inline v0::models {

/// Configuration of a DistilBERT, as in config.json. The defaults are distilbert-base with two labels.
struct DistilBertConfig {
    /// Sizes: vocabulary, positions, hidden width, attention heads, layers, width of the feed-forward layer.
    std::int64_t vocabulary = 30522, positions = 512, width = 768, heads = 12, layers = 6, inner = 3072;
    std::string activation = "gelu";  ///< gelu, relu, silu, gelu_new
    std::vector<std::string> labels{"LABEL_0",
                                    "LABEL_1"};  ///< names of the logits: `id2label`, or LABEL_0 to `num_labels` - 1
    /// Interpretation of the logits: `single_label_classification`, `multi_label_classification` or `regression`; empty
    /// if the file does not say. The graph is the same.
    std::string problem_type{};

    /// Reads config.json. Throws Error(file) naming a missing or invalid entry, Error(unsupported) for another kind of
    /// model.
    CAIRN_API static DistilBertConfig read(const std::filesystem::path& config_json);
    /// Reads the metadata of a GGUF file, whose architecture must be bert, without token types and with a classifier,
    /// as llama.cpp converts a DistilBERT. Throws as above.
    CAIRN_API static DistilBertConfig read(const Gguf& file);
    /// Reads what a model's folder or `.gguf` file says.
    CAIRN_API static DistilBertConfig of_model(const std::filesystem::path& model);
};

/// The tensors of a DistilBERT classifier in the order of the reference implementation's state dictionary. Throws
/// Error(argument) for a config out of range: sizes are at least 1, and heads divides width.
CAIRN_API std::vector<WeightSpec> distilbert_weights(const DistilBertConfig& config);
/// The same as a model's folder or `.gguf` file stores them. Throws what find_weights() throws.
CAIRN_API std::vector<WeightSpec> distilbert_weights(const DistilBertConfig& config,
                                                     const std::filesystem::path& model);

/// The names of these tensors in GGUF files of the architecture bert.
CAIRN_API std::span<const GgufName> distilbert_gguf_names();

/// The graph of a DistilBERT classifier. Inputs: `ids` i32[B,S], `mask` bool[B,S] (false: padding). Output: `logits`
/// f32[B,labels]. Symbols: B in 1..max_batch, and S.
CAIRN_API Graph distilbert_graph(const DistilBertConfig& config, const std::vector<WeightSpec>& weights,
                                 std::int64_t max_batch = 8);

/// A compiled DistilBERT classifier. Not thread-safe.
///
///     DistilBert model = DistilBert::load("examples/models/sst2-distilbert", context);
///     auto logits = model.forward(tokenizer->encode(sentence));
class CAIRN_API DistilBert {
public:
    /// Reads a folder with config.json and model.safetensors, or a `.gguf` file, compiles and binds. Throws Error(file)
    /// and what compile() throws.
    ///
    /// `cache_folder` caches the compiled graph and the packed weights for the next start, as
    /// CompileOptions::cache_file and PackedFile describe. It is created if absent, and is for one model and one set of
    /// compile options.
    static DistilBert load(const std::filesystem::path& path, const Context& context, std::int64_t max_batch = 8,
                           CompileOptions compile_options = {}, const std::filesystem::path& cache_folder = {});
    /// As load(), with weights from another source, under the names and dtypes of `weights`.
    DistilBert(const DistilBertConfig& config, const std::vector<WeightSpec>& weights, const WeightSource& source,
               const Context& context, std::int64_t max_batch = 8, const CompileOptions& compile_options = {});

    /// Logits of one text, valid until the next call. Throws Error(argument) for no ids, more ids than the config's
    /// positions, or an id outside the vocabulary.
    std::span<const float> forward(std::span<const std::int32_t> ids);
    /// Logits of several rows, row after row. Shorter rows are padded and masked. At most max_batch rows.
    std::span<const float> forward(std::span<const std::vector<std::int32_t>> rows);
    /// As above, with the given ids and masks, all of one length.
    std::span<const float> forward(std::span<const std::vector<std::int32_t>> rows,
                                   std::span<const std::vector<bool>> masks);

    /// The configuration, and the underlying compiled graph.
    const DistilBertConfig& config() const noexcept { return config_; }
    CompiledGraph& compiled() noexcept { return compiled_; }
    /// Options for the runs of forward(): stop, progress, profile.
    RunOptions run_options;

private:
    DistilBert(DistilBertConfig config, std::int64_t max_batch, CompiledGraph compiled);

    DistilBertConfig config_;
    std::int64_t max_batch_ = 1;
    CompiledGraph compiled_;
    std::vector<std::int32_t> ids_;
    std::vector<std::uint8_t> mask_;
};

}  // namespace cairn::inline v0::models
