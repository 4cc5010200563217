#include "cairn/compile.hpp"

#include "expand/expand.hpp"
#include "fuse/tiles.hpp"
#include "ir/op_table.hpp"
#include "ir/state_rules.hpp"
#include "ir/verify.hpp"
#include "plan/validate.hpp"
#include "program/lifetimes.hpp"
#include "program/peak.hpp"
#include "runtime/compiled_graph.hpp"
#include "select/emit.hpp"
#include "simplify/simplify.hpp"
#include "timing/fingerprint.hpp"
#include "tune/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>

namespace cairn::inline v0 {
namespace {

using runtime::BucketProgram;
using runtime::Range;

constexpr std::array<std::string_view, 9> stages{"simplify", "expand",   "fuse",  "elementwise", "search",
                                                 "pack",     "in_place", "reuse", "specialize"};

/// What surrounds every stage: cancelling, progress, dumps, checks. A stage itself only turns its input into its
/// output.
class Driver {
public:
    Driver(const CompileOptions& options, std::string_view bucket) : options_(options), bucket_(bucket) {}

    bool enabled(std::string_view stage) const {
        return std::find(options_.disable.begin(), options_.disable.end(), stage) == options_.disable.end();
    }

    void go_on() const {
        if (options_.stop.stop_requested()) throw Cancelled("compile");
    }

    void begin(std::string_view stage) {
        go_on();
        if (options_.progress) options_.progress({stage, number_, 8, bucket_, 0});
        ++number_;
    }

    /// `check` gives the first fault of the stage's result; `text` its text form. Both are asked for only where wanted.
    template <typename Check, typename Text>
    void end(std::string_view stage, const Check& check, const Text& text) {
        if (options_.verify)
            if (const std::string fault = check(); !fault.empty()) throw InternalError(stage, fault);
        if (options_.dump_stages.empty()) return;
        std::string now = text();
        if (now == last_) return;
        const std::string name = fmt::format("{}{}{:02}_{}.txt", bucket_, bucket_.empty() ? "" : "_", number_, stage);
        std::error_code failure;
        std::filesystem::create_directories(options_.dump_stages, failure);
        std::ofstream file(options_.dump_stages / name, std::ios::binary);
        if (!(file << now).flush())
            throw Error(ErrorKind::file, "compile", "cannot write " + (options_.dump_stages / name).string());
        last_ = std::move(now);
    }

private:
    const CompileOptions& options_;
    std::string bucket_, last_;
    int number_ = 0;
};

// All that is run here is run on the CPU.
constexpr Device only_device = Device::cpu;

void check_device(const ir::Node& copy) {
    const auto device = static_cast<Device>(copy.attributes.integer("device"));
    if (device != only_device)
        throw Error(ErrorKind::unsupported, "copy_to",
                    fmt::format("device {} is not available in this library", to_string(device)), copy.where);
}

/// One combination of the ranges that the splits cut, and how often it runs.
struct Cut {
    std::vector<Range> ranges;
    double weight = 1;
};

/// Of each of the parts into which a split cuts a symbol. Throws Error(argument) where they are no weights.
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

std::vector<Cut> buckets_of(const ir::GraphData& graph, const CompileOptions& options, bool specialize) {
    std::vector<Cut> buckets{{}};
    if (!specialize) return buckets;
    const std::vector<Symbols::Symbol> symbols = graph.symbols()->list();
    for (const Split& split : options.splits) {
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
        std::vector<Cut> cut;
        for (const Cut& bucket : buckets) {
            std::int64_t low = symbol->low;
            for (std::size_t i = 0; i < ends.size(); ++i) {
                const std::int64_t high = std::min(ends[i], symbol->high);
                if (high < low) continue;
                cut.push_back(bucket);
                cut.back().ranges.push_back({split.symbol, low, high});
                cut.back().weight *= weights[i];
                low = high + 1;
            }
        }
        buckets = std::move(cut);
    }
    return buckets;
}

std::string name_of(const std::vector<Range>& ranges) {
    std::string name;
    for (const Range& range : ranges)
        name += fmt::format("{}{}-{}-{}", name.empty() ? "" : "_", range.symbol, range.low, range.high);
    return name;
}

/// The graph of one bucket: symbols within its ranges, those with one value replaced by it.
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

class Compiler {
public:
    Compiler(const Graph& graph, const Context& context, const CompileOptions& options)
        : graph_(*graph.data()), context_(context), options_(options) {
        for (const std::string& name : options.disable)
            if (std::find(stages.begin(), stages.end(), name) == stages.end())
                throw Error(ErrorKind::argument, "compile", fmt::format("there is no stage called \"{}\"", name));
        constexpr double most_seconds = 1e8;  // what a clock can add
        if (!(options.tune_seconds >= 0 && options.tune_seconds <= most_seconds))
            throw Error(ErrorKind::argument, "compile",
                        fmt::format("tune_seconds must be in 0..{}, got {}", most_seconds, options.tune_seconds));
        if (graph_.outputs().empty())
            throw Error(ErrorKind::graph, "compile", fmt::format("graph \"{}\" has no output", graph_.name()));
        for (const std::string& fault : {ir::version_fault(graph_), ir::growth_fault(graph_)})
            if (!fault.empty()) throw Error(ErrorKind::graph, "compile", fault);
        for (const ir::Node& node : graph_.nodes())
            if (node.op == ir::Op::copy_to) check_device(node);
    }

