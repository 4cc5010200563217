#include "tune/profile.hpp"

#include "device/context_parts.hpp"
#include "tune/error.hpp"
#include "tune/rivals.hpp"
#include "tune/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cairn::inline v0::tune {
namespace {

// A race of rivals may take so long; a program gains little from telling apart what is closer than the indifference.
constexpr double most_seconds = 1, indifference = 0.01;
constexpr double least_noise = 0.01, most_noise = 0.05;
constexpr double unbeaten = std::numeric_limits<double>::infinity();
constexpr int most_rounds = 3, few_blocks = 3;

void count_with(std::span<const select::Bucket> buckets, const select::CostSource& costs) {
    for (const select::Bucket& bucket : buckets) bucket.candidates.set_costs(costs);
}

/// What a compile on a machine that nothing is known of counts with: estimates, or what seeds tell of others.
select::CostSource nominal(const select::CostSource& costs) {
    select::CostSource all = costs;
    all.machine = select::nominal_machine(costs.isa, costs.policy.threads);
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
    }

    Profiled run() {
        select::Selections chosen = chosen_with(buckets_, nominal(optimistic_), options_);
        learn();
        measure_all(chosen);
        while (left() > 0 && !result_.complete) {
            learn();
            chosen = chosen_with(buckets_, optimistic_, options_);
            result_.complete = !measure_all(chosen) && !repeat_noisy(chosen);
        }
        return result_;
    }

private:
    double left() const { return budget_.seconds - (bench_.now() - begin_); }

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

    /// Measures what is unknown of a choice; false where nothing is.
    bool measure_all(const select::Selections& chosen) {
        best_ = select::seconds_of(buckets_, chosen);
        const std::vector<Rivals> all =
            unknown_rivals(buckets_, chosen, optimistic_, context_.kernels().definitions, tried_);
        for (std::size_t i = 0; i < all.size() && left() > 0; ++i) {
            report(*all[i].calls.front().kernel, all.size() - i);
            measure(all[i]);
        }
        return !all.empty();
    }

    void report(const Kernel& kernel, std::size_t waiting) {
        if (budget_.stop.stop_requested()) throw Cancelled("tune");
        if (!budget_.progress) return;
        // At the pace so far; what later rounds find comes on top.
        const double pace = done_ == 0 ? left() : (bench_.now() - begin_) / static_cast<double>(done_);
        const double expected = std::min(left(), pace * static_cast<double>(waiting));
        budget_.progress({"tune", done_, done_ + static_cast<std::int64_t>(waiting), kernel.id, expected, best_});
    }

    void measure(const Rivals& rivals) {
        ++done_;
        const Field field = field_of(rivals, optimistic_);
        if (!field.contestants.empty())
            record(field.contestants, bench_.contest(field.contestants, contest_options(field.to_beat, few_blocks)));
        for (const Call& call : rivals.calls) {
            if (!call.compared) continue;
            compare(call);
            tried_.insert(select::name_of_call(*call.kernel, call.problem));
        }
    }

    timing::ContestOptions contest_options(double to_beat, int blocks) {
        timing::ContestOptions options;
        options.stop = budget_.stop;
        options.running = [this](const timing::Contestant* who) { watch(who); };
        options.race.seconds = std::min(left(), most_seconds);
        options.race.indifference = indifference;
        options.race.max_rounds = blocks > few_blocks ? 2 * most_rounds : most_rounds;
        options.race.least_blocks = blocks;
        options.race.to_beat = to_beat;
        if (const double noise = optimistic_.machine.noise; noise > 0)
            options.race.noise = std::clamp(noise, least_noise, most_noise);
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
                    const timing::Contestant alone{&problem, &kernel};
                    report(kernel, 1);
                    record({&alone, 1}, bench_.contest({&alone, 1}, contest_options(unbeaten, timing::steady_blocks)));
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
    std::set<std::string> tried_;              // whose errors were measured in this tune
    std::set<std::string> repeated_;
    std::int64_t done_ = 0;
    double best_ = 0;  // what is chosen as far as is known
    Profiled result_;
    Watchdog dog_;
};

/// Of this machine.
bool may_have_times(const select::CostSource& costs) {
    const std::vector<TimingEnvironment> seeds = costs.timings->seed_environments();
    return costs.timings->size() > 0 || std::any_of(seeds.begin(), seeds.end(), [&](const TimingEnvironment& each) {
               return each.hard == costs.environment.hard;
           });
}

bool is_measured(const select::Selections& selections) {
    for (const select::Selection& bucket : selections.buckets)
        for (const select::Choice& choice : bucket.chosen)
            if (!choice.candidate.estimate.measured) return false;
    return true;
}

}  // namespace

Profiled profile(std::span<const select::Bucket> buckets, const Context& context, const select::CostSource& costs,
                 const select::Options& options, const Budget& budget, const Bench& bench) {
    const Profiled result = Tune(buckets, context, costs, options, budget, bench).run();
    settle(buckets, costs, options);
    return result;
}

void settle(std::span<const select::Bucket> buckets, const select::CostSource& costs, const select::Options& options) {
    count_with(buckets, costs);
    if (costs.timings == nullptr || !may_have_times(costs)) return;
    Shown shown = shown_by(buckets, costs);
    if (shown.own.empty()) {
        // Kernels are asked once something is chosen.
        select::select(buckets, options);
        shown = shown_by(buckets, costs);
    }
    if (shown.own.empty()) return;
    select::CostSource known = with(costs, std::move(shown));
    if (is_measured(chosen_with(buckets, known, options))) return;
    const select::Selections plan = chosen_with(buckets, nominal(costs), options);
    known.in_hand = std::make_shared<const std::set<std::string>>(calls_of(buckets, plan));
    count_with(buckets, known);
}

}  // namespace cairn::inline v0::tune
