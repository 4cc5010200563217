#include "bench/model_minimum_work.hpp"

#include <algorithm>

namespace bench {
namespace {

using cairn::models::WeightSpec;

/// Sizes of the layers of a transformer on one text.
struct Layers {
    double count, width, inner;
    double rows;                ///< new positions
    double last_rows;           ///< new positions whose result is needed from the last layer
    double seen;                ///< sum over the new positions of the keys each attends to
    double last_attended_keys;  ///< the same in the last layer
};

double flops_of(const Layers& a) {
    const double square = a.width * a.width, widen = a.width * a.inner;
    const auto layer = [&](double rows, double seen) {
        const double keys_and_values = 2 * a.rows * 2 * square;
        return keys_and_values + 2 * rows * (2 * square + 2 * widen) + 4 * a.width * seen;
    };
    return (a.count - 1) * layer(a.rows, a.seen) + layer(a.last_rows, a.last_attended_keys);
}

/// Bytes of the first rows of a weight as its file stores it.
double bytes_of(const WeightSpec& weight, double rows) {
    double bytes = static_cast<double>(cairn::size_of(weight.dtype));
    for (const std::int64_t size : weight.block_type.empty() ? weight.shape : weight.block_shape)
        bytes *= static_cast<double>(size);
    const auto all = static_cast<double>(weight.shape[0]);
    return bytes * std::min(rows, all) / all;
}

/// Bytes of all weights. Of the tables that are only looked up, at most as many rows count as there are tokens or
/// positions; `token_table_suffix` and `position_table_suffix` are the ends of their names, the former empty if that
/// table is read whole.
double weight_bytes(const std::vector<WeightSpec>& weights, double tokens, double positions,
                    std::string_view token_table_suffix, std::string_view position_table_suffix) {
    double bytes = 0;
    for (const WeightSpec& weight : weights) {
        double rows = static_cast<double>(weight.shape[0]);
        if (!token_table_suffix.empty() && weight.name.ends_with(token_table_suffix)) rows = tokens;
        if (weight.name.ends_with(position_table_suffix)) rows = positions;
        bytes += bytes_of(weight, rows);
    }
    return bytes;
}

}  // namespace

MinimumWork gpt2_minimum_work(const Workload& work, const cairn::models::Gpt2Config& config,
                              const std::vector<WeightSpec>& weights) {
    const bool decodes = work.kind == Workload::Kind::decode;
    const auto batch = static_cast<double>(work.batch), length = static_cast<double>(work.length);
    const double past = decodes ? length : 0, rows = decodes ? 1 : length;
    const auto width = static_cast<double>(config.width), layers = static_cast<double>(config.layers);
    const double seen = rows * past + rows * (rows + 1) / 2;
    const double answers = work.all_logits ? rows : 1;
    const Layers stack{layers,  width, static_cast<double>(config.inner),   rows,
                       answers, seen,  work.all_logits ? seen : past + rows};
    const double head = 2 * answers * width * static_cast<double>(config.vocabulary);
    // A tied embedding is also the output projection, so all of it is read.
    const double bytes = weight_bytes(weights, batch * rows, rows, config.tied ? "" : ".wte.weight", ".wpe.weight");
    const double states = 4 * 2 * layers * width * past * batch;
    return {batch * (flops_of(stack) + head), bytes + states};
}

MinimumWork distilbert_minimum_work(const Workload& work, const cairn::models::EncoderConfig& config,
                                    const std::vector<WeightSpec>& weights) {
    const auto batch = static_cast<double>(work.batch), length = static_cast<double>(work.length);
    const auto width = static_cast<double>(config.width);
    const Layers stack{static_cast<double>(config.layers),
                       width,
                       static_cast<double>(config.inner),
                       length,
                       1,
                       length * length,
                       length};
    const double head = 2 * width * (width + static_cast<double>(config.labels.size()));
    return {batch * (flops_of(stack) + head),
            weight_bytes(weights, batch * length, length, ".word_embeddings.weight", ".position_embeddings.weight")};
}

}  // namespace bench