    CompiledGraph compile() {
        const Driver driver(options_, "");
        set_up_costs();
        runtime::ProgramSet set;
        set.name = graph_.name();
        set.symbols = graph_.symbols();
        for (const ir::Node& node : graph_.nodes())
            if (node.op == ir::Op::input) {
                program::Port& port = set.inputs.emplace_back();
                port.name = node.name;
                port.desc = TensorDesc::dense(node.dtype, node.shape);
            }
        const auto buckets = buckets_of(graph_, options_, driver.enabled("specialize"));
        end_ = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                      std::chrono::duration<double>(options_.tune_seconds));
        std::vector<Bucket> prepared;
        for (const Cut& cut : buckets) prepared.push_back(prepare(cut));
        select::Selections chosen = choose(prepared);
        for (std::size_t b = 0; b < prepared.size(); ++b) {
            Driver of_bucket = std::move(prepared[b].driver);
            set.buckets.push_back(emit(std::move(prepared[b]), std::move(chosen.buckets[b]), of_bucket));
            plan(set.buckets.back().program, of_bucket);
        }
        driver.go_on();
        CompiledGraph compiled = runtime::make_compiled_graph(context_, std::move(set), options_.stop);
        check_limit(compiled.memory());
        return compiled;
    }

private:
    void set_up_costs() {
        costs_.machine = select::nominal_machine(context_.isa(), context_.threads());
        costs_.isa = context_.isa();
        costs_.policy.threads = context_.threads();
        if (options_.mode == Mode::off) return;
        costs_.environment = timing::environment_of(*context_.parts());
        costs_.timings = context_.parts()->timings.get();
    }

    /// A bucket before its program is made.
    struct Bucket {
        std::vector<Range> ranges;
        double weight;
        Driver driver;
        std::shared_ptr<ir::GraphData> graph;
        std::vector<fuse::Tile> tiles = {};
        std::unique_ptr<select::Candidates> candidates = nullptr;
    };

    /// Made once in a context, and once more when a graph comes with more axes.
    fuse::Patterns patterns(const ir::GraphData& graph) const {
        Context::Parts& parts = *context_.parts();
        const std::size_t axes = fuse::axes_in(graph);
        const std::lock_guard lock(parts.patterns_mutex);
        if (parts.patterns == nullptr || parts.pattern_axes < axes) {
            parts.patterns = fuse::patterns_of(parts.kernels.definitions, axes, options_.stop);
            parts.pattern_axes = axes;
        }
        return std::static_pointer_cast<const std::vector<fuse::Pattern>>(parts.patterns);
    }

