#include "cairn/compile.hpp"

#include "autotune/measurement/clock.hpp"
#include "autotune/policy/effort.hpp"
#include "device/context_impl.hpp"
#include "driver/compilation_cache.hpp"
#include "driver/memory_limit.hpp"
#include "driver/program_trials.hpp"
#include "driver/replay.hpp"
#include "driver/split_points.hpp"
#include "driver/stages.hpp"
#include "driver/state_storage.hpp"
#include "driver/tuning_curve.hpp"
#include "driver/verification_covers.hpp"
#include "driver/verify_kernels.hpp"
#include "runtime/compiled_graph.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

namespace cairn::inline v0 {
namespace {

constexpr std::array<std::string_view, 9> stages{"simplify", "expand",   "fuse",  "elementwise", "search",
                                                 "pack",     "in_place", "reuse", "specialize"};

/// A graph, its candidates, and the selected covers.
struct Compilation {
    Compilation(Graph given, const Context& context, CompileOptions as, std::string variant = {})
        : graph(std::move(given)),
          options(std::move(as)),
          stored(std::move(variant)),
          stages(graph, context, options, stored),
          buckets(stages.prepare()),
          select_options{buckets[0].driver.enabled("search"), !options.dump_stages.empty(), options.stop,
                         options.seconds_per_kept_byte} {
        for (driver::PreparedBucket& bucket : buckets) bucket.driver.begin("select");
        const std::vector<selection::Bucket> seen = driver::selection_buckets(buckets);
        covers = chosen(seen, context.kernels().devices.empty());
    }
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

    void end_choosing() {
        for (std::size_t b = 0; b < buckets.size(); ++b)
            buckets[b].driver.end(
                "select", [] { return std::string(); }, [&] { return selection::to_string(covers, b); });
    }

    selection::Selections chosen(const std::vector<selection::Bucket>& seen, bool on_the_cpu) {
        if (driver::has_memory_limit(options))
            return driver::choose_within_limit(stages, buckets, seen, options, select_options);
        std::optional<selection::Selections> known = stages.take_selection();
        const bool is_whole = known && on_the_cpu && !select_options.find_lower_bounds;
        return is_whole ? *std::move(known) : selection::select_with_state_device(seen, select_options);
    }

