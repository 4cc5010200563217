#include "autotune/policy/tuner.hpp"

#include "accuracy/kernel_check/error_measurement.hpp"
#include "autotune/measurement/candidate_codes.hpp"
#include "autotune/measurement/clock.hpp"
#include "autotune/policy/exhaustive_tasks.hpp"
#include "autotune/policy/knob_settings.hpp"
#include "autotune/policy/task_priority.hpp"
#include "autotune/policy/tuning_progress.hpp"
#include "autotune/policy/tuning_tasks.hpp"
#include "autotune/policy/watchdog.hpp"
#include "device/context_impl.hpp"
#include "selection/choose/memo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cairn::autotune {
namespace {

constexpr double max_noise = 0.05;
constexpr double no_incumbent = std::numeric_limits<double>::infinity();
// Fraction of the remaining time that may be spent on filling operand memory.
constexpr double filling_share = 0.25;
// Rounds of 1 + 2 + ... blocks for steady times.
constexpr int steady_rounds = 6;

void set_costs_of(std::span<const selection::Bucket> buckets, const selection::CostModel& costs) {
    for (const selection::Bucket& bucket : buckets) bucket.candidates.set_costs(costs);
}

/// The cost model of a compile on an unknown machine: estimates, or priors from shipped timings of other machines.
selection::CostModel nominal(const selection::CostModel& costs) {
    selection::CostModel all = costs;
    all.machine = selection::nominal_machine(costs.features, costs.policy.threads);
    all.is_calibrated = all.optimistic = false;
    all.timings = nullptr;
    all.timing_transfer = all.expected = nullptr;
    all.time_scale = 1;
    return all;
}

selection::Selections select_with(std::span<const selection::Bucket> buckets, const selection::CostModel& costs,
                                  const selection::Options& options) {
    set_costs_of(buckets, costs);
    return selection::select(buckets, options);
}

bool is_measured(const selection::Selections& selections) {
    for (const selection::Selection& bucket : selections.buckets)
        for (const selection::Choice& choice : bucket.chosen)
            if (!choice.candidate.estimate.measured) return false;
    return true;
}

bool is_of_this_machine(const TimingEnvironment& environment, const selection::CostModel& costs) {
    return environment.hard == costs.environment.hard ||
           std::any_of(costs.others.begin(), costs.others.end(), [&](const auto& other) {
               return environment.hard == other.second.kernels.hard || environment.hard == other.second.copies.hard;
           });
}

/// True if there may be times of this machine.
bool may_have_times(const selection::CostModel& costs) {
    if (costs.timings->size() > 0) return true;
    const std::vector<TimingEnvironment> shipped_timings = costs.timings->shipped_environments();
    return std::any_of(shipped_timings.begin(), shipped_timings.end(),
                       [&](const TimingEnvironment& each) { return is_of_this_machine(each, costs); });
}

class Tuner {
public:
    Tuner(std::span<const selection::Bucket> buckets, const Context& context, const selection::CostModel& costs,
          const selection::Options& options, const Budget& budget, const Measurer& measurer)
        : buckets_(buckets),
          context_(context),
          optimistic_(costs),
          options_(options),
          budget_(budget),
          measurer_(measurer),
          begin_(measurer.now()),
          watchdog_(budget.hang_seconds) {
        optimistic_.optimistic = true;
        optimistic_.min_quality = budget.effort.min_quality;
    }

    TuningResult run() {
        if (budget_.effort.only_costly && is_settled()) {
            result_.complete = true;
            return std::move(result_);
        }
        const selection::Selections plan = choose(nominal(optimistic_));
        for (selection::CallKindSeconds& each : selection::call_kinds_by_time(buckets_, plan))
            result_.plan.push_back(std::move(each.kind));
        learn();
        curve_.emplace(buckets_, plan, expected());
        curve_->note(0, 0);
        measure_plan(plan);
        if (!budget_.effort.only_costly) measure_best_paths();
        if (budget_.effort.exhaustive && result_.complete) result_.complete = measure_everything();
        result_.curve = curve_->end(spent(), result_.measured);
        return std::move(result_);
    }

private:
    double spent() const { return measurer_.now() - begin_; }
    double left() const { return budget_.seconds - spent(); }