    /// Finds the ways to run a bucket and what they cost.
    Bucket prepare(const Cut& cut) {
        Bucket bucket{cut.ranges, cut.weight, Driver(options_, name_of(cut.ranges)), bucket_graph(graph_, cut.ranges),
                      {},         nullptr};
        Driver& driver = bucket.driver;
        std::shared_ptr<ir::GraphData>& graph = bucket.graph;
        driver.begin("graph");
        driver.end(
            "graph", [&] { return ir::verify(*graph); }, [&] { return to_string(Graph(graph)); });
        if (driver.enabled("simplify")) {
            driver.begin("simplify");
            simplify::Options simplify_options;
            simplify_options.stop = options_.stop;
            simplify_options.only_device = only_device;
            graph = simplify::simplify(*graph, simplify_options).graph;
            driver.end(
                "simplify", [&] { return ir::verify(*graph); }, [&] { return to_string(Graph(graph)); });
        }
        expand::Classes classes(*graph);
        if (driver.enabled("expand")) {
            driver.begin("expand");
            expand::Expansion expansion = expand::expand(*graph, {options_.stop, {}});
            graph = std::move(expansion.graph);
            classes = std::move(expansion.classes);
            driver.end(
                "expand",
                [&] {
                    const std::string fault = ir::verify(*graph);
                    return fault.empty() ? expand::verify(*graph, classes) : fault;
                },
                [&] { return to_string(Graph(graph)) + expand::to_string(*graph, classes); });
        }
        driver.begin("fuse");
        const fuse::Options fuse_options{driver.enabled("fuse"), driver.enabled("elementwise"), options_.stop};
        bucket.tiles = fuse::propose(*graph, classes, fuse_options.composites ? patterns(*graph) : nullptr, fuse_options);
        driver.end(
            "fuse", [&] { return fuse::verify(*graph, bucket.tiles, context_.kernels().definitions); },
            [&] { return fuse::to_string(bucket.tiles); });
        bucket.candidates = std::make_unique<select::Candidates>(*graph, classes, context_.kernels(), context_.isa(),
                                                                 costs_, driver.enabled("pack"), options_.stop);
        return bucket;
    }

    /// Picks the fastest of all ways to run the buckets.
    select::Selections choose(std::vector<Bucket>& prepared) {
        std::vector<select::Bucket> buckets;
        for (const Bucket& bucket : prepared)
            buckets.push_back({*bucket.graph, bucket.tiles, *bucket.candidates, bucket.weight});
        const select::Options select_options{prepared[0].driver.enabled("search"), !options_.dump_stages.empty(),
                                             options_.stop};
        if (options_.mode == Mode::normal && select_options.search) {
            for (Bucket& bucket : prepared) bucket.driver.begin("tune");
            tune::profile(buckets, context_, costs_, select_options, {end_, options_.progress, options_.stop});
        }
        for (Bucket& bucket : prepared) bucket.driver.begin("select");
        select::Selections chosen = select::select(buckets, select_options);
        for (std::size_t b = 0; b < prepared.size(); ++b)
            prepared[b].driver.end(
                "select", [] { return std::string(); }, [&] { return select::to_string(chosen, b); });
        return chosen;
    }

    /// Nothing of the bucket but its program is left.
    BucketProgram emit(Bucket bucket, select::Selection selection, Driver& driver) {
        driver.begin("emit");
        select::Candidates& candidates = *bucket.candidates;
        BucketProgram result{std::move(bucket.ranges),
                             select::emit(*bucket.graph, selection, candidates, context_.threads(), options_.stop),
                             explain(selection, candidates, driver)};
        driver.go_on();
        driver.end(
            "emit", [&] { return program::verify(result.program); },
            [&] { return program::to_string(result.program); });
        return result;
    }

