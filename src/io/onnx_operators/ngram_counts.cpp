#include "io/onnx_operators/ngram_counts.hpp"

#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// TfIdfVectorizer on integers: each n-gram of a pool is compared with all places of a row.
namespace cairn::inline v0::onnx {
namespace {

/// The n-grams of one length.
struct NgramPool {
    std::int64_t length = 1;
    std::vector<std::int64_t> items;    ///< `length` for each n-gram
    std::vector<std::int64_t> columns;  ///< of the result, one for each n-gram

    std::int64_t count() const { return static_cast<std::int64_t>(columns.size()); }
};

/// The pools of the lengths that the node counts.
std::vector<NgramPool> ngram_pools(const Node& node) {
    const std::vector<std::int64_t> items = node.integers("pool_int64s"), starts = node.integers("ngram_counts"),
                                    columns = node.integers("ngram_indexes");
    const std::int64_t least = node.integer("min_gram_length"), most = node.integer("max_gram_length");
    std::vector<NgramPool> pools;
    std::size_t next_column = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const auto total = static_cast<std::int64_t>(items.size()), length = static_cast<std::int64_t>(i) + 1;
        const std::int64_t begin = starts[i], end = i + 1 < starts.size() ? starts[i + 1] : total;
        if (begin < 0 || end < begin || end > total || (end - begin) % length != 0)
            node.refuse("its ngram_counts do not divide its pool");
        const auto count = static_cast<std::size_t>((end - begin) / length);
        if (next_column + count > columns.size()) node.refuse("it has more n-grams than ngram_indexes");
        if (length >= least && length <= most && count != 0)
            pools.push_back({length,
                             {items.begin() + begin, items.begin() + end},
                             {columns.begin() + static_cast<std::ptrdiff_t>(next_column),
                              columns.begin() + static_cast<std::ptrdiff_t>(next_column + count)}});
        next_column += count;
    }
    return pools;
}

void check_ngrams_are_distinct(const Node& node, const std::vector<NgramPool>& pools) {
    std::set<std::vector<std::int64_t>> seen;
    std::set<std::int64_t> columns;
    for (const NgramPool& pool : pools)
        for (std::int64_t i = 0; i < pool.count(); ++i) {
            const auto begin = pool.items.begin() + i * pool.length;
            if (!seen.emplace(begin, begin + pool.length).second) node.refuse("an n-gram is twice in its pool");
            if (!columns.insert(pool.columns[static_cast<std::size_t>(i)]).second)
                node.refuse("two n-grams of its pool have one index");
        }
}

/// How often each n-gram is in the rows of x [B, C], its items `distance` apart: i32[B, G]. Empty: no row is that long.
std::optional<Tensor> counts_at_distance(const Tensor& x, const NgramPool& pool, std::int64_t distance) {
    const std::int64_t reach = (pool.length - 1) * distance;
    const Dim size = x.dim(1);
    if (provably_le(size, reach)) return std::nullopt;
    Graph graph(x.graph());
    // Rows that may be shorter than an n-gram are lengthened; n-grams that begin too late do not count.
    const bool is_padded = !provably_le(reach, size);
    const Tensor padded = is_padded ? pad(x, 1, 0, reach) : x;
    const Dim places = padded.dim(1) - reach;
    std::optional<Tensor> found;
    if (is_padded) found = reshape(iota(graph, places, DType::i64) + reach < Operand(size), {1, places, 1});
    for (std::int64_t i = 0; i < pool.length; ++i) {
        std::vector<std::int64_t> expected;
        for (std::int64_t gram = 0; gram < pool.count(); ++gram)
            expected.push_back(pool.items[static_cast<std::size_t>(gram * pool.length + i)]);
        const Tensor items = unsqueeze(cairn::slice(padded, 1, i * distance, places + i * distance), 2);
        const Tensor equals = items == graph.constant(expected, {pool.count()});
        found = found.has_value() ? *found && equals : equals;
    }
    return sum(cast(*found, DType::i32), 1);
}

/// Counts [B, G] of all pools as the columns of the result.
Tensor columns_of_counts(const Tensor& x, const std::vector<NgramPool>& pools, std::int64_t most_skipped,
                         std::int64_t columns) {
    Graph graph(x.graph());
    const Tensor zero = broadcast(graph.constant(DType::i32, 0), {x.dim(0), 1});
    std::vector<Tensor> parts{zero};
    std::vector<std::int64_t> source(static_cast<std::size_t>(columns), 0);
    std::int64_t next = 1;
    for (const NgramPool& pool : pools) {
        std::optional<Tensor> counts;
        for (std::int64_t skipped = 0; skipped <= (pool.length == 1 ? 0 : most_skipped); ++skipped)
            if (const std::optional<Tensor> found = counts_at_distance(x, pool, skipped + 1))
                counts = counts.has_value() ? *counts + *found : *found;
        if (!counts.has_value()) continue;
        parts.push_back(*counts);
        for (const std::int64_t column : pool.columns) source[static_cast<std::size_t>(column)] = next++;
    }
    return gather(concat(parts, 1), graph.constant(source, {columns}), 1);
}

/// The weight of each column, or none where all are 1. `indexes`: the column of each n-gram.
std::optional<Tensor> weights_of_columns(Node& node, const std::vector<std::int64_t>& indexes, std::int64_t columns) {
    const std::vector<double> weights = node.reals("weights");
    if (weights.empty()) return std::nullopt;
    if (weights.size() != indexes.size()) node.refuse("it has other numbers of weights and of ngram_indexes");
    std::vector<double> of_columns(static_cast<std::size_t>(columns), 1);
    for (std::size_t i = 0; i < indexes.size(); ++i) {
        const auto column = static_cast<std::size_t>(indexes[i]);
        // The specification numbers them by n-gram, implementations by column.
        if (column < weights.size() && weights[column] != weights[i])
            node.refuse("whether its weights are numbered by n-gram or by column makes a difference");
        of_columns[column] = weights[i];
    }
    return node.graph().constant(DType::f32, {columns}, of_columns);
}

}  // namespace

