#include "driver/buckets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cairn::driver {

using runtime::Range;

namespace {

/// The weight of each part into which a split divides its symbol. Throws Error(argument) if the weights are invalid.
std::vector<double> weights_of(const Split& split) {
    const std::size_t parts = split.upper_bounds.size() + 1;
    if (split.weights.empty()) return std::vector<double>(parts, 1);
    if (split.weights.size() != parts)
        throw Error(ErrorKind::argument, "compile",
                    fmt::format("the split of {} makes {} buckets and has {} weights", split.symbol, parts,
                                split.weights.size()));
    for (const double weight : split.weights)
        if (!(weight > 0 && std::isfinite(weight)))
            throw Error(ErrorKind::argument, "compile",
                        fmt::format("a weight of the split of {} is {}: it must be above 0", split.symbol, weight));
    return split.weights;
}

}  // namespace

std::vector<BucketRanges> bucket_ranges_of(const ir::GraphData& graph, std::span<const Split> splits) {
    std::vector<BucketRanges> cuts{{}};
    const std::vector<Symbols::Symbol> symbols = graph.symbols()->list();
    for (const Split& split : splits) {
        const auto symbol =
            std::find_if(symbols.begin(), symbols.end(), [&](const auto& s) { return s.name == split.symbol; });
        if (symbol == symbols.end())
            throw Error(ErrorKind::argument, "compile", "a split names the unknown symbol " + split.symbol);
        for (const ir::StateInfo& state : graph.states())
            for (const Dim& size : state.shape)
                if (size.symbol() == split.symbol)
                    throw Error(
                        ErrorKind::argument, "compile",
                        fmt::format("{} is a size of state \"{}\" and cannot be split", split.symbol, state.name));
        std::vector<std::int64_t> ends = split.upper_bounds;
        if (!std::is_sorted(ends.begin(), ends.end()))
            throw Error(ErrorKind::argument, "compile", "the bounds of a split must ascend");
        ends.push_back(symbol->high);
        const std::vector<double> weights = weights_of(split);
        std::vector<BucketRanges> finer;
        for (const BucketRanges& cut : cuts) {
            std::int64_t low = symbol->low;
            for (std::size_t i = 0; i < ends.size(); ++i) {
                const std::int64_t high = std::min(ends[i], symbol->high);
                if (high < low) continue;
                finer.push_back(cut);
                finer.back().ranges.push_back({split.symbol, low, high});
                finer.back().weight *= weights[i];
                low = high + 1;
            }
        }
        cuts = std::move(finer);
    }
    return cuts;
}

std::string bucket_name(const std::vector<Range>& ranges) {
    std::string name;
    for (const Range& range : ranges)
        name += fmt::format("{}{}-{}-{}", name.empty() ? "" : "_", range.symbol, range.low, range.high);
    return name;
}

std::shared_ptr<ir::GraphData> bucket_graph(const ir::GraphData& graph, const std::vector<Range>& ranges) {
    auto symbols = Symbols::create();
    std::vector<Dim> replacements;
    for (const Symbols::Symbol& symbol : graph.symbols()->list()) {
        std::int64_t low = symbol.low, high = symbol.high;
        for (const Range& range : ranges)
            if (range.symbol == symbol.name) low = range.low, high = range.high;
        const bool is_length =
            std::any_of(graph.states().begin(), graph.states().end(), [&](const ir::StateInfo& state) {
                return state.grows() && state.shape[state.growing_axis()].symbol() == symbol.name;
            });
        replacements.push_back(low == high && !is_length ? Dim(low) : symbols->add(symbol.name, low, high));
    }
    return ir::specialize(graph, symbols, replacements);
}

}  // namespace cairn::driver
