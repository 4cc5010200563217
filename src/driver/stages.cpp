#include "driver/stages.hpp"

#include "accuracy/metric/combined_error.hpp"
#include "accuracy/metric/float_limits.hpp"
#include "autotune/measurement/benchmark.hpp"
#include "autotune/measurement/calibration_records.hpp"
#include "autotune/measurement/clock.hpp"
#include "autotune/measurement/device_rates.hpp"
#include "autotune/measurement/fingerprint.hpp"
#include "autotune/policy/effort.hpp"
#include "autotune/policy/tuner.hpp"
#include "driver/port_devices.hpp"
#include "driver/replay.hpp"
#include "driver/timing_notes.hpp"
#include "driver/verify_kernels.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/verify.hpp"
#include "graph/ir/verify_states.hpp"
#include "graph/types/device_code.hpp"
#include "program/memory_plan/validate.hpp"
#include "program/peak_memory.hpp"
#include "program/plan_memory.hpp"
#include "rewrite/alternatives/expand.hpp"
#include "rewrite/simplify/simplify.hpp"
#include "runtime/compiled_graph.hpp"
#include "selection/choose/lock_replay.hpp"
#include "selection/choose/narrow_cuts.hpp"
#include "selection/emit/emit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <mutex>
#include <utility>

namespace cairn::driver {
namespace {

/// The CPU and the devices of a kernel set.
std::vector<Device> devices_of(const KernelSet& kernels) {
    std::vector<Device> all{Device::cpu};
    for (const DeviceRates& rates : kernels.devices) all.push_back(rates.device);
    return all;
}

/// True if an available kernel reads operands that are narrower than its definition's.
bool any_widened_inputs(const KernelSet& kernels, FeatureSet features) {
    return std::any_of(kernels.kernels.begin(), kernels.kernels.end(), [&](const Kernel& kernel) {
        return features.includes(kernel.needs) && !kernel.widened_inputs.empty();
    });
}

void check_device(const ir::Node& copy, const KernelSet& kernels) {
    const Device device = *types::device_of_code(copy.attributes.integer("device"));
    if (!has_device(kernels.devices, device))
        throw Error(ErrorKind::unsupported, "copy_to", fmt::format("this Context has no device {}", to_string(device)),
                    copy.where);
}

// The largest part of a budget that a calibration may take: of 2 s, the half second that a thorough one needs.
constexpr double max_calibration_share = 0.25;
// A shorter budget has none: the memory bandwidth alone takes longer.
constexpr double min_calibration_seconds = 0.1;

/// Adds its lifetime to a number of seconds.
class Measuring {
public:
    explicit Measuring(double& seconds) : seconds_(seconds) {}
    ~Measuring() { seconds_ += autotune::seconds_since(begin_); }
    Measuring(const Measuring&) = delete;
    Measuring& operator=(const Measuring&) = delete;

private:
    double& seconds_;
    const autotune::Clock::time_point begin_ = autotune::Clock::now();
};

/// Checks the plan with the independent validator, at the sizes it was made for and at the sizes that need the most
/// memory.
std::string verify_plan(const program::Program& program) {
    if (std::string fault = program::verify(program); !fault.empty()) return fault;
    for (const Device device : program::devices_of(program)) {
        auto samples = program::sample_points(program, 8);
        samples.push_back(program::peak_memory_of(program, device).at);
        const program::MemoryPlan plan = program::plan_of(program, device);
        std::string fault =
            memory_plan::validate(program::planner_problem(plan, samples), program::planner_solution(plan, samples));
        if (!fault.empty()) return fault;
    }
    return {};
}

}  // namespace

std::vector<selection::Bucket> selection_buckets(const std::vector<PreparedBucket>& buckets) {
    std::vector<selection::Bucket> seen;
    for (const PreparedBucket& bucket : buckets)
        seen.push_back({*bucket.graph, bucket.matches, *bucket.candidates, bucket.cut.weight, bucket.bounds});
    return seen;
}

double expected_seconds(const std::vector<PreparedBucket>& buckets, const selection::Selections& selections) {
    return selection::seconds_of(selection_buckets(buckets), selections);
}

runtime::Explainer explainer_of(std::shared_ptr<const selection::Explainer> all, std::vector<int> path,
                                double optimality_gap, std::vector<ProgramTrial> trials,
                                std::vector<TuningPoint> tuning, std::vector<std::string> notes) {
    return [all = std::move(all), path = std::move(path), optimality_gap, trials = std::move(trials),
            tuning = std::move(tuning), notes = std::move(notes)](
               const runtime::ProgramSet& set, Explanation& explanation, const std::stop_token& stop) {
        std::vector<const program::Program*> programs;
        for (const runtime::BucketProgram& bucket : set.buckets) programs.push_back(&bucket.program);
        explanation.is_exact = optimality_gap == 0;
        explanation.optimality_gap = optimality_gap;
        explanation.trials = trials;
        explanation.tuning = tuning;
        explanation.notes = notes;
        all->explain(path, programs, explanation, stop);
    };
}

Stages::Stages(const Graph& graph, const Context& context, const CompileOptions& options, std::string variant)
    : graph_(*graph.data()), context_(context), options_(options), variant_(std::move(variant)) {
    check_options();
    check_graph();
    set_up_costs();
    set_up_verifications(graph);
    result_template_.name = graph_.name();
    result_template_.symbols = graph_.symbols();
    for (const ir::Node& node : graph_.nodes())
        if (node.op == ir::Op::input) {
            runtime::InputPort& port = result_template_.inputs.emplace_back();
            port.name = node.name;
            port.desc = TensorDesc::dense(node.dtype, node.shape);
            if (const auto it = options_.input_devices.find(node.name); it != options_.input_devices.end())
                port.device = it->second;
        }
}

std::string Stages::driver_name(const BucketRanges& cut) const {
    const std::string ranges = bucket_name(cut.ranges);
    return variant_.empty() || ranges.empty() ? variant_ + ranges : variant_ + '_' + ranges;
}

void Stages::check_options() const {
    const std::vector<std::string> known = stage_names();
    for (const std::string& name : options_.disable)
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw Error(ErrorKind::argument, "compile", fmt::format("there is no stage called \"{}\"", name));
    if (const double seconds = autotune::seconds_of(options_); !(seconds >= 0 && seconds <= autotune::max_seconds))
        throw Error(ErrorKind::argument, "compile",
                    fmt::format("tune_seconds must be in 0..{}, got {}", autotune::max_seconds, seconds));
    if (!(options_.seconds_per_kept_byte >= 0 && std::isfinite(options_.seconds_per_kept_byte)))
        throw Error(ErrorKind::argument, "compile",
                    fmt::format("seconds_per_kept_byte must be finite and not below 0, got {}",
                                options_.seconds_per_kept_byte));
    if (options_.memory_plan_steps < 0)
        throw Error(ErrorKind::argument, "compile",
                    fmt::format("memory_plan_steps must not be below 0, got {}", options_.memory_plan_steps));
}

void Stages::check_graph() const {
    if (graph_.outputs().empty())
        throw Error(ErrorKind::graph, "compile", fmt::format("graph \"{}\" has no output", graph_.name()));
    for (const std::string& fault : {ir::verify_state_versions(graph_), ir::verify_state_growth(graph_)})
        if (!fault.empty()) throw Error(ErrorKind::graph, "compile", fault);
    for (const ir::Node& node : graph_.nodes())
        if (node.op == ir::Op::copy_to) check_device(node, context_.kernels());
    check_port_devices(graph_, context_.kernels().devices, options_);
}

void Stages::set_up_costs() {
    costs_.machine = selection::nominal_machine(context_.features(), context_.threads());
    costs_.features = context_.features();
    costs_.permit = [impl = context_.impl()](FeatureSet needs) { return impl->cpu->permit(needs); };
    costs_.policy.threads = context_.threads();
    costs_.devices = context_.kernels().devices;
    if (options_.mode != Mode::replay) costs_.rules = options_.rules;
    if (options_.mode == Mode::off) {
        for (const DeviceRates& rates : costs_.devices)
            costs_.others[rates.device].rates = autotune::source_of_rates(*context_.impl(), rates.device);
        return;
    }
    if (options_.mode == Mode::replay) {
        costs_.lock = read_lock(options_.lock);
        return;
    }
    const Context::Impl& impl = *context_.impl();
    costs_.environment = autotune::environment_of(impl);
    costs_.programs = autotune::program_environment_of(impl);
    costs_.timings = context_.impl()->timings.get();
    const std::vector<KernelRule> stored = costs_.timings->rules();
    costs_.rules.insert(costs_.rules.end(), stored.begin(), stored.end());
    const Measuring measuring(measuring_);
    const double budget = autotune::measures(options_.mode) ? autotune::seconds_of(options_) : 0;
    // The CPU and each device that has nominal rates get equal parts.
    const auto nominal = std::count_if(costs_.devices.begin(), costs_.devices.end(), [&](const DeviceRates& rates) {
        return autotune::source_of_rates(impl, rates.device) == RateSource::nominal;
    });
    const double seconds =
        budget < min_calibration_seconds ? 0 : max_calibration_share * budget / static_cast<double>(1 + nominal);
    try {
        if (auto machine =
                autotune::calibration_of(context_, costs_.environment, costs_.policy, seconds, options_.stop)) {
            costs_.machine = *machine;
            costs_.is_calibrated = true;
        }
        set_up_devices(seconds);
    } catch (...) {
        autotune::release_operand_memory(*context_.impl());
        throw;
    }
    if (!context_.impl()->options.shipped_timings.empty()) costs_.priors = priors();
}

/// The conditions of the devices other than the CPU, and their rates.
void Stages::set_up_devices(double seconds) {
    const Context::Impl& impl = *context_.impl();
    for (DeviceRates& rates : costs_.devices) {
        const autotune::DeviceRecords records = autotune::records_of(impl, rates.device);
        const KnownRates known = autotune::rates_of(context_, rates, seconds, options_.stop);
        costs_.others[rates.device] = {records.device, records.link, records.policy, known.source};
        rates = known.rates;
    }
}

/// Created once per Context; null if the shipped timings have no other machine.
std::shared_ptr<const selection::Priors> Stages::priors() const {
    Context::Impl& impl = *context_.impl();
    const std::lock_guard lock(impl.priors_mutex);
    if (impl.priors == nullptr)
        impl.priors = std::make_shared<const selection::Priors>(*impl.timings, costs_.environment, costs_.policy,
                                                                impl.kernels, context_.features());
    return impl.priors->empty() ? nullptr : impl.priors;
}

std::vector<PreparedBucket> Stages::prepare() {
    const bool specialize = StageDriver(options_, "").enabled("specialize");
    const std::vector<BucketRanges> cuts =
        bucket_ranges_of(graph_, specialize ? std::span(options_.splits) : std::span<const Split>());
    set_up_tolerance(cuts);
    std::vector<PreparedBucket> prepared;
    for (const BucketRanges& cut : cuts) prepared.push_back(prepare(cut));
    const bool has_times = options_.mode == Mode::cached || autotune::measures(options_.mode);
    if (has_times && prepared[0].driver.enabled("search")) tune(prepared);
    return prepared;
}

void Stages::set_up_verifications(const Graph& graph) {
    const std::vector<accuracy::ErrorBudget> bounds =
        accuracy::error_budgets_of(graph_, options_.tolerance, options_.output_tolerances);
    if (std::all_of(bounds.begin(), bounds.end(), [](const auto& bound) { return bound.limit == 0; })) return;
    if (costs_.timings != nullptr)
        verifications_.emplace(context_, selection::environment_of_programs(costs_), selection_digest(graph, options_));
    replays_covers_ = costs_.lock != nullptr && costs_.lock->selection_key == selection_digest(graph, options_);
}

/// The scale of error budgets under which the steps of a lock's cover were selected, or a smaller one that admits them.
double Stages::scale_of_lock(const BucketRanges& cut, double tolerance) const {
    const auto cover = std::find_if(costs_.lock->covers.begin(), costs_.lock->covers.end(),
                                    [&](const program::Lock::Cover& each) { return each.ranges == cut.ranges; });
    if (cover == costs_.lock->covers.end()) return 1;
    double error = 0;
    for (const program::CoverStep& step : cover->steps)
        error = accuracy::combined_error(error, accuracy::combined_error(step.error, step.rounding));
    for (const ir::StateInfo& state : graph_.states())
        if (state.public_dtype) error = accuracy::combined_error(error, accuracy::unit_roundoff(state.dtype));
    constexpr double rounding_margin = 1 + 1e-9;
    return std::max(1.0, rounding_margin * error / tolerance);
}

/// The error budgets of a bucket, scaled by what verifications of earlier programs have measured.
std::vector<accuracy::ErrorBudget> Stages::budgets(const ir::GraphData& graph, const BucketRanges& cut) const {
    std::vector<accuracy::ErrorBudget> bounds =
        accuracy::error_budgets_of(graph, options_.tolerance, options_.output_tolerances);
    if (verifications_) return accuracy::scaled_budgets(std::move(bounds), verifications_->budget_scale(cut.ranges));
    if (!replays_covers_) return bounds;
    double smallest = std::numeric_limits<double>::infinity();
    for (const accuracy::ErrorBudget& bound : bounds)
        if (bound.limit > 0) smallest = std::min(smallest, bound.limit);
    return accuracy::scaled_budgets(std::move(bounds), scale_of_lock(cut, smallest));
}

/// Sets the largest error that a kernel of any bucket may state.
void Stages::set_up_tolerance(std::span<const BucketRanges> cuts) {
    for (const BucketRanges& cut : cuts) {
        ranges_.push_back(cut.ranges);
        for (const accuracy::ErrorBudget& bound : budgets(graph_, cut))
            costs_.tolerance = std::max(costs_.tolerance, bound.limit);
    }
}

std::vector<std::string> Stages::notes() const {
    std::vector<std::string> lines = timing_notes(costs_);
    if (!verifications_) return lines;
    std::vector<std::string> verified = verifications_->notes(ranges_);
    lines.insert(lines.end(), std::make_move_iterator(verified.begin()), std::make_move_iterator(verified.end()));
    return lines;
}

/// Created once per Context, and again for a graph whose traits they do not cover: the second time for all ops, so that
/// graphs with one more op each do not build them again and again.
fusion::Patterns Stages::patterns(const ir::GraphData& graph) const {
    Context::Impl& impl = *context_.impl();
    const fusion::GraphTraits sought(graph);
    const std::lock_guard lock(impl.patterns_mutex);
    if (impl.patterns == nullptr)
        impl.patterns = fusion::patterns_of(impl.kernels.definitions, sought, options_.stop);
    else if (const fusion::GraphTraits& served = fusion::traits_of(*impl.patterns); !served.covers(sought))
        impl.patterns = fusion::patterns_of(impl.kernels.definitions, (served | sought).with_all_ops(), options_.stop);
    return impl.patterns;
}

PreparedBucket Stages::prepare(const BucketRanges& cut) const {
    PreparedBucket bucket{cut, StageDriver(options_, driver_name(cut)), bucket_graph(graph_, cut.ranges)};
    StageDriver& driver = bucket.driver;
    std::shared_ptr<ir::GraphData>& graph = bucket.graph;
    driver.begin("graph");
    driver.end(
        "graph", [&] { return ir::verify(*graph); }, [&] { return to_string(Graph(graph)); });
    if (driver.enabled("simplify")) {
        driver.begin("simplify");
        simplify::Options simplify_options;
        simplify_options.stop = options_.stop;
        if (context_.kernels().devices.empty()) simplify_options.only_device = Device::cpu;
        graph = simplify::simplify(*graph, simplify_options).graph;
        driver.end(
            "simplify", [&] { return ir::verify(*graph); }, [&] { return to_string(Graph(graph)); });
    }
    alternatives::EClasses classes(*graph);
    if (driver.enabled("expand")) {
        driver.begin("expand");
        alternatives::Expansion expansion = alternatives::expand(
            *graph, {options_.stop, {}, any_widened_inputs(context_.kernels(), context_.features())});
        graph = std::move(expansion.graph);
        classes = std::move(expansion.classes);
        driver.end(
            "expand",
            [&] {
                const std::string fault = ir::verify(*graph);
                return fault.empty() ? alternatives::verify(*graph, classes) : fault;
            },
            [&] { return to_string(Graph(graph)) + alternatives::to_string(*graph, classes); });
    }
    driver.begin("fuse");
    const fusion::Options fuse_options{driver.enabled("fuse"), driver.enabled("elementwise"), options_.stop,
                                       driver.enabled("fuse")};
    bucket.matches =
        fusion::propose(*graph, classes, fuse_options.composites ? patterns(*graph) : nullptr, fuse_options);
    driver.end(
        "fuse", [&] { return fusion::verify(*graph, classes, bucket.matches, context_.kernels().definitions); },
        [&] { return fusion::to_string(bucket.matches); });
    if (costs_.tolerance > 0) bucket.bounds = accuracy::subtract_state_rounding(*graph, budgets(*graph, cut));
    bucket.candidates = std::make_unique<selection::Candidates>(
        *graph, classes, context_.kernels(), context_.features(), costs_, driver.enabled("pack"), options_.stop);
    if (!costs_.devices.empty() && driver.enabled("search")) {
        const selection::Bucket seen{*bucket.graph, bucket.matches, *bucket.candidates, cut.weight, bucket.bounds};
        std::vector<bool> transferable = selection::transferable_values(seen, options_.stop);
        bucket.candidates->set_devices({devices_of(context_.kernels()),
                                        Device::cpu,
                                        {options_.input_devices, options_.output_devices},
                                        std::move(transferable)});
    }
    return bucket;
}

void Stages::tune(std::vector<PreparedBucket>& buckets) {
    selection::Options select_options;
    select_options.stop = options_.stop;
    select_options.seconds_per_kept_byte = options_.seconds_per_kept_byte;
    if (options_.mode == Mode::cached) {
        chosen_ = autotune::settle(selection_buckets(buckets), costs_, select_options);
        return;
    }
    for (PreparedBucket& bucket : buckets) bucket.driver.begin("tune");
    struct Release {
        Context::Impl& impl;
        ~Release() { autotune::release_operand_memory(impl); }
    } const release{*context_.impl()};
    const Measuring measuring(measuring_);
    // On a busy machine a calibration takes longer than its share; the rest of the budget stays for kernels.
    const double seconds = autotune::seconds_of(options_),
                 left = seconds - std::min(measuring_, max_calibration_share * seconds);
    const autotune::Budget budget{left, options_.progress, options_.stop, autotune::usual_hang_seconds,
                                  autotune::effort_of(options_.mode)};
    autotune::TuningResult profiled = autotune::run_tuner(selection_buckets(buckets), context_, costs_, select_options,
                                                          budget, autotune::measurer_of(context_));
    unmeasured_plan_ = std::move(profiled.plan);
    curve_ = std::move(profiled.curve);
    chosen_ = std::move(profiled.chosen);
}

program::Program Stages::program_of(PreparedBucket& bucket, const selection::Selection& selection,
                                    StageDriver& driver) const {
    driver.begin("emit");
    program::Program program = selection::emit(*bucket.graph, selection, *bucket.candidates, context_.threads(),
                                               options_.stop, bucket.matches);
    driver.check_cancelled();
    driver.end(
        "emit", [&] { return program::verify(program); }, [&] { return program::to_string(program); });
    plan(program, driver);
    return program;
}

runtime::BucketProgram Stages::emit(PreparedBucket& bucket, const selection::Selection& selection,
                                    StageDriver& driver) const {
    runtime::BucketProgram made{bucket.cut.ranges, program_of(bucket, selection, driver)};
    made.steps = selection::steps_of(selection);
    return made;
}

void Stages::plan(program::Program& program, StageDriver& driver) const {
    driver.begin("plan");
    program::PlanOptions plan_options;
    plan_options.in_place = driver.enabled("in_place");
    plan_options.reuse = driver.enabled("reuse");
    plan_options.steps = options_.memory_plan_steps;
    plan_options.stop = options_.stop;
    const Context::Impl& impl = *context_.impl();
    program::plan_memory(
        program,
        [&](const program::Instruction& instruction) {
            return program::in_place_pairs(instruction, *impl.find(instruction.kernel));
        },
        plan_options);
    driver.check_cancelled();
    driver.end(
        "plan", [&] { return verify_plan(program); }, [&] { return program::to_string(program); });
}

CompiledGraph Stages::link(std::vector<runtime::BucketProgram> buckets, runtime::Explainer explainer,
                           runtime::SelectionKey selection_key) const {
    StageDriver(options_, "").check_cancelled();
    if (options_.verify) verify_own_kernels(buckets, context_, options_.stop);
    runtime::ProgramSet set = result_template_;
    set.buckets = std::move(buckets);
    set.explainer = std::move(explainer);
    if (verifications_)
        set.verification_sink = [record = *verifications_](const runtime::BucketProgram& bucket,
                                                           std::span<const double> errors) {
            record.record(bucket, errors);
        };
    set.selection_key = std::move(selection_key);
    return runtime::make_compiled_graph(context_, std::move(set), options_.stop);
}

}  // namespace cairn::driver
