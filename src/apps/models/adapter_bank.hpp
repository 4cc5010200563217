#pragma once

#include "apps/models/lora_adapter.hpp"
#include "cairn/compile.hpp"
#include "cairn/models/adapters.hpp"
#include "cairn/models/checkpoint.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0::models {

/// The order of the axes of a projection's weight: [N, K], as linear layers have it, or [K, N], as GPT-2 does.
enum class MatrixOrder : std::uint8_t { out_in, in_out };

/// How a model names its projections.
struct ModuleNames {
    std::string model;   ///< for errors
    std::string prefix;  ///< that files of the model without a head omit
    /// The names of its tensors in GGUF files, of the architecture llama (true) or of others.
    std::function<std::span<const GgufName>(bool is_interleaved)> gguf;
};

/// A projection of the model, which adapters may change.
struct AdapterSite {
    std::string module, weight;  ///< its name, and that of its weight, which it may share
    MatrixOrder order = MatrixOrder::out_in;
    std::int64_t in = 0, out = 0, heads = 0;
    bool is_stored_transposed = false;
    std::string block_type;      ///< of a weight in quantized blocks
    std::int64_t rank = 0;       ///< the largest of an adapter; 0: none changes it
    std::string a_name, b_name;  ///< of the graph's inputs a [R, K] and b [R, N], of AdapterForm::rows [C, R, ..]
    Tensor a{}, b{};

    bool is_tied() const { return weight != module + ".weight"; }
};

/// The adapters of a model: while its graph is built, the projections that they change; later their elements.
class AdapterBank {
public:
    /// Throws Error(argument) for names that are empty or repeated, a `max_rank` below that of an adapter, and several
    /// adapters to merge.
    AdapterBank(ModuleNames names, AdapterOptions options);

    /// Begins a graph, whose rows are the first axis of what is projected.
    void begin(Graph& graph, const Dim& batch);
    /// x @ w, changed by the inputs of adapters; nothing if no adapter changes it in the graph. `w` is [K, N], the
    /// weight of `spec` in `order`. `module` has another name than its weight if that belongs to another module.
    std::optional<Tensor> changed_product(const Tensor& x, const Tensor& w, const std::string& module,
                                          const WeightSpec& spec, MatrixOrder order);
    /// Ends a graph of these weights. Throws Error(file) or Error(unsupported) with all that does not fit it.
    void end(const std::vector<WeightSpec>& weights);

    /// The splits of a compile, with one for runs without an adapter.
    std::vector<Split> with_splits(std::vector<Split> splits) const;
    /// A source of the weights with the adapter merged, if that is the form.
    WeightSource merged(WeightSource source, const std::vector<WeightSpec>& weights);
    /// What a merged adapter adds to the fingerprint of the weights.
    std::string fingerprint() const;
    /// The largest error by which merged weights were rounded, relative to the largest element of each.
    std::optional<double> rounding() const { return rounding_ ? *rounding_ : std::nullopt; }

    std::vector<std::string> names() const;
    /// Adds an adapter; throws as end() does, and Error(argument) for a form or a rank that does not allow it.
    void add(const NamedAdapter& adapter);
    /// Sets the adapter of all rows; empty: none. Throws Error(argument) for an unknown name.
    void set(CompiledGraph& compiled, std::string_view name);
    /// Sets one adapter for each row.
    void set(CompiledGraph& compiled, std::span<const std::string> names);
    /// Sets the inputs of a new instance of the compiled graph as they are set here, at first to the first adapter.
    void set_inputs(CompiledGraph& compiled) const;
    /// Sets what depends on the number of rows of the next run. Throws Error(argument) if they have other adapters.
    void before_run(CompiledGraph& compiled, std::int64_t rows);

private:
    /// The elements of an adapter, or of all of them, for the inputs of each changed site.
    struct Elements {
        std::vector<std::vector<float>> a, b;
    };

    bool has_inputs() const { return !options_.list.empty() && options_.form != AdapterForm::merged; }
    std::int64_t rank_at(const AdapterSite& site) const;
    const LoraUpdate* update_at(const LoraAdapter& adapter, const AdapterSite& site) const;
    std::vector<float> transposed_b(const LoraAdapter& adapter, const AdapterSite& site,
                                    const LoraUpdate& update) const;
    void check_fit(const NamedAdapter& adapter, const std::vector<WeightSpec>& weights) const;
    void check_updates(const LoraAdapter& adapter, FaultList& faults) const;
    void check_layers(const LoraAdapter& adapter, FaultList& faults) const;
    void check_merge(const LoraAdapter& adapter, const std::vector<WeightSpec>& weights, FaultList& faults) const;
    std::map<std::string, const SavedTensor*, std::less<>> saved_names(const LoraAdapter& adapter,
                                                                       const std::vector<WeightSpec>& weights) const;
    void append(const NamedAdapter& adapter, Elements& elements) const;
    std::int32_t index_of(std::string_view name) const;
    [[noreturn]] void refuse(ErrorKind kind, const std::string& what) const;

    ModuleNames names_;
    AdapterOptions options_;
    Dim used_;    ///< 1 if the inputs of the graph hold an adapter, otherwise 0
    Tensor ids_;  ///< of AdapterForm::rows
    std::vector<AdapterSite> sites_;
    std::vector<std::shared_ptr<const Elements>> elements_;  ///< of each adapter; of AdapterForm::rows of all
    std::vector<std::int32_t> chosen_{-1};  ///< adapters by index, -1: none; one for all rows, or one for each
    std::vector<std::int32_t> ids_of_run_;
    std::shared_ptr<std::optional<double>> rounding_;
};

}  // namespace cairn::inline v0::models