    selection::Selections choose(const selection::CostModel& costs) {
        const double begin = measurer_.now();
        selection::Selections chosen = select_with(buckets_, costs, options_);
        selection_seconds_ = measurer_.now() - begin;
        return chosen;
    }

    /// True if everything in the selection of a compile that measures nothing is measured.
    bool is_settled() {
        if (!may_have_times(optimistic_)) return false;
        selection::CostModel known = optimistic_;
        known.optimistic = false;
        settle(buckets_, known, options_);
        return is_measured(selection::select(buckets_, options_));
    }

    const TimingEnvironment& environment_of(const Kernel& kernel) const {
        return selection::environment_of(kernel, optimistic_);
    }
    const TimingPolicy& policy_of(const Kernel& kernel) const { return selection::policy_of(kernel, optimistic_); }

    /// Updates the estimates from the times known now.
    void learn() {
        set_costs_of(buckets_, optimistic_);
        LearnedEstimates learned = learned_from(buckets_, optimistic_);
        optimistic_.time_scale = learned.time_scale;
        optimistic_.timing_transfer = learned_ = std::make_shared<selection::TimingTransfer>(std::move(learned.own));
        if (optimistic_.priors != nullptr)
            optimistic_.expected = expected_ = std::make_shared<selection::TimingTransfer>(std::move(learned.all));
    }

    /// Cost model with expected instead of optimistic times; coarse times count as measured.
    selection::CostModel expected() const {
        selection::CostModel costs = optimistic_;
        costs.optimistic = false;
        costs.min_quality = 0;
        return costs;
    }

    std::vector<TuningTask> unmeasured_tasks_of(const selection::Selections& chosen) {
        return unmeasured_tasks(buckets_, chosen, optimistic_, context_.kernels().definitions, tried_);
    }

    /// Measures the unmeasured calls of the plan and their alternatives.
    void measure_plan(const selection::Selections& plan) {
        best_ = selection::seconds_of(buckets_, plan);
        std::vector<TuningTask> all = unmeasured_tasks_of(plan);
        const std::size_t costly = uncertain_costly_first(all, buckets_, plan, nominal(optimistic_));
        if (budget_.effort.only_costly) all.resize(costly);
        result_.complete = measure_all(all) && budget_.effort.only_costly;
    }

    void measure_best_paths() {
        // Measuring is useless without time for another selection.
        while (left() > selection_seconds_ && !result_.complete) {
            learn();
            const selection::Selections chosen = choose(optimistic_);
            best_ = selection::seconds_of(buckets_, chosen);
            const std::vector<TuningTask> all = unmeasured_tasks_of(chosen);
            measure_all(all);
            result_.complete = all.empty() && !remeasure_noisy(chosen) && !measure_settings(chosen);
        }
    }

    /// Measures other settings of the chosen kernels, each once. False if none is left to measure.
    bool measure_settings(const selection::Selections& chosen) {
        const std::vector<TuningTask> all = unknown_settings(buckets_, chosen, expected_better(), tried_settings_);
        for (std::size_t i = 0; i < all.size() && left() > 0; ++i) {
            for (const CandidateCall& call : all[i].calls)
                tried_settings_.insert(selection::call_key(*call.kernel, call.problem));
            report(*all[i].calls.front().kernel, all.size() - i);
            measure(all[i], candidates_of_settings(all[i], expected_better()));
            curve_->learn(all[i], optimistic_);
            curve_->note(spent(), result_.measured);
        }
        return !all.empty();
    }

