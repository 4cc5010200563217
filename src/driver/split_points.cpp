#include "driver/split_points.hpp"

#include "autotune/policy/effort.hpp"
#include "driver/replay.hpp"
#include "driver/stages.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace cairn::driver {
namespace {

// The largest number of buckets that automatic splits make together.
constexpr std::size_t max_buckets = 32;

/// The upper bounds of cells, each `factor` times the one before. If the smallest size is 1, it is a cell of its own,
/// because many kernels are for one row.
///
///     1..1024, 2   ->   1, 4, 8, 16, .. 512        7..100, 4   ->   28
std::vector<std::int64_t> cell_upper_bounds(std::int64_t low, std::int64_t high, std::int64_t factor) {
    std::vector<std::int64_t> ends;
    if (low == 1 && high > 1) ends.push_back(1);
    for (std::int64_t end = std::max<std::int64_t>(low, 2); end <= (high - 1) / factor; ends.push_back(end *= factor)) {
    }
    // A last cell of a single size is merged with the one before.
    if (!ends.empty() && ends.back() + 1 >= high && ends.size() > 1) ends.pop_back();
    return ends;
}

bool has_automatic(const CompileOptions& options) {
    return std::any_of(options.splits.begin(), options.splits.end(),
                       [](const Split& split) { return split.is_automatic; });
}

/// All splits with bounds; automatic ones as finely as max_buckets permits.
std::vector<Split> split_finely(const ir::GraphData& graph, const std::vector<Split>& splits) {
    for (const Split& split : splits)
        if (split.is_automatic && !(split.upper_bounds.empty() && split.weights.empty()))
            throw Error(ErrorKind::argument, "compile",
                        "the split of " + split.symbol + " is automatic: its bounds and weights cannot be named");
    const std::vector<Symbols::Symbol> symbols = graph.symbols()->list();
    for (std::int64_t factor = 2;; factor *= 2) {
        std::vector<Split> fine = splits;
        std::size_t buckets = 1;
        for (Split& split : fine) {
            if (!split.is_automatic) continue;
            split.is_automatic = false;
            const auto symbol =
                std::find_if(symbols.begin(), symbols.end(), [&](const auto& s) { return s.name == split.symbol; });
            if (symbol != symbols.end()) split.upper_bounds = cell_upper_bounds(symbol->low, symbol->high, factor);
            buckets *= split.upper_bounds.size() + 1;
        }
        if (buckets <= max_buckets || factor > static_cast<std::int64_t>(max_buckets)) return fine;
    }
}

/// True if two buckets have equal graphs, except for the ranges of their symbols.
bool is_same_graph(const ir::GraphData& a, const ir::GraphData& b) {
    std::vector<Dim> symbols_of_b;
    for (const Symbols::Symbol& symbol : a.symbols()->list()) {
        const std::optional<Dim> other = b.symbols()->find(symbol.name);
        if (!other) return false;
        symbols_of_b.push_back(*other);
    }
    const auto moved = ir::specialize(a, b.symbols(), symbols_of_b);
    return std::equal(moved->nodes().begin(), moved->nodes().end(), b.nodes().begin(), b.nodes().end(),
                      [](const ir::Node& x, const ir::Node& y) { return ir::same(x, y); });
}

/// True if two programs do the same work with the same kernels, at any sizes.
bool is_same(const PreparedBucket& a, const selection::Selection& by_a, const PreparedBucket& b,
             const selection::Selection& by_b) {
    const auto sorted = [](const selection::Selection& by) {
        std::vector<const selection::Choice*> choices;
        for (const selection::Choice& choice : by.chosen) choices.push_back(&choice);
        std::sort(choices.begin(), choices.end(), [](const auto* x, const auto* y) { return x->goal < y->goal; });
        return choices;
    };
    const auto is_same_match = [&](int x, int y) {
        if (x < 0 || y < 0) return x == y;
        const fusion::Match &one = a.matches[static_cast<std::size_t>(x)],
                            &other = b.matches[static_cast<std::size_t>(y)];
        return std::tie(one.definition, one.inputs, one.outputs, one.interior, one.moved) ==
               std::tie(other.definition, other.inputs, other.outputs, other.interior, other.moved);
    };
    const std::vector<const selection::Choice*> x = sorted(by_a), y = sorted(by_b);
    const auto is_same_choice = [&](const selection::Choice* one, const selection::Choice* other) {
        const selection::Candidate &p = one->candidate, &q = other->candidate;
        return one->goal == other->goal && p.kernel == q.kernel && p.operands == q.operands && p.outputs == q.outputs &&
               p.device == q.device && is_same_match(p.match, q.match);
    };
    // Choices are cheaper to compare than graphs, and differ more often.
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), is_same_choice) && is_same_graph(*a.graph, *b.graph);
}

