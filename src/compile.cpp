#include "cairn/compile.hpp"

#include "exact_beside.hpp"
#include "memory_limit.hpp"
#include "split_points.hpp"
#include "stages.hpp"

#include <array>
#include <memory>
#include <optional>
#include <utility>

namespace cairn::inline v0 {
namespace {

constexpr std::array<std::string_view, 9> stages{"simplify", "expand",   "fuse",  "elementwise", "search",
                                                 "pack",     "in_place", "reuse", "specialize"};

struct Chosen {
    select::Selections covers;
    std::optional<select::Selections> exact;  ///< beside inexact ones
};

/// Picks the fastest of all ways to run the buckets that keep within the limit.
Chosen choose(const Stages& stages, std::vector<PreparedBucket>& buckets, const CompileOptions& options) {
    const select::Options select_options{buckets[0].driver.enabled("search"), !options.dump_stages.empty(),
                                         options.stop};
    for (PreparedBucket& bucket : buckets) bucket.driver.begin("select");
    const std::vector<select::Bucket> seen = selectable(buckets);
    if (options.memory_limit) select::place_states(seen, select_options);
    select::Selections chosen = options.memory_limit
                                    ? choose_within_limit(stages, buckets, seen, options, select_options)
                                    : select::select_placed(seen, select_options);
    std::optional<select::Selections> exact = choose_exact_beside(stages, buckets, chosen, options, select_options);
    for (std::size_t b = 0; b < buckets.size(); ++b)
        buckets[b].driver.end(
            "select", [] { return std::string(); }, [&] { return select::to_string(chosen, b); });
    return {std::move(chosen), std::move(exact)};
}

/// What other covers can gain at most, as a part of what these cost.
double most_gain(const select::Selections& covers) {
    if (covers.exact) return 0;
    return covers.cost > 0 ? 1 - covers.at_least / covers.cost : 1;
}

}  // namespace

CompiledGraph compile(const Graph& graph, const Context& context, const CompileOptions& given) {
    const CompileOptions options = with_split_points(graph, context, given);
    Stages stages(graph, context, options);
    std::vector<PreparedBucket> prepared = stages.prepare();
    Chosen chosen = choose(stages, prepared, options);
    auto reasons = std::make_shared<const select::Reasons>(*std::exchange(chosen.covers.memo, nullptr),
                                                           selectable(prepared), options.stop);
    std::vector<runtime::BucketProgram> programs;
    for (std::size_t b = 0; b < prepared.size(); ++b) {
        // Nothing of a bucket but its program is left.
        PreparedBucket bucket = std::move(prepared[b]);
        const select::Selection selection = std::move(chosen.covers.buckets[b]);
        programs.push_back(stages.emit(bucket, selection, bucket.driver));
        if (chosen.exact) add_exact(stages, bucket, selection, chosen.exact->buckets[b], options, programs.back());
    }
    CompiledGraph compiled = stages.link(
        std::move(programs), reasons_of(std::move(reasons), std::move(chosen.covers.path), most_gain(chosen.covers)));
    check_limit(compiled.memory(), options);
    return compiled;
}

std::vector<std::string> stage_names() { return {stages.begin(), stages.end()}; }

}  // namespace cairn::inline v0