void make_tf_idf_vectorizer(Node& node) {
    const Tensor given = node.tensor(0);
    if (given.rank() != 1 && given.rank() != 2) node.refuse(fmt::format("its input has rank {}", given.rank()));
    const std::vector<std::int64_t> indexes = node.integers("ngram_indexes");
    if (indexes.empty() || std::ranges::min(indexes) < 0) node.refuse("its ngram_indexes are empty or negative");
    constexpr std::int64_t most_columns = std::int64_t{1} << 24;
    if (std::ranges::max(indexes) >= most_columns) node.refuse("its ngram_indexes are too large");
    const std::int64_t columns = std::ranges::max(indexes) + 1;
    const std::vector<NgramPool> pools = ngram_pools(node);
    check_ngrams_are_distinct(node, pools);
    const Tensor x = as_dtype(given.rank() == 1 ? unsqueeze(given, 0) : given, DType::i64);
    const std::int64_t most_skipped = node.integer("max_skip_count");
    constexpr std::int64_t most_unrolled = 1024;
    if (most_skipped < 0 || most_skipped > most_unrolled)
        node.refuse(fmt::format("its max_skip_count is {}", most_skipped));
    const Tensor counts = columns_of_counts(x, pools, most_skipped, columns);
    const std::string mode = node.text("mode", "");
    if (mode != "TF" && mode != "IDF" && mode != "TFIDF") node.refuse(fmt::format("its mode '{}' is unknown", mode));
    Tensor result = mode == "IDF" ? cast(counts > 0, DType::f32) : cast(counts, DType::f32);
    if (mode != "TF")
        if (const std::optional<Tensor> weights = weights_of_columns(node, indexes, columns))
            result = result * *weights;
    node.set(0, given.rank() == 1 ? reshape(result, {columns}) : result);
}

}  // namespace cairn::inline v0::onnx
