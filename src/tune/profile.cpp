#include "tune/profile.hpp"

#include "device/context_parts.hpp"
#include "select/memo.hpp"
#include "timing/team_clock.hpp"
#include "tune/curve.hpp"
#include "tune/doubt.hpp"
#include "tune/error.hpp"
#include "tune/everything.hpp"
#include "tune/rivals.hpp"
#include "tune/settings.hpp"
#include "tune/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cairn::inline v0::tune {
namespace {

constexpr double most_noise = 0.05;
constexpr double unbeaten = std::numeric_limits<double>::infinity();
// Of the time left, what the memory that kernels are timed in may take to fill.
constexpr double filling_share = 0.25;
// Of blocks that steady times are taken in: 1 + 2 + ... of them.
constexpr int steady_rounds = 6;

void count_with(std::span<const select::Bucket> buckets, const select::CostSource& costs) {
    for (const select::Bucket& bucket : buckets) bucket.candidates.set_costs(costs);
}

/// What a compile on a machine that nothing is known of counts with: estimates, or what seeds tell of others.
select::CostSource nominal(const select::CostSource& costs) {
    select::CostSource all = costs;
    all.machine = select::nominal_machine(costs.features, costs.policy.threads);
    all.is_calibrated = all.optimistic = false;
    all.timings = nullptr;
    all.siblings = all.expected = nullptr;
    all.pace = 1;
    return all;
}

select::Selections chosen_with(std::span<const select::Bucket> buckets, const select::CostSource& costs,
                               const select::Options& options) {
    count_with(buckets, costs);
    return select::select(buckets, options);
}

bool is_measured(const select::Selections& selections) {
    for (const select::Selection& bucket : selections.buckets)
        for (const select::Choice& choice : bucket.chosen)
            if (!choice.candidate.estimate.measured) return false;
    return true;
}

/// Of this machine.
bool may_have_times(const select::CostSource& costs) {
    if (costs.timings->size() > 0) return true;
    const std::vector<TimingEnvironment> seeds = costs.timings->seed_environments();
    return std::any_of(seeds.begin(), seeds.end(),
                       [&](const TimingEnvironment& each) { return each.hard == costs.environment.hard; });
}

class Tune {
public:
    Tune(std::span<const select::Bucket> buckets, const Context& context, const select::CostSource& costs,
         const select::Options& options, const Budget& budget, const Bench& bench)
        : buckets_(buckets),
          context_(context),
          optimistic_(costs),
          options_(options),
          budget_(budget),
          bench_(bench),
          begin_(bench.now()),
          dog_(budget.hang_seconds) {
        optimistic_.optimistic = true;
        optimistic_.least_quality = budget.effort.least_quality;
    }

    Profiled run() {
        if (budget_.effort.only_costly && is_settled()) {
            result_.complete = true;
            return std::move(result_);
        }
        const select::Selections plan = choose(nominal(optimistic_));
        for (select::KindSeconds& each : select::kinds_of(buckets_, plan)) result_.plan.push_back(std::move(each.kind));
        learn();
        curve_.emplace(buckets_, plan, expected());
        curve_->note(0, 0);
        measure_plan(plan);
        if (!budget_.effort.only_costly) follow_paths();
        if (budget_.effort.everything && result_.complete) result_.complete = measure_everything();
        result_.curve = curve_->end(spent(), result_.measured);
        return std::move(result_);
    }

private:
    double spent() const { return bench_.now() - begin_; }
    double left() const { return budget_.seconds - spent(); }

    select::Selections choose(const select::CostSource& costs) {
        const double begin = bench_.now();
        select::Selections chosen = chosen_with(buckets_, costs, options_);
        choosing_ = bench_.now() - begin;
        return chosen;
    }

    /// Whether all of what a compile that measures nothing takes is measured.
    bool is_settled() {
        if (!may_have_times(optimistic_)) return false;
        select::CostSource known = optimistic_;
        known.optimistic = false;
        settle(buckets_, known, options_);
        return is_measured(select::select(buckets_, options_));
    }

