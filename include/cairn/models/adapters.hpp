#pragma once

#include "cairn/types.hpp"

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Low-rank adapters (LoRA, Hu et al., arXiv 2106.09685): small files that change the projections of a model.
namespace cairn::inline v0::models {

/// What an adapter adds to one projection: x @ w becomes x @ w + scale (x @ a^T) @ b^T.
struct LoraUpdate {
    std::string module;           ///< name of the projection, that of its weight without `.weight`
    std::int64_t rank = 0;        ///< R, at least 1
    std::int64_t in = 0;          ///< K, elements of a row of x
    std::int64_t out = 0;         ///< N, elements of a row of the result
    double scale = 1;             ///< alpha / R, or alpha / sqrt(R) if rank-stabilized (arXiv 2312.03732)
    std::vector<float> a{}, b{};  ///< [R, K] and [N, R]
};

/// The contents of an adapter, in memory. Copies share them.
class CAIRN_API LoraAdapter {
public:
    /// Reads a folder of the library PEFT (adapter_config.json and adapter_model.safetensors), or a `.gguf` file of
    /// `general.type` adapter. f16, bf16 and f64 elements become f32. Throws Error(file) naming all tensors without a
    /// counterpart, or with another rank than the config's, and elements that are not finite; Error(unsupported)
    /// naming what Cairn does not compute: another method than LoRA, DoRA, biases, embeddings, ...
    template <typename Path>
    requires std::convertible_to<const Path&, std::filesystem::path> LoraAdapter(const Path& path)
        : LoraAdapter(read(path)) {}
    /// An adapter of these updates; `name` stands in errors. Throws Error(argument) for sizes that differ from the
    /// elements, elements or a scale that are not finite, and a module that is named twice.
    LoraAdapter(std::string name, std::vector<LoraUpdate> updates);

    /// The updates, sorted by module.
    const std::vector<LoraUpdate>& updates() const noexcept;
    /// The largest rank of an update; 0 without updates.
    std::int64_t rank() const noexcept;

    struct State;
    /// All that was read, for the models.
    const State& state() const noexcept { return *state_; }

private:
    explicit LoraAdapter(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}
    static LoraAdapter read(const std::filesystem::path& path);
    std::shared_ptr<const State> state_;
};

/// An adapter of a model, with the name by which it is set.
struct NamedAdapter {
    std::string name;     ///< not empty
    LoraAdapter adapter;  ///< from a path, or made in memory
    double scale = 1;     ///< multiplies that of each update; 0 leaves the model as it is
};

/// How a model applies its adapters.
enum class AdapterForm {
    exchanged,  ///< inputs of the graph: one adapter at a time, which is exchanged without compiling
    rows,       ///< inputs of the graph that hold all adapters: each row of a batch has its own
    merged      ///< added to the weights as they are bound: one adapter, which cannot be taken out again
};

/// The adapters of a model.
///
///     DecoderOptions options{.adapters = {{"poems", "poems-lora"}, {"letters", "letters.gguf", 0.5}}};
///     EncoderOptions merged{.adapters = {{{"reviews", "reviews-lora"}}, AdapterForm::merged}};
struct AdapterOptions {
    AdapterOptions() = default;
    AdapterOptions(std::initializer_list<NamedAdapter> adapters) : list(adapters) {}
    AdapterOptions(std::vector<NamedAdapter> adapters, AdapterForm how, std::int64_t most_rank = 0)
        : list(std::move(adapters)), form(how), max_rank(most_rank) {}

    std::vector<NamedAdapter> list{};           ///< each with a name of its own; the first is set after loading
    AdapterForm form = AdapterForm::exchanged;  ///< of all of them
    /// Up to this rank adapters can be added later, to the projections that one of the list changes; 0: the largest
    /// rank of the list. Smaller ranks are padded with zeros.
    std::int64_t max_rank = 0;
};

class AdapterBank;

}  // namespace cairn::inline v0::models
