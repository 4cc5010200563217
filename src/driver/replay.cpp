#include "driver/replay.hpp"

#include "device/context_impl.hpp"
#include "driver/memory_limit.hpp"
#include "driver/port_devices.hpp"
#include "driver/state_storage.hpp"
#include "driver/verification_covers.hpp"
#include "graph/ir/graph_data.hpp"
#include "graph/ir/print.hpp"
#include "runtime/file_io.hpp"
#include "runtime/xxh64.hpp"
#include "selection/choose/lock_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace cairn::driver {
namespace {

// Number of problems that are listed.
constexpr std::size_t max_listed = 6;

std::string problem_list(const std::vector<std::string>& problems) {
    std::string text;
    for (std::size_t p = 0; p < std::min(problems.size(), max_listed); ++p) text += "\n    " + problems[p];
    if (problems.size() > max_listed) text += fmt::format("\n    and {} more", problems.size() - max_listed);
    return text;
}

// Arrays with more elements are printed as a checksum: printing a million numbers takes half a second.
constexpr std::size_t max_printed = 64;

template <typename T>
std::uint64_t sum_of(const std::vector<T>& values) {
    return runtime::xxh64(std::as_bytes(std::span(values)));
}

/// A text that identifies the graph.
std::string identity_text(const ir::GraphData& graph) {
    ir::GraphData brief(graph.name(), graph.symbols());
    std::vector<ir::NodeId> map;
    std::string sums;
    for (const ir::Node& node : graph.nodes()) {
        ir::Node copy = node;
        if (node.values != nullptr && node.values->size() > max_printed) {
            sums += fmt::format("%{} {:016x}\n", map.size(),
                                node.exact_integers ? sum_of(*node.exact_integers) : sum_of(*node.values));
            // Equal nodes may be merged: the node's index keeps them distinct.
            copy.values = std::make_shared<const std::vector<double>>(1, static_cast<double>(map.size()));
            copy.exact_integers = nullptr;
        }
        map.push_back(ir::copy_node(copy, map, brief));
    }
    ir::copy_outputs_and_states(graph, map, brief);
    return ir::print(brief) + sums;
}

/// A graph compiled up to its candidates.
struct Prepared {
    Prepared(Graph given, const Context& context, const CompileOptions& as, std::string variant)
        : graph(std::move(given)), options(as), stages(graph, context, options, variant), buckets(stages.prepare()) {
        for (PreparedBucket& bucket : buckets) bucket.driver.begin("select");
    }
    Prepared(const Prepared&) = delete;
    Prepared& operator=(const Prepared&) = delete;

    const Graph graph;
    const CompileOptions options;
    Stages stages;
    std::vector<PreparedBucket> buckets;
};

/// Replays the covers of a lock.
class Replay {
public:
    Replay(const Graph& graph, const Context& context, const CompileOptions& options, const program::Lock& lock)
        : lock_(lock),
          options_(options),
          select_options_{.stop = options.stop, .seconds_per_kept_byte = options.seconds_per_kept_byte},
          declared_(std::make_unique<Prepared>(graph, context, options, "")) {
        if (lock.stored.empty()) return;
        for (StoredStates& stored : narrower_states(graph, options))
            if (to_string(stored.dtype) == lock.stored)
                narrower_ = std::make_unique<Prepared>(std::move(stored.graph), context, options, lock.stored);
        if (narrower_ == nullptr)
            throw Error(ErrorKind::unsupported, "compile",
                        fmt::format("the lock requires states stored in {}, which is not possible", lock.stored));
    }

    /// True if the lock has a cover for each bucket.
    bool has_all() {
        for (const PreparedBucket& bucket : declared_->buckets) {
            const auto cover =
                std::find_if(lock_.covers.begin(), lock_.covers.end(),
                             [&](const program::Lock::Cover& each) { return each.ranges == bucket.cut.ranges; });
            if (cover == lock_.covers.end()) return false;
            covers_.push_back(&*cover);
        }
        return covers_.size() == lock_.covers.size();
    }