    const TimingEnvironment& environment_of(const Kernel& kernel) const {
        return select::environment_of(kernel, optimistic_);
    }

    /// From the times known now.
    void learn() {
        count_with(buckets_, optimistic_);
        Shown shown = shown_by(buckets_, optimistic_);
        optimistic_.pace = shown.pace;
        optimistic_.siblings = shown_ = std::make_shared<select::Siblings>(std::move(shown.own));
        if (optimistic_.priors != nullptr)
            optimistic_.expected = expected_ = std::make_shared<select::Siblings>(std::move(shown.all));
    }

    /// Unknown times as they are expected.
    select::CostSource expected() const {
        select::CostSource costs = optimistic_;
        costs.optimistic = false;
        costs.least_quality = 0;
        return costs;
    }

    std::vector<Rivals> unknown_of(const select::Selections& chosen) {
        return unknown_rivals(buckets_, chosen, optimistic_, context_.kernels().definitions, tried_);
    }

    /// What the plan in hand lacks, and what competes with it.
    void measure_plan(const select::Selections& plan) {
        best_ = select::seconds_of(buckets_, plan);
        std::vector<Rivals> all = unknown_of(plan);
        const std::size_t costly = costly_in_doubt_first(all, buckets_, plan, nominal(optimistic_));
        if (budget_.effort.only_costly) all.resize(costly);
        result_.complete = measure_all(all) && budget_.effort.only_costly;
    }

    void follow_paths() {
        // A choice that there is no time for gains nothing.
        while (left() > choosing_ && !result_.complete) {
            learn();
            const select::Selections chosen = choose(optimistic_);
            best_ = select::seconds_of(buckets_, chosen);
            const std::vector<Rivals> all = unknown_of(chosen);
            measure_all(all);
            result_.complete = all.empty() && !repeat_noisy(chosen) && !measure_settings(chosen);
        }
    }

    /// Other settings of the kernels that were chosen, each once; false where none is left to measure.
    bool measure_settings(const select::Selections& chosen) {
        const std::vector<Rivals> all = unknown_settings(buckets_, chosen, expected_better(), tried_settings_);
        for (std::size_t i = 0; i < all.size() && left() > 0; ++i) {
            for (const Call& call : all[i].calls)
                tried_settings_.insert(select::name_of_call(*call.kernel, call.problem));
            report(*all[i].calls.front().kernel, all.size() - i);
            measure(all[i], field_of_settings(all[i], expected_better()));
            curve_->learn(all[i], optimistic_);
            curve_->note(spent(), result_.measured);
        }
        return !all.empty();
    }