    void plan(program::Program& program, Driver& driver) {
        driver.begin("plan");
        program::PlanOptions plan_options;
        plan_options.in_place = driver.enabled("in_place");
        plan_options.reuse = driver.enabled("reuse");
        plan_options.stop = options_.stop;
        const Context::Parts& parts = *context_.parts();
        program::plan_memory(
            program,
            [&](const program::Instruction& instruction) {
                std::vector<std::pair<int, int>> pairs;
                for (const InPlace& pair : parts.find(instruction.kernel)->in_place)
                    if (pair.input < static_cast<int>(instruction.inputs.size()) &&
                        pair.output < static_cast<int>(instruction.outputs.size()))
                        pairs.emplace_back(pair.input, pair.output);
                return pairs;
            },
            plan_options);
        driver.go_on();
        driver.end(
            "plan", [&] { return judge_plan(program); }, [&] { return program::to_string(program); });
    }

    /// Asks the independent validator, at the sizes the plan was made at and where it is largest.
    static std::string judge_plan(const program::Program& program) {
        if (std::string fault = program::verify(program); !fault.empty()) return fault;
        auto samples = program::sample_points(program, 8);
        samples.push_back(program::peak_of(program).at);
        const plan::Problem problem = program::planner_problem(program, samples);
        return plan::validate(problem, program::planner_solution(program, samples));
    }

    static std::string explain(const select::Selection& selection, select::Candidates& candidates,
                               const Driver& driver) {
        std::string text;
        std::map<std::string, std::string> known;
        for (const select::Choice& choice : selection.chosen) {
            driver.go_on();
            const Problem& problem = *choice.candidate.problem;
            std::string& verdicts = known[to_string(problem)];
            if (verdicts.empty())
                for (const select::Verdict& verdict : candidates.verdicts(problem))
                    verdicts +=
                        verdict.refusal.empty()
                            ? fmt::format("    {:<44} {:.4g} s{}{}{}\n", verdict.kernel, verdict.estimate.seconds,
                                          verdict.estimate.measured ? " measured" : " estimated",
                                          verdict.estimate.note.empty() ? "" : " ", verdict.estimate.note)
                            : fmt::format("    {:<44} no, because: {}\n", verdict.kernel, verdict.refusal);
            text += fmt::format("  {} {:.4g} s | {}\n{}", choice.candidate.kernel->id,
                                choice.candidate.estimate.seconds, to_string(problem), verdicts);
        }
        return text;
    }

    /// ` at T = 1, B = 8`: the sizes that need most.
    static std::string where_of(const MemoryReport& memory) {
        std::string text;
        for (const auto& [symbol, value] : memory.arena_sizes)
            text += fmt::format("{} {} = {}", text.empty() ? " at" : ",", symbol, value);
        return memory.arena_is_exact ? text : " at most";
    }

    void check_limit(const MemoryReport& memory) const {
        const std::int64_t needed = memory.bound + memory.states + memory.arena + memory.constants;
        if (options_.memory_limit && needed > *options_.memory_limit)
            throw Error(
                ErrorKind::memory, "compile",
                fmt::format("{} bytes are needed (bound {}, states {}, arena {}{}, constants {}), the limit is {}",
                            needed, memory.bound, memory.states, memory.arena, where_of(memory), memory.constants,
                            *options_.memory_limit));
    }

    const ir::GraphData& graph_;
    const Context& context_;
    const CompileOptions& options_;
    select::CostSource costs_;
    std::chrono::steady_clock::time_point end_;
};

}  // namespace

CompiledGraph compile(const Graph& graph, const Context& context, const CompileOptions& options) {
    return Compiler(graph, context, options).compile();
}

std::vector<std::string> stage_names() { return {stages.begin(), stages.end()}; }

}  // namespace cairn::inline v0
