#pragma once

#include "cairn/compile.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace bench {

/// The work of one iteration of a model.
struct Workload {
    enum class Kind {
        prefill,   ///< all `length` tokens of a prompt at once (GPT-2)
        decode,    ///< one token, the most likely one, after `length` cached ones (GPT-2)
        classify,  ///< classification of texts of `length` tokens (DistilBERT)
    };
    Kind kind = Kind::prefill;
    std::int64_t length = 128;
    std::int64_t batch = 1;   ///< number of texts computed together
    bool all_logits = false;  ///< logits of every position, not only of the last
};

/// Files of a model and of its reference outputs.
struct ModelSource {
    /// Model folder in Hugging Face's layout, or a .gguf file; nullopt: the full-size model with synthetic weights.
    std::optional<std::filesystem::path> model;
    std::filesystem::path golden;             ///< float64 outputs of a reference implementation; empty: none
    std::filesystem::path cache_folder = {};  ///< folder for the compiled, packed model; empty: none
    std::size_t references = SIZE_MAX;        ///< texts of `golden` whose logits are compared, at most
};

/// Minimum work: the flops and bytes that any implementation of a workload needs.
struct MinimumWork {
    double flops = 0;  ///< of matrix products that an output depends on; a multiply-add counts as two
    double bytes = 0;  ///< stored weights, looked-up rows of tables, and cached keys and values, each read once
};

/// A compiled and bound model with the inputs of a workload.
class BenchmarkedModel {
public:
    virtual ~BenchmarkedModel() = default;
    /// Prepares the state for an iteration. Not part of the timed work.
    virtual void prepare() = 0;
    /// Runs one iteration. Returns its logits, valid until the next one.
    virtual std::span<const float> run() = 0;
    virtual cairn::CompiledGraph& compiled() = 0;
    /// Enables or disables the profile of later iterations.
    virtual void profile(bool is_profiled) = 0;
    /// Values of the symbols in one iteration.
    virtual std::vector<std::pair<std::string_view, std::int64_t>> sizes() const = 0;
    virtual MinimumWork needs() const = 0;
    /// Relative L2 distance of the logits from the reference's, for the reference's texts run in the same kind of
    /// workload. nullopt if there is none that the model has room for.
    virtual std::optional<double> error() = 0;
};

/// Compiles and binds the model. Throws cairn::Error for a workload that the model does not support.
std::unique_ptr<BenchmarkedModel> make_benchmarked_model(const Workload& work, const ModelSource& source,
                                                         const cairn::Context& context,
                                                         const cairn::CompileOptions& options);

/// Token ids of all rows of a workload. Element j of row r is synthetic::hash(1000 + r, j) modulo the vocabulary
/// (examples/synthetic_weights.hpp).
std::vector<std::int32_t> workload_ids(std::int64_t rows, std::int64_t length, std::int64_t vocabulary);

}  // namespace bench