class NeighbourPrograms {
public:
    NeighbourPrograms(std::span<const PreparedBucket> buckets, const selection::Selections& chosen)
        : buckets_(buckets), chosen_(chosen) {}

    /// True if all programs below the end of a symbol's cell equal those above it.
    bool are_same(const std::string& symbol, std::int64_t end) const {
        for (std::size_t b = 0; b < buckets_.size(); ++b) {
            const std::optional<std::size_t> above = neighbour(b, symbol, end);
            if (above && !is_same(buckets_[b], chosen_.buckets[b], buckets_[*above], chosen_.buckets[*above]))
                return false;
        }
        return true;
    }

private:
    /// The bucket in which this symbol's range begins where it ends in bucket `b`; all other ranges are equal.
    std::optional<std::size_t> neighbour(std::size_t b, const std::string& symbol, std::int64_t end) const {
        for (std::size_t other = 0; other < buckets_.size(); ++other) {
            const auto adjoins = [&](const runtime::Range& low, const runtime::Range& high) {
                if (low.symbol != symbol) return low.low == high.low && low.high == high.high;
                return low.high == end && high.low == end + 1;
            };
            const auto &low = buckets_[b].cut.ranges, &high = buckets_[other].cut.ranges;
            if (std::equal(low.begin(), low.end(), high.begin(), high.end(), adjoins)) return other;
        }
        return std::nullopt;
    }

    std::span<const PreparedBucket> buckets_;
    const selection::Selections& chosen_;
};

/// Automatic splits as recorded in a lock; a symbol that the lock does not split is not split.
CompileOptions with_locked_splits(const CompileOptions& options) {
    const std::shared_ptr<const program::Lock> lock = read_lock(options.lock);
    CompileOptions result = options;
    result.splits.clear();
    for (const Split& split : options.splits) {
        const auto ends = lock->ends.find(split.symbol);
        if (!split.is_automatic)
            result.splits.push_back(split);
        else if (ends != lock->ends.end())
            result.splits.push_back({split.symbol, ends->second});
    }
    return result;
}

}  // namespace

CompileOptions with_split_points(const Graph& graph, const Context& context, const CompileOptions& options) {
    if (!has_automatic(options)) return options;
    if (options.mode == Mode::replay) return with_locked_splits(options);
    CompileOptions fine = options;
    fine.splits = split_finely(*graph.data(), options.splits);
    fine.tune_seconds = autotune::seconds_of(options) / 2;
    fine.dump_stages.clear();
    CompileOptions result = options;
    result.splits = fine.splits;
    result.tune_seconds = fine.tune_seconds;
    Stages stages(graph, context, fine);
    std::vector<PreparedBucket> buckets = stages.prepare();
    const bool search = buckets[0].driver.enabled("search");
    const selection::Selections chosen = selection::select_with_state_device(
        selection_buckets(buckets), {search, false, options.stop, options.seconds_per_kept_byte});
    const NeighbourPrograms neighbours(buckets, chosen);
    for (std::size_t s = 0; s < result.splits.size(); ++s)
        if (options.splits[s].is_automatic)
            std::erase_if(result.splits[s].upper_bounds,
                          [&](std::int64_t end) { return neighbours.are_same(result.splits[s].symbol, end); });
    return result;
}

}  // namespace cairn::driver
