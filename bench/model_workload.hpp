#pragma once

#include "cairn/compile.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace bench {

/// What a model is to do, once an iteration.
struct Workload {
    enum class Kind {
        prefill,   ///< `length` tokens of a text at once (GPT-2)
        decode,    ///< one token, the likeliest, behind `length` others (GPT-2)
        classify,  ///< texts of `length` tokens (DistilBERT)
    };
    Kind kind = Kind::prefill;
    std::int64_t length = 128;
    std::int64_t batch = 1;   ///< texts at once
    bool all_logits = false;  ///< of every position, not of the last
};

/// Where a model comes from.
struct ModelSource {
    /// As Hugging Face stores it; none: full size, with weights made from integers.
    std::optional<std::filesystem::path> folder;
    std::filesystem::path golden;  ///< outputs of a reference implementation in float64; empty: there are none
    std::filesystem::path cache_folder = {};  ///< where it is kept ready for the next start; empty: it is not
};

/// The least that any way to do a work computes and reads.
struct MinimumWork {
    double flops = 0;  ///< of products of matrices, a multiply-add counted as two, without what no output depends on
    double bytes = 0;  ///< weights as they are stored, of tables the rows looked up, and keys and values, each once
};

/// A model made ready for a work.
class BenchmarkedModel {
public:
    virtual ~BenchmarkedModel() = default;
    /// What comes before an iteration and is not part of it.
    virtual void prepare() = 0;
    /// One iteration; its logits, valid until the next.
    virtual std::span<const float> run() = 0;
    virtual cairn::CompiledGraph& compiled() = 0;
    /// Whether iterations from now on are profiled.
    virtual void profile(bool is_profiled) = 0;
    /// The sizes of one iteration, by symbol.
    virtual std::vector<std::pair<std::string_view, std::int64_t>> sizes() const = 0;
    virtual MinimumWork needs() const = 0;
    /// How far the logits of the reference's inputs, run as the work runs its own, are from the reference's: the
    /// relative L2 distance. Nothing where there is no reference.
    virtual std::optional<double> error() = 0;
};

/// Compiles and binds. Throws cairn::Error for a work that the model does not do.
std::unique_ptr<BenchmarkedModel> make_benchmarked_model(const Workload& work, const ModelSource& source,
                                                         const cairn::Context& context,
                                                         const cairn::CompileOptions& options);

/// The ids of all rows of a work: of row r, element j the hash of examples/synthetic_weights.hpp at tensor 1000 + r,
/// element j, modulo the vocabulary.
std::vector<std::int32_t> workload_ids(std::int64_t rows, std::int64_t length, std::int64_t vocabulary);

}  // namespace bench
