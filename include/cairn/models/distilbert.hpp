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

/// What config.json says of a DistilBERT. The defaults are distilbert-base with two labels.
struct DistilBertConfig {
    /// Sizes: entries of the vocabulary, positions, width, attention heads, layers, inner width.
    std::int64_t vocabulary = 30522, positions = 512, width = 768, heads = 12, layers = 6, inner = 3072;
    std::string activation = "gelu";                        ///< gelu, relu, silu, gelu_new
    std::vector<std::string> labels{"LABEL_0", "LABEL_1"};  ///< by logit: `id2label`, or LABEL_0 to `num_labels` - 1
    /// What logits mean: `single_label_classification`, `multi_label_classification` or `regression`; empty where the
    /// file does not say. The graph is the same.
    std::string problem_type{};

    /// Reads config.json. Throws Error(file) naming the entry that is missing or makes no sense, Error(unsupported) for
    /// another kind of model.
    CAIRN_API static DistilBertConfig read(const std::filesystem::path& config_json);
};

/// The tensors of a DistilBERT classifier in the order of the reference implementation's state dictionary. Throws
/// Error(argument) for a config out of range: sizes begin at 1, heads divide the width.
CAIRN_API std::vector<WeightSpec> distilbert_weights(const DistilBertConfig& config);

/// Inputs: `ids` i32[B,S], `mask` bool[B,S] (false: padding). Output: `logits` f32[B,labels]. Symbols B in 1..max_batch
/// and S.
CAIRN_API Graph distilbert_graph(const DistilBertConfig& config, const std::vector<WeightSpec>& weights,
                                 std::int64_t max_batch = 8);

/// A compiled classifier. For one thread at a time.
///
///     DistilBert model = DistilBert::load("examples/models/sst2-distilbert", context);
///     auto logits = model.forward(tokenizer->encode(sentence));
class CAIRN_API DistilBert {
public:
    /// Reads config.json and model.safetensors, compiles and binds. Throws Error(file) and what compile() throws.
    ///
    /// In `cache_folder`, a folder of one model and one way to compile it, made where there is none, the compiled graph
    /// and the packed weights are kept for the next start, as CompileOptions::saved and PackedFile say.
    static DistilBert load(const std::filesystem::path& folder, const Context& context, std::int64_t max_batch = 8,
                           CompileOptions compile_options = {}, const std::filesystem::path& cache_folder = {});
    /// The same with weights from elsewhere, under the names and dtypes of `weights`.
    DistilBert(const DistilBertConfig& config, const std::vector<WeightSpec>& weights, const WeightSource& source,
               const Context& context, std::int64_t max_batch = 8, const CompileOptions& compile_options = {});

    /// Logits of one text, valid until the next call. Throws Error(argument) for no ids, more than the config's
    /// positions, or an id outside the vocabulary.
    std::span<const float> forward(std::span<const std::int32_t> ids);
    /// Logits of several rows, row after row; shorter rows are padded and masked. At most max_batch rows.
    std::span<const float> forward(std::span<const std::vector<std::int32_t>> rows);
    /// The same with ids and masks as given, all of one length.
    std::span<const float> forward(std::span<const std::vector<std::int32_t>> rows,
                                   std::span<const std::vector<bool>> masks);

    /// What it was made from, and the compiled graph below it.
    const DistilBertConfig& config() const noexcept { return config_; }
    CompiledGraph& compiled() noexcept { return compiled_; }
    /// Options of the runs that forward() makes: stop, progress, profile.
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