    /// False where time ran out.
    bool measure_all(const std::vector<TuningTask>& all) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (left() <= 0) return false;
            report(*all[i].calls.front().kernel, all.size() - i);
            measure(all[i], candidates_of(all[i], optimistic_), [&] {
                return upcoming(all, i, [&](const TuningTask& task) { return candidates_of(task, optimistic_); });
            });
            curve_->learn(all[i], optimistic_);
            curve_->note(spent(), result_.measured);
        }
        return true;
    }

    /// Measures everything that is unknown, whether it can change the choice or not. False if time ran out.
    bool measure_everything() {
        learn();
        const std::vector<TuningTask> all = exhaustive_tasks(buckets_, optimistic_, budget_.stop);
        // A benchmark whose time runs out leaves candidates for the next round.
        for (bool continues = true; continues;) {
            continues = false;
            for (std::size_t i = 0; i < all.size(); ++i) {
                if (left() <= 0) return false;
                const CandidateSet candidate_set = all_candidates_of(all[i], expected_better());
                if (candidate_set.candidates.empty()) continue;
                report(*candidate_set.candidates.front().kernel, all.size() - i);
                const int before = result_.measured + result_.failed;
                measure(all[i], candidate_set, [&] {
                    return upcoming(all, i,
                                    [&](const TuningTask& task) { return all_candidates_of(task, expected_better()); });
                });
                continues = continues || result_.measured + result_.failed > before;
            }
        }
        return remeasure_spread(all);
    }

    /// As expected(), but coarse times count as unknown if the effort requires better ones.
    selection::CostModel expected_better() const {
        selection::CostModel costs = expected();
        costs.min_quality = optimistic_.min_quality;
        return costs;
    }

    /// Takes times with a large spread again, once. False if time ran out.
    bool remeasure_spread(const std::vector<TuningTask>& all) {
        for (const TuningTask& task : all)
            for (const CandidateCall& call : task.calls) {
                const auto timing = optimistic_.timings->find(call.problem, call.kernel->id,
                                                              environment_of(*call.kernel), policy_of(*call.kernel));
                if (!timing || !autotune::has_large_spread(*timing)) continue;
                if (left() <= 0) return false;
                measure_steady(*call.kernel, call.problem);
            }
        return true;
    }

    void report(const Kernel& kernel, std::size_t waiting) {
        if (budget_.stop.stop_requested()) throw Cancelled("tune");
        if (!budget_.progress) return;
        // Estimated from the pace so far; work that later rounds find is not included.
        const double time_scale = done_ == 0 ? 0 : spent() / static_cast<double>(done_);
        const double expected = std::min(left(), time_scale * static_cast<double>(waiting));
        budget_.progress({"tune", done_, done_ + static_cast<std::int64_t>(waiting), kernel.id, expected, best_});
    }

    using Candidates = std::vector<autotune::BenchmarkCandidate>;

    /// Candidates with code of the tasks after `all[i]`: as many as one compilation takes.
    template <typename CandidatesOf>
    static Candidates upcoming(const std::vector<TuningTask>& all, std::size_t i, const CandidatesOf& candidates_of) {
        Candidates found;
        while (++i < all.size() && found.size() < autotune::CandidateCodes::max_texts)
            for (const autotune::BenchmarkCandidate& candidate : candidates_of(all[i]).candidates)
                if (candidate.kernel->code) found.push_back(candidate);
        return found;
    }

    /// `upcoming`: candidates of later measurements, whose code may be compiled with that of these.
    void measure(const TuningTask& task, const CandidateSet& candidate_set, std::function<Candidates()> upcoming = {}) {
        ++done_;
        if (!candidate_set.candidates.empty()) {
            autotune::BenchmarkOptions options = benchmark_options(
                candidate_set.incumbent_seconds, budget_.effort.max_rounds, budget_.effort.min_blocks);
            options.upcoming = std::move(upcoming);
            record(candidate_set.candidates, measurer_.benchmark_candidates(candidate_set.candidates, options));
        }
        for (const CandidateCall& call : task.calls) {
            if (!call.compared || left() <= 0) continue;
            compare(call);
            tried_.insert(selection::call_key(*call.kernel, call.problem));
        }
    }

    /// Times one kernel alone, in enough blocks for a steady time.
    void measure_steady(const Kernel& kernel, const Problem& problem) {
        const autotune::BenchmarkCandidate alone{&problem, &kernel};
        report(kernel, 1);
        record({&alone, 1}, measurer_.benchmark_candidates(
                                {&alone, 1}, benchmark_options(no_incumbent, steady_rounds, autotune::steady_blocks)));
    }

    autotune::BenchmarkOptions benchmark_options(double incumbent_seconds, int rounds, int blocks) {
        const Effort& effort = budget_.effort;
        const double seconds = std::max(left(), 0.0);
        autotune::BenchmarkOptions options;
        options.stop = budget_.stop;
        options.until = autotune::time_point_after(seconds);
        options.fill_until = autotune::time_point_after(seconds * filling_share);
        options.is_coarse = effort.is_coarse;
        options.on_run = [this](const autotune::BenchmarkCandidate* who) { watch(who); };
        options.on_compile = [this](std::span<const autotune::BenchmarkCandidate> needed, std::size_t texts) {
            watch_compilation(needed, texts);
        };
        options.elimination.seconds = std::min(seconds, effort.max_seconds);
        options.elimination.indifference = effort.indifference;
        options.elimination.max_rounds = rounds;
        options.elimination.min_blocks = blocks;
        options.elimination.incumbent_seconds = incumbent_seconds;
        if (const double noise = optimistic_.machine.noise; noise > 0)
            options.elimination.noise = std::clamp(noise, effort.min_noise, max_noise);
        return options;
    }

    void watch(const autotune::BenchmarkCandidate* who) {
        if (who == nullptr) return watchdog_.end();
        watchdog_.begin(
            [this, who] { give_up(*who, fmt::format("did not return within {} s", budget_.hang_seconds)); });
    }

    /// Any of the texts may be the one that takes so long. Those that are needed are given up, so that another start
    /// makes progress; if the compilation returns, they are measured, which replaces that.
    void watch_compilation(std::span<const autotune::BenchmarkCandidate> needed, std::size_t texts) {
        if (texts == 0) return watchdog_.end();
        const auto late = [this, needed, texts] {
            const double limit = budget_.hang_seconds * static_cast<double>(texts);
            for (const autotune::BenchmarkCandidate& each : needed)
                give_up(each, fmt::format("was not compiled within {} s, with {} others", limit, texts - 1),
                        autotune::coarse_quality);
        };
        watchdog_.begin(late, texts);
    }

    /// Called on the watchdog thread. A measurement of the same quality replaces the failure.
    void give_up(const autotune::BenchmarkCandidate& who, const std::string& reason, int quality = Timing().quality) {
        Timing timing;
        timing.status = TimingStatus::failed;
        timing.note = reason;
        timing.quality = quality;
        const Context::Impl& impl = *context_.impl();
        impl.timings->record(*who.problem, who.kernel->id, environment_of(*who.kernel), policy_of(*who.kernel), timing);
        impl.log(LogLevel::warning, fmt::format("tune: {} {} on {}", who.kernel->id, reason, to_string(*who.problem)));
    }

    void record(std::span<const autotune::BenchmarkCandidate> candidates, const autotune::BenchmarkResult& times) {
        result_.timed += times.seconds;
        for (std::size_t c = 0; c < candidates.size(); ++c) {
            const Timing& timing = times.timings[c];
            const bool was_run = timing.status != TimingStatus::censored || timing.bound > 0;
            if (!was_run) continue;
            context_.impl()->timings->record(*candidates[c].problem, candidates[c].kernel->id,
                                             environment_of(*candidates[c].kernel), policy_of(*candidates[c].kernel),
                                             timing);
            ++(timing.status == TimingStatus::failed ? result_.failed : result_.measured);
            if (timing.status == TimingStatus::ok && timing.median > 0) learn(candidates[c], timing.median);
        }
        if (times.lost_device) std::rethrow_exception(times.lost_device);
    }

    void learn(const autotune::BenchmarkCandidate& one, double seconds) {
        learned_->add(*one.kernel, seconds, selection::roofline_seconds(*one.kernel, *one.problem, optimistic_));
        if (expected_ != nullptr)
            expected_->add(*one.kernel, seconds,
                           selection::expected_roofline_seconds(*one.kernel, *one.problem, optimistic_));
    }

    void compare(const CandidateCall& call) {
        Context::Impl& impl = *context_.impl();
        const auto timing =
            impl.timings->find(call.problem, call.kernel->id, environment_of(*call.kernel), policy_of(*call.kernel));
        if (timing && timing->status == TimingStatus::failed) return;
        device::Backend& backend = impl.backend(call.kernel->device);
        try {
            const ErrorMeasurement figures = kernel_check::measure_error(*call.kernel, *call.compared, call.promised,
                                                                         impl.kernels.definitions, backend);
            impl.timings->record_error(call.problem, call.kernel->id, environment_of(*call.kernel), figures);
            ++result_.compared;
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::memory) throw;
            impl.log(LogLevel::info,
                     fmt::format("tune: the error of {} is not measured: {}", call.kernel->id, error.what()));
        }
        if (backend.is_lost())
            throw Error(
                ErrorKind::unsupported, "tune",
                fmt::format("{} has made the device {} unusable", call.kernel->id, to_string(call.kernel->device)));
    }

    /// Takes disturbed times of the selection again, once, in more blocks. False if there are none.
    bool remeasure_noisy(const selection::Selections& chosen) {
        bool any = false;
        for (std::size_t b = 0; b < buckets_.size(); ++b)
            for (const auto& sizes : selection::representative_sizes(*buckets_[b].graph.symbols()))
                for (const selection::Choice& choice : chosen.buckets[b].chosen) {
                    const Problem problem = at_sizes(*choice.candidate.problem, sizes);
                    const Kernel& kernel = *choice.candidate.kernel;
                    if (!remeasured_.insert(selection::call_key(kernel, problem)).second || left() <= 0) continue;
                    const auto timing =
                        optimistic_.timings->find(problem, kernel.id, environment_of(kernel), policy_of(kernel));
                    if (!timing || !autotune::is_noisy(*timing)) continue;
                    measure_steady(kernel, problem);
                    any = true;
                }
        return any;
    }

    std::span<const selection::Bucket> buckets_;
    const Context& context_;
    selection::CostModel optimistic_;
    const selection::Options& options_;
    const Budget& budget_;
    const Measurer& measurer_;
    const double begin_;
    // The estimates in optimistic_, updated with each time: from times of this machine, and from these and priors of
    // others.
    std::shared_ptr<selection::TimingTransfer> learned_, expected_;
    std::set<std::string> tried_;  // calls whose errors were measured in this tune
    std::set<std::string> remeasured_;
    std::set<std::string> tried_settings_;
    std::int64_t done_ = 0;
    double best_ = 0;               // expected seconds of the current selection
    double selection_seconds_ = 0;  // seconds that the last selection took
    std::optional<TuningProgress> curve_;
    TuningResult result_;
    Watchdog watchdog_;
};

}  // namespace

