#pragma once

#include "cairn/compile.hpp"
#include "cairn/models/adapters.hpp"
#include "cairn/models/checkpoint.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Text encoders of the BERT family as graphs, read from an ordinary Hugging Face folder.
namespace cairn::inline v0::models {

/// The architecture, by `model_type` of config.json.
enum class EncoderType {
    bert,        ///< Devlin et al., arXiv 1810.04805
    roberta,     ///< Liu et al., arXiv 1907.11692; also xlm-roberta and camembert
    distilbert,  ///< Sanh et al., arXiv 1910.01108
    albert       ///< Lan et al., arXiv 1909.11942: narrow embeddings, and layers that share their weights
};

/// What is computed from the hidden states of the last layer. The graph has one output, f32.
enum class EncoderHead {
    none,      ///< `hidden` [B,S,width]: the hidden states themselves
    pooling,   ///< `embedding` [B,width]: one vector for each text
    sequence,  ///< `logits` [B,labels] of each text
    token,     ///< `logits` [B,S,labels] of each token
    question,  ///< `logits` [B,2,S] of each token as the first and as the last one of the answer
    masked     ///< `logits` [B,S,vocabulary] of the words at each position
};

/// How EncoderHead::pooling makes one vector of the hidden states of a text.
enum class Pooling {
    mean,  ///< their mean over the tokens of the mask
    first  ///< that of the first token, `[CLS]`
};

/// Configuration of an encoder. The defaults are bert-base without a head.
struct EncoderConfig {
    EncoderType type = EncoderType::bert;  ///< architecture
    EncoderHead head = EncoderHead::none;  ///< what the output is
    /// Sizes: vocabulary, rows of the table of positions, hidden width, attention heads, layers, width of the
    /// feed-forward layer.
    std::int64_t vocabulary = 30522, positions = 512, width = 768, heads = 12, layers = 12, inner = 3072;
    std::int64_t embedding_width = 0;  ///< of the tables, which ALBERT projects to the hidden width; 0: that width
    std::int64_t token_types = 2;      ///< segments that a text may have (`[CLS] A [SEP] B [SEP]` has two); 0: none
    /// ALBERT only: the number of groups of layers, whose layers share their weights, and the number of inner layers
    /// that each layer applies in sequence.
    std::int64_t groups = 1, inner_layers = 1;
    std::int32_t padding_id = 0;        ///< fills shorter rows; RoBERTa counts positions from it, over the other ids
    double layer_norm_epsilon = 1e-12;  ///< added under the square root
    std::string activation = "gelu";    ///< of the feed-forward layer: gelu, gelu_new, relu, silu, ...
    std::vector<std::string> labels{"LABEL_0",
                                    "LABEL_1"};  ///< names of the logits: `id2label`, or LABEL_0 to `num_labels` - 1
    /// Interpretation of the logits of a text: `single_label_classification`, `multi_label_classification` or
    /// `regression`; empty if the file does not say. The graph is the same.
    std::string problem_type{};
    bool tied = true;                 ///< EncoderHead::masked multiplies by the table of words
    Pooling pooling = Pooling::mean;  ///< of EncoderHead::pooling
    bool normalizes = false;          ///< EncoderHead::pooling divides the vector by its Euclidean norm
    std::int64_t max_tokens = 0;      ///< tokens of a text that its author's library uses; 0: not stated

    /// The most ids that a text may have: `positions`, less those that RoBERTa does not use.
    CAIRN_API std::int64_t longest() const;
    /// distilbert-base with a classifier of two labels.
    CAIRN_API static EncoderConfig distilbert_base();