    /// False where time ran out.
    bool measure_all(const std::vector<Rivals>& all) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (left() <= 0) return false;
            report(*all[i].calls.front().kernel, all.size() - i);
            measure(all[i], field_of(all[i], optimistic_));
            curve_->learn(all[i], optimistic_);
            curve_->note(spent(), result_.measured);
        }
        return true;
    }

    /// Everything that is unknown, whether it can change the choice or not. False where time ran out.
    bool measure_everything() {
        learn();
        const std::vector<Rivals> all = all_rivals(buckets_, optimistic_, budget_.stop);
        // Time of a race that runs out leaves some for the next round.
        for (bool goes_on = true; goes_on;) {
            goes_on = false;
            for (std::size_t i = 0; i < all.size(); ++i) {
                if (left() <= 0) return false;
                const Field field = whole_field_of(all[i], expected_better());
                if (field.contestants.empty()) continue;
                report(*field.contestants.front().kernel, all.size() - i);
                const int before = result_.measured + result_.failed;
                measure(all[i], field);
                goes_on = goes_on || result_.measured + result_.failed > before;
            }
        }
        return confirm(all);
    }

    /// Unknown times as they are expected, coarse ones among them.
    select::CostSource expected_better() const {
        select::CostSource costs = expected();
        costs.least_quality = optimistic_.least_quality;
        return costs;
    }

    /// Times whose spread is large are taken again, once. False where time ran out.
    bool confirm(const std::vector<Rivals>& all) {
        for (const Rivals& rivals : all)
            for (const Call& call : rivals.calls) {
                const auto timing = optimistic_.timings->find(call.problem, call.kernel->id,
                                                              environment_of(*call.kernel), optimistic_.policy);
                if (!timing || !timing::is_uneven(*timing)) continue;
                if (left() <= 0) return false;
                take_steady(*call.kernel, call.problem);
            }
        return true;
    }

    void report(const Kernel& kernel, std::size_t waiting) {
        if (budget_.stop.stop_requested()) throw Cancelled("tune");
        if (!budget_.progress) return;
        // At the pace so far; what later rounds find comes on top.
        const double pace = done_ == 0 ? 0 : spent() / static_cast<double>(done_);
        const double expected = std::min(left(), pace * static_cast<double>(waiting));
        budget_.progress({"tune", done_, done_ + static_cast<std::int64_t>(waiting), kernel.id, expected, best_});
    }

    void measure(const Rivals& rivals, const Field& field) {
        ++done_;
        if (!field.contestants.empty())
            record(field.contestants,
                   bench_.contest(field.contestants, contest_options(field.to_beat, budget_.effort.max_rounds,
                                                                     budget_.effort.least_blocks)));
        for (const Call& call : rivals.calls) {
            if (!call.compared || left() <= 0) continue;
            compare(call);
            tried_.insert(select::name_of_call(*call.kernel, call.problem));
        }
    }

    /// A time on its own, in as many blocks as make it steady.
    void take_steady(const Kernel& kernel, const Problem& problem) {
        const timing::Contestant alone{&problem, &kernel};
        report(kernel, 1);
        record({&alone, 1},
               bench_.contest({&alone, 1}, contest_options(unbeaten, steady_rounds, timing::steady_blocks)));
    }

    timing::ContestOptions contest_options(double to_beat, int rounds, int blocks) {
        const Effort& effort = budget_.effort;
        const double seconds = std::max(left(), 0.0);
        timing::ContestOptions options;
        options.stop = budget_.stop;
        options.until = timing::after(seconds);
        options.fill_until = timing::after(seconds * filling_share);
        options.is_coarse = effort.is_coarse;
        options.running = [this](const timing::Contestant* who) { watch(who); };
        options.race.seconds = std::min(seconds, effort.most_seconds);
        options.race.indifference = effort.indifference;
        options.race.max_rounds = rounds;
        options.race.least_blocks = blocks;
        options.race.to_beat = to_beat;
        if (const double noise = optimistic_.machine.noise; noise > 0)
            options.race.noise = std::clamp(noise, effort.least_noise, most_noise);
        return options;
    }

    void watch(const timing::Contestant* who) {
        if (who == nullptr) return dog_.end();
        dog_.begin([this, who] {
            const std::string reason = fmt::format("did not return within {} s", budget_.hang_seconds);
            Timing timing;
            timing.status = TimingStatus::failed;
            timing.note = reason;
            const Context::Parts& parts = *context_.parts();
            parts.timings->record(*who->problem, who->kernel->id, environment_of(*who->kernel), optimistic_.policy,
                                  timing);
            parts.log(LogLevel::warning,
                      fmt::format("tune: {} {} on {}", who->kernel->id, reason, to_string(*who->problem)));
        });
    }

    void record(std::span<const timing::Contestant> contestants, const timing::ContestResult& times) {
        result_.timed += times.seconds;
        for (std::size_t c = 0; c < contestants.size(); ++c) {
            const Timing& timing = times.timings[c];
            const bool was_run = timing.status != TimingStatus::censored || timing.bound > 0;
            if (!was_run) continue;
            context_.parts()->timings->record(*contestants[c].problem, contestants[c].kernel->id,
                                              environment_of(*contestants[c].kernel), optimistic_.policy, timing);
            ++(timing.status == TimingStatus::failed ? result_.failed : result_.measured);
            if (timing.status == TimingStatus::ok && timing.median > 0) learn(contestants[c], timing.median);
        }
    }

    void learn(const timing::Contestant& one, double seconds) {
        shown_->add(*one.kernel, seconds, select::roofline_seconds(*one.kernel, *one.problem, optimistic_));
        if (expected_ != nullptr)
            expected_->add(*one.kernel, seconds,
                           select::expected_roofline_seconds(*one.kernel, *one.problem, optimistic_));
    }

    void compare(const Call& call) {
        Context::Parts& parts = *context_.parts();
        const auto timing =
            parts.timings->find(call.problem, call.kernel->id, environment_of(*call.kernel), optimistic_.policy);
        if (timing && timing->status == TimingStatus::failed) return;
        const ErrorFigures figures =
            measure_error(*call.kernel, *call.compared, call.promised, parts.kernels.definitions, parts.pool);
        parts.timings->record_error(call.problem, call.kernel->id, environment_of(*call.kernel), figures);
        ++result_.compared;
    }

    /// Times of what was chosen that were disturbed are taken again, once, in more blocks; false where none is.
    bool repeat_noisy(const select::Selections& chosen) {
        bool any = false;
        for (std::size_t b = 0; b < buckets_.size(); ++b)
            for (const auto& sizes : select::representative_sizes(*buckets_[b].graph.symbols()))
                for (const select::Choice& choice : chosen.buckets[b].chosen) {
                    const Problem problem = at_sizes(*choice.candidate.problem, sizes);
                    const Kernel& kernel = *choice.candidate.kernel;
                    if (!repeated_.insert(select::name_of_call(kernel, problem)).second || left() <= 0) continue;
                    const auto timing =
                        optimistic_.timings->find(problem, kernel.id, environment_of(kernel), optimistic_.policy);
                    if (!timing || !timing::is_noisy(*timing)) continue;
                    take_steady(kernel, problem);
                    any = true;
                }
        return any;
    }

    std::span<const select::Bucket> buckets_;
    const Context& context_;
    select::CostSource optimistic_;
    const select::Options& options_;
    const Budget& budget_;
    const Bench& bench_;
    const double begin_;
    // What optimistic_ counts with, grown with each time: of this machine, and with what seeds tell of others.
    std::shared_ptr<select::Siblings> shown_, expected_;
    std::set<std::string> tried_;  // whose errors were measured in this tune
    std::set<std::string> repeated_;
    std::set<std::string> tried_settings_;
    std::int64_t done_ = 0;
    double best_ = 0;      // what is chosen as far as is known
    double choosing_ = 0;  // seconds that the last choice took
    std::optional<Curve> curve_;
    Profiled result_;
    Watchdog dog_;
};

}  // namespace