    const Graph graph;
    const CompileOptions options;
    const std::string stored;  // storage dtype of states if narrower than declared
    driver::Stages stages;
    std::vector<driver::PreparedBucket> buckets;
    selection::Options select_options;
    selection::Selections covers;
};

/// The cheapest compilation with states stored narrower, if its gain is large enough.
std::unique_ptr<Compilation> with_states_narrower(const Graph& graph, const Context& context,
                                                  const CompileOptions& options, const Compilation& declared,
                                                  double& measuring) {
    std::unique_ptr<Compilation> best;
    double least =
        declared.covers.cost - driver::min_storage_gain * driver::expected_seconds(declared.buckets, declared.covers);
    if (!declared.select_options.search) return best;
    for (driver::StoredStates& stored : driver::narrower_states(graph, options)) {
        CompileOptions rest = options;
        rest.tune_seconds = std::max(0.0, autotune::seconds_of(options) - measuring);
        std::unique_ptr<Compilation> compilation;
        try {
            compilation = std::make_unique<Compilation>(std::move(stored.graph), context, std::move(rest),
                                                        std::string(to_string(stored.dtype)));
        } catch (const Error& error) {
            // A lock records the calls of one dtype only.
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

/// Largest fraction of the cost of these covers that other covers could save.
double optimality_gap(const selection::Selections& covers) {
    if (covers.exact) return 0;
    return covers.cost > 0 ? 1 - covers.lower_bound_cost / covers.cost : 1;
}

CompiledGraph compile_chosen(const Graph& graph, const Context& context, const CompileOptions& given) {
    const TimingDb::ReadSnapshot reading(*context.impl()->timings);
    const CompileOptions options = driver::with_split_points(graph, context, given);
    if (std::optional<CompiledGraph> replayed = driver::replay_covers(graph, context, options))
        return *std::move(replayed);
    Compilation declared(graph, context, options);
    double measuring = declared.stages.measuring_seconds();
    const std::unique_ptr<Compilation> narrower = with_states_narrower(graph, context, options, declared, measuring);
    Compilation& best = narrower != nullptr ? *narrower : declared;
    const autotune::Clock::time_point begin = autotune::Clock::now();
    std::vector<ProgramTrial> trials =
        driver::apply_program_trials(best.stages, best.buckets, best.covers, context, options, best.select_options,
                                     autotune::seconds_of(options) - measuring);
    measuring += autotune::seconds_since(begin);
    std::vector<TuningPoint> tuning =
        driver::tuning_of(best.stages, best.buckets, best.covers, context, best.select_options, measuring);
    driver::ExactSource source(declared.graph, context, options, declared.stages, declared.buckets);
    const bool is_separate = narrower != nullptr || source.is_separate();
    std::optional<selection::Selections> exact =
        is_separate ? driver::exact_covers(source.buckets(), declared.select_options)
                    : driver::choose_verification_covers(declared.stages, declared.buckets, declared.covers, options,
                                                         declared.select_options);
    declared.end_choosing();
    auto explainer = std::make_shared<const selection::Explainer>(
        *std::exchange(best.covers.memo, nullptr), driver::selection_buckets(best.buckets), options.stop);
    runtime::SelectionKey selection_key = driver::selection_key_of(graph, options, best.buckets, best.stored);
    std::vector<runtime::BucketProgram> programs;
    for (std::size_t b = 0; b < best.buckets.size(); ++b) {
        // Moved out, so that the bucket is freed as soon as its program is emitted.
        driver::PreparedBucket bucket = std::move(best.buckets[b]);
        const selection::Selection selection = std::move(best.covers.buckets[b]);
        programs.push_back(best.stages.emit(bucket, selection, bucket.driver));
        if (!exact) continue;
        driver::PreparedBucket& exact_bucket = is_separate ? source.buckets()[b] : bucket;
        driver::attach_exact_program(bucket, selection, {source.stages(), exact_bucket, exact->buckets[b]}, options,
                                     programs.back());
    }
    CompiledGraph compiled = best.stages.link(
        std::move(programs),
        driver::explainer_of(std::move(explainer), std::move(best.covers.path), optimality_gap(best.covers),
                             std::move(trials), std::move(tuning), best.stages.notes()),
        std::move(selection_key));
    driver::check_limit(compiled.memory(), options);
    if (options.mode == Mode::replay) driver::log_replay_by_calls(context, options);
    return compiled;
}

}  // namespace

CompiledGraph compile(const Graph& graph, const Context& context, const CompileOptions& options) {
    if (!options.cache_file.empty() && options.dump_stages.empty()) {
        const std::string what = driver::cache_key_for(graph, context, options);
        if (std::optional<CompiledGraph> known = driver::load_cached(options.cache_file, what, context)) {
            if (options.verify)
                driver::verify_own_kernels(runtime::parse_program_set(known->program()).buckets, context, options.stop);
            return *std::move(known);
        }
        CompileOptions uncached = options;
        uncached.cache_file.clear();
        CompiledGraph made = compile(graph, context, uncached);
        driver::store_cached(made, options.cache_file, what, context);
        return made;
    }
    if (options.mode != Mode::replay) return compile_chosen(graph, context, options);
    try {
        return compile_chosen(graph, context, options);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported) throw;
        throw Error(ErrorKind::unsupported, "compile",
                    driver::lock_difference(*driver::read_lock(options.lock), graph, context, options, error.what()));
    }
}

std::vector<std::string> stage_names() { return {stages.begin(), stages.end()}; }

}  // namespace cairn::inline v0