    /// Reads config.json. The head is that of `architectures`: BertForTokenClassification has EncoderHead::token. If
    /// modules.json lies beside it, as in folders of sentence-transformers, the head is EncoderHead::pooling, with what
    /// that file and those it names state. Throws Error(file) naming a missing or invalid entry, Error(unsupported) for
    /// another kind of model.
    CAIRN_API static EncoderConfig read(const std::filesystem::path& config_json);
    /// Reads the metadata of a GGUF file, whose architecture must be bert: a BERT without a head or with pooling, or a
    /// DistilBERT with its classifier. Throws as above.
    CAIRN_API static EncoderConfig read(const Gguf& file);
    /// Reads what a model's folder or `.gguf` file says.
    CAIRN_API static EncoderConfig of_model(const std::filesystem::path& model);
};

/// The tensors of an encoder, from the embeddings to the head. Throws Error(argument)
/// for a config out of range: sizes are at least 1, and heads divides width.
CAIRN_API std::vector<WeightSpec> encoder_weights(const EncoderConfig& config);
/// The same as a model's folder or `.gguf` file stores them. Throws what find_weights() throws.
CAIRN_API std::vector<WeightSpec> encoder_weights(const EncoderConfig& config, const std::filesystem::path& model);

/// The names of these tensors in GGUF files of the architecture bert.
CAIRN_API std::span<const GgufName> encoder_gguf_names(EncoderType type);

/// The graph of an encoder. Inputs: `ids` i32[B,S], `mask` bool[B,S] (false: padding) and, with more than one token
/// type, `types` i32[B,S]. Output: see EncoderHead. Symbols: B in 1..max_batch, and S in 1..longest(). Layers of ALBERT
/// that share weights read the same weight inputs, which are in memory once.
CAIRN_API Graph encoder_graph(const EncoderConfig& config, const std::vector<WeightSpec>& weights,
                              std::int64_t max_batch = 8, const AdapterOptions& adapters = {});

/// Options of Encoder::load().
struct EncoderOptions {
    std::int64_t max_batch = 8;           ///< rows of a run
    std::optional<EncoderHead> head{};    ///< instead of the one that the files state
    std::optional<bool> normalizes{};     ///< as EncoderConfig::normalizes
    std::optional<Pooling> pooling = {};  ///< as EncoderConfig::pooling
    AdapterOptions adapters{};            ///< that the model may use
};

/// The token types of ids of one or two texts: 0 up to the first separator, 1 after it.
///
///     token_types({cls, 7, sep, 8, 9, sep}, sep)   ->   0 0 0 1 1 1
CAIRN_API std::vector<std::int32_t> token_types(std::span<const std::int32_t> ids, std::int32_t separator);

/// A compiled encoder. Not thread-safe.
///
///     Encoder model = Encoder::load("examples/models/sst2-distilbert", context);
///     auto logits = model.forward(tokenizer->encode(sentence));
class CAIRN_API Encoder {
public:
    /// Reads a folder with config.json and model.safetensors (or its shards), or a `.gguf` file, compiles and binds.
    /// Throws Error(file) and what compile() throws.
    ///
    /// `cache_folder` caches the compiled graph and the packed weights for the next start, as
    /// CompileOptions::cache_file and PackedFile describe. It is created if absent, and is for one model and one set of
    /// compile options.
    static Encoder load(const std::filesystem::path& path, const Context& context, const EncoderOptions& options = {},
                        CompileOptions compile_options = {}, const std::filesystem::path& cache_folder = {});
    /// As load(), with weights from another source, under the names and dtypes of `weights`.
    Encoder(const EncoderConfig& config, const std::vector<WeightSpec>& weights, const WeightSource& source,
            const Context& context, std::int64_t max_batch = 8, const CompileOptions& compile_options = {},
            const AdapterOptions& adapters = {});

    /// The output for one text, valid until the next call. Throws Error(argument) for no ids, more ids than longest(),
    /// or an id outside the vocabulary.
    std::span<const float> forward(std::span<const std::int32_t> ids);
    /// The outputs of several rows, row after row. Shorter rows are padded with padding_id and masked, so that S is the
    /// length of the longest. At most max_batch rows.
    std::span<const float> forward(std::span<const std::vector<std::int32_t>> rows);
    /// As above, with masks, all rows of one length.
    std::span<const float> forward(std::span<const std::vector<std::int32_t>> rows,
                                   std::span<const std::vector<bool>> masks);
    /// As above, with token types, which are 0 in the other overloads. Throws Error(argument) for types if the model
    /// has none, and for a type that it lacks.
    std::span<const float> forward(std::span<const std::vector<std::int32_t>> rows,
                                   std::span<const std::vector<bool>> masks,
                                   std::span<const std::vector<std::int32_t>> types);

    /// Adapters, as Decoder::set_adapter() and its neighbours: of all rows, or of each row of the following runs.
    void set_adapter(std::string_view name = {});
    void set_adapters(std::span<const std::string> names);
    void add_adapter(const NamedAdapter& adapter);
    std::vector<std::string> adapter_names() const;
    std::optional<double> merge_rounding() const;

    /// The configuration, and the underlying compiled graph.
    const EncoderConfig& config() const noexcept { return config_; }
    CompiledGraph& compiled() noexcept { return compiled_; }
    /// Options for the runs of forward(): stop, progress, profile.
    RunOptions run_options;

private:
    Encoder(EncoderConfig config, std::int64_t max_batch, CompiledGraph compiled,
            std::shared_ptr<AdapterBank> adapters);

    EncoderConfig config_;
    std::int64_t max_batch_ = 1;
    CompiledGraph compiled_;
    std::shared_ptr<AdapterBank> adapters_;  // of this object alone
    std::vector<std::int32_t> ids_, types_;
    std::vector<std::uint8_t> mask_;
};

}  // namespace cairn::inline v0::models
