#include "cairn/compile.hpp"

#include "device/context_parts.hpp"
#include "pipeline/exact_beside.hpp"
#include "pipeline/memory_limit.hpp"
#include "pipeline/replay.hpp"
#include "pipeline/saved.hpp"
#include "pipeline/split_points.hpp"
#include "pipeline/stages.hpp"
#include "pipeline/state_storage.hpp"
#include "pipeline/time_notes.hpp"
#include "pipeline/tuning_curve.hpp"
#include "pipeline/verify_kernels.hpp"
#include "pipeline/whole_programs.hpp"
#include "runtime/compiled_graph.hpp"
#include "timing/team_clock.hpp"
#include "tune/effort.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

namespace cairn::inline v0 {
namespace {

constexpr std::array<std::string_view, 9> stages{"simplify", "expand",   "fuse",  "elementwise", "search",
                                                 "pack",     "in_place", "reuse", "specialize"};

/// A graph, the ways to run it, and those that were chosen.
struct Compilation {
    Compilation(Graph given, const Context& context, CompileOptions as, std::string variant = {})
        : graph(std::move(given)),
          options(std::move(as)),
          stored(std::move(variant)),
          stages(graph, context, options, stored),
          buckets(stages.prepare()),
          select_options{buckets[0].driver.enabled("search"), !options.dump_stages.empty(), options.stop,
                         options.seconds_per_kept_byte} {
        for (PreparedBucket& bucket : buckets) bucket.driver.begin("select");
        const std::vector<select::Bucket> seen = selectable(buckets);
        covers = chosen(seen, context.kernels().devices.empty());
    }
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

    void end_choosing() {
        for (std::size_t b = 0; b < buckets.size(); ++b)
            buckets[b].driver.end(
                "select", [] { return std::string(); }, [&] { return select::to_string(covers, b); });
    }

    select::Selections chosen(const std::vector<select::Bucket>& seen, bool on_the_cpu) {
        if (options.memory_limit) {
            select::place_states(seen, select_options);
            return choose_within_limit(stages, buckets, seen, options, select_options);
        }
        std::optional<select::Selections> known = stages.take_chosen();
        const bool is_whole = known && on_the_cpu && !select_options.find_low;
        return is_whole ? *std::move(known) : select::select_placed(seen, select_options);
    }

    const Graph graph;
    const CompileOptions options;
    const std::string stored;  // dtype of states, where it is narrower than declared
    Stages stages;
    std::vector<PreparedBucket> buckets;
    select::Options select_options;
    select::Selections covers;
};

/// Of all ways to store states narrower the one that costs least, where it gains enough.
std::unique_ptr<Compilation> with_states_narrower(const Graph& graph, const Context& context,
                                                  const CompileOptions& options, const Compilation& declared,
                                                  double& measuring) {
    std::unique_ptr<Compilation> best;
    double least = declared.covers.cost - least_gain_of_storage * expected_seconds(declared.buckets, declared.covers);
    if (!declared.select_options.search) return best;
    for (StoredStates& stored : narrower_states(graph, options)) {
        CompileOptions rest = options;
        rest.tune_seconds = std::max(0.0, tune::seconds_of(options) - measuring);
        std::unique_ptr<Compilation> compilation;
        try {
            compilation = std::make_unique<Compilation>(std::move(stored.graph), context, std::move(rest),
                                                        std::string(to_string(stored.dtype)));
        } catch (const Error& error) {
            // A lock has the calls of one dtype.
            if (options.mode != Mode::replay || error.kind() != ErrorKind::unsupported) throw;
            continue;
        }
        measuring += compilation->stages.measuring_seconds();
        compilation->end_choosing();
        if (compilation->covers.cost >= least) continue;
        least = compilation->covers.cost;
        best = std::move(compilation);
    }
    return best;
}

/// What other covers can gain at most, as a part of what these cost.
double most_gain(const select::Selections& covers) {
    if (covers.exact) return 0;
    return covers.cost > 0 ? 1 - covers.at_least / covers.cost : 1;
}

CompiledGraph compile_chosen(const Graph& graph, const Context& context, const CompileOptions& given) {
    const TimingDb::Reading reading(*context.parts()->timings);
    const CompileOptions options = with_split_points(graph, context, given);
    if (std::optional<CompiledGraph> replayed = replay_covers(graph, context, options)) return *std::move(replayed);
    Compilation declared(graph, context, options);
    double measuring = declared.stages.measuring_seconds();
    const std::unique_ptr<Compilation> narrower = with_states_narrower(graph, context, options, declared, measuring);
    Compilation& best = narrower != nullptr ? *narrower : declared;
    const timing::Clock::time_point begin = timing::Clock::now();
    std::vector<ExplainedDuel> duels = run_beside_rivals(best.stages, best.buckets, best.covers, context, options,
                                                         best.select_options, tune::seconds_of(options) - measuring);
    measuring += timing::seconds_since(begin);
    std::vector<TuningPoint> tuning =
        tuning_of(best.stages, best.buckets, best.covers, context, best.select_options, measuring);
    std::optional<select::Selections> exact =
        narrower != nullptr
            ? exact_covers(declared.buckets, declared.select_options)
            : choose_exact_beside(declared.stages, declared.buckets, declared.covers, options, declared.select_options);
    declared.end_choosing();
    auto reasons = std::make_shared<const select::Reasons>(*std::exchange(best.covers.memo, nullptr),
                                                           selectable(best.buckets), options.stop);
    runtime::Subject subject = subject_of(graph, options, best.buckets, best.stored);
    std::vector<runtime::BucketProgram> programs;
    for (std::size_t b = 0; b < best.buckets.size(); ++b) {
        // Nothing of a bucket but its program is left.
        PreparedBucket bucket = std::move(best.buckets[b]);
        const select::Selection selection = std::move(best.covers.buckets[b]);
        programs.push_back(best.stages.emit(bucket, selection, bucket.driver));
        if (!exact) continue;
        PreparedBucket& beside = narrower != nullptr ? declared.buckets[b] : bucket;
        add_exact(bucket, selection, {declared.stages, beside, exact->buckets[b]}, options, programs.back());
    }
    CompiledGraph compiled =
        best.stages.link(std::move(programs),
                         reasons_of(std::move(reasons), std::move(best.covers.path), most_gain(best.covers),
                                    std::move(duels), std::move(tuning), notes_on_times(best.stages.costs())),
                         std::move(subject));
    check_limit(compiled.memory(), options);
    if (options.mode == Mode::replay) log_replay_by_calls(context, options);
    return compiled;
}

}  // namespace

CompiledGraph compile(const Graph& graph, const Context& context, const CompileOptions& options) {
    if (!options.saved.empty() && options.dump_stages.empty()) {
        const std::string what = made_for(graph, context, options);
        if (std::optional<CompiledGraph> known = take_saved(options.saved, what, context)) {
            if (options.verify)
                verify_own_kernels(runtime::parse_program_set(known->program()).buckets, context, options.stop);
            return *std::move(known);
        }
        CompileOptions once = options;
        once.saved.clear();
        CompiledGraph made = compile(graph, context, once);
        keep_saved(made, options.saved, what, context);
        return made;
    }
    if (options.mode != Mode::replay) return compile_chosen(graph, context, options);
    try {
        return compile_chosen(graph, context, options);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported) throw;
        throw Error(ErrorKind::unsupported, "compile",
                    lock_difference(*read_lock(options.lock), graph, context, options, error.what()));
    }
}

std::vector<std::string> stage_names() { return {stages.begin(), stages.end()}; }

}  // namespace cairn::inline v0