    CompiledGraph compile() {
        Prepared& main = narrower_ != nullptr ? *narrower_ : *declared_;
        const std::vector<selection::Bucket> seen = selection_buckets(main.buckets);
        std::vector<const program::CoverSteps*> steps;
        for (const program::Lock::Cover* cover : covers_) steps.push_back(&cover->steps);
        selection::Selections covers = selection::replay_lock(seen, steps, lock_.states, select_options_);
        for (std::size_t b = 0; b < main.buckets.size(); ++b)
            main.buckets[b].driver.end(
                "select", [] { return std::string(); }, [&] { return selection::to_string(covers, b); });
        auto explainer = std::make_shared<const selection::Explainer>(*covers.memo, seen, options_.stop);
        std::vector<runtime::BucketProgram> programs;
        for (std::size_t b = 0; b < main.buckets.size(); ++b) {
            PreparedBucket& bucket = main.buckets[b];
            programs.push_back(main.stages.emit(bucket, covers.buckets[b], bucket.driver));
            if (!covers_[b]->exact.empty()) add_exact_program(b, bucket, covers.buckets[b], programs.back());
        }
        CompiledGraph compiled =
            main.stages.link(std::move(programs), explainer_of(std::move(explainer), std::move(covers.path), 0),
                             {lock_.selection_key, lock_.stored, lock_.states});
        check_limit(compiled.memory(), options_);
        return compiled;
    }

private:
    void add_exact_program(std::size_t b, const PreparedBucket& bucket, const selection::Selection& chosen,
                           runtime::BucketProgram& program) {
        PreparedBucket& exact_bucket = declared_->buckets[b];
        const selection::Bucket seen = selection_buckets(declared_->buckets)[b];
        const program::CoverSteps* const steps = &covers_[b]->exact;
        const selection::Selections exact =
            selection::replay_lock(std::span(&seen, 1), std::span(&steps, 1), lock_.states, select_options_);
        attach_exact_program(bucket, chosen, {declared_->stages, exact_bucket, exact.buckets[0]}, options_, program);
    }

    const program::Lock& lock_;
    const CompileOptions& options_;
    const selection::Options select_options_;
    const std::unique_ptr<Prepared> declared_;
    std::unique_ptr<Prepared> narrower_;
    std::vector<const program::Lock::Cover*> covers_;  // of each bucket
};

}  // namespace

std::string selection_digest(const Graph& graph, const CompileOptions& options) {
    std::string text = "tolerance " + to_string(options.tolerance) + '\n';
    for (const OutputTolerance& output : options.output_tolerances)
        text += fmt::format("tolerance {} {}\n", output.output, to_string(output.tolerance));
    const std::set<std::string> left_out(options.disable.begin(), options.disable.end());
    for (const std::string& stage : left_out) text += "without " + stage + '\n';
    text += port_devices_text(options);
    return to_string(digest(text + identity_text(*graph.data())));
}

runtime::SelectionKey selection_key_of(const Graph& graph, const CompileOptions& options,
                                       const std::vector<PreparedBucket>& buckets, std::string stored) {
    return {selection_digest(graph, options), std::move(stored), buckets.front().candidates->devices().of_states};
}

std::optional<CompiledGraph> replay_covers(const Graph& graph, const Context& context, const CompileOptions& options) {
    if (options.mode != Mode::replay) return std::nullopt;
    const std::shared_ptr<const program::Lock> lock = read_lock(options.lock);
    if (lock->selection_key == selection_digest(graph, options))
        if (Replay replay(graph, context, options, *lock); replay.has_all()) return replay.compile();
    return std::nullopt;
}

void log_replay_by_calls(const Context& context, const CompileOptions& options) {
    context.impl()->log(LogLevel::info,
                        fmt::format("{} was written for another graph, other sizes or other options: its calls are "
                                    "used, the cover is selected among them",
                                    options.lock.string()));
}

std::shared_ptr<const program::Lock> read_lock(const std::filesystem::path& path) {
    const std::string text = runtime::read_file(path, "compile", "the lock");
    try {
        return std::make_shared<const program::Lock>(program::parse_lock(text));
    } catch (const Error& error) { throw Error(ErrorKind::file, "compile", path.string() + ": " + error.what()); }
}

std::string lock_difference(const program::Lock& lock, const Graph& graph, const Context& context,
                            const CompileOptions& options, std::string_view reason) {
    CompileOptions unlocked = options;
    unlocked.mode = Mode::off;
    unlocked.dump_stages.clear();
    std::set<std::string> wanted;
    std::vector<std::string> missing, unused;
    for (const ExplainedBucket& bucket : compile(graph, context, unlocked).explain(options.stop).buckets)
        for (const ExplainedInstruction& instruction : bucket.instructions)
            if (wanted.insert(instruction.chosen.problem).second && !lock.calls.contains(instruction.chosen.problem))
                missing.push_back(instruction.chosen.problem);
    for (const auto& [problem, calls] : lock.calls)
        if (!wanted.contains(problem)) unused.push_back(problem);
    std::string text = fmt::format("the lock {} does not fit graph \"{}\"", options.lock.string(), graph.name());
    if (lock.selection_key == selection_digest(graph, options)) text += fmt::format(": {}", reason);
    if (!missing.empty()) text += "; it has no calls for these problems:" + problem_list(missing);
    if (!unused.empty()) text += "\nit has calls for these problems, which do not occur:" + problem_list(unused);
    return text;
}

}  // namespace cairn::driver