Profiled profile(std::span<const select::Bucket> buckets, const Context& context, const select::CostSource& costs,
                 const select::Options& options, const Budget& budget, const Bench& bench) {
    Profiled result = Tune(buckets, context, costs, options, budget, bench).run();
    result.chosen = settle(buckets, costs, options);
    return result;
}

std::optional<select::Selections> settle(std::span<const select::Bucket> buckets, const select::CostSource& costs,
                                         const select::Options& options) {
    count_with(buckets, costs);
    if (costs.timings == nullptr || !may_have_times(costs)) return std::nullopt;
    Shown shown = shown_by(buckets, costs);
    if (shown.own.empty()) {
        // Kernels are asked once ways are looked for.
        select::memo_of(buckets, select::Breadth::cheapest, options.stop, options.seconds_per_kept_byte);
        shown = shown_by(buckets, costs);
    }
    if (shown.own.empty()) return std::nullopt;
    select::CostSource known = with(costs, std::move(shown));
    if (select::Selections chosen = chosen_with(buckets, known, options); is_measured(chosen)) return chosen;
    const select::Selections plan = chosen_with(buckets, nominal(costs), options);
    known.in_hand = std::make_shared<const std::set<std::string>>(calls_of(buckets, plan));
    count_with(buckets, known);
    return std::nullopt;
}

}  // namespace cairn::inline v0::tune