TuningResult run_tuner(std::span<const selection::Bucket> buckets, const Context& context,
                       const selection::CostModel& costs, const selection::Options& options, const Budget& budget,
                       const Measurer& measurer) {
    TuningResult result = Tuner(buckets, context, costs, options, budget, measurer).run();
    result.chosen = settle(buckets, costs, options);
    return result;
}

std::optional<selection::Selections> settle(std::span<const selection::Bucket> buckets,
                                            const selection::CostModel& costs, const selection::Options& options) {
    set_costs_of(buckets, costs);
    if (costs.timings == nullptr || !may_have_times(costs)) return std::nullopt;
    LearnedEstimates learned = learned_from(buckets, costs);
    if (learned.own.empty()) {
        // Building the memo queries the kernels.
        selection::memo_of(buckets, selection::Breadth::cheapest, options.stop, options.seconds_per_kept_byte);
        learned = learned_from(buckets, costs);
    }
    if (learned.own.empty()) return std::nullopt;
    selection::CostModel known = with_learned(costs, std::move(learned));
    if (selection::Selections chosen = select_with(buckets, known, options); is_measured(chosen)) return chosen;
    const selection::Selections plan = select_with(buckets, nominal(costs), options);
    known.incumbent_calls = std::make_shared<const std::set<std::string>>(calls_of(buckets, plan));
    set_costs_of(buckets, known);
    return std::nullopt;
}

}  // namespace cairn::autotune
