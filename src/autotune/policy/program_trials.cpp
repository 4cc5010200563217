#include "autotune/policy/program_trials.hpp"

#include "cairn/error.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

namespace cairn::autotune {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::uint64_t required_wins = 2;  // trials that a challenger must win, or that the unmeasured plan must lose
// Gain by summed times, as a fraction of the time of the covers, above which the plan is rejected without a trial. Sums
// add up the smallest of many noisy times, and show a gain of a fifth without cause where times are noisy.
constexpr double min_expected_gain = 0.5;

struct Challenger {
    selection::CoverConstraints terms;
    selection::Selections covers;
    Digest name;
    double more = 0;
};

class ProgramTrialRunner {
public:
    ProgramTrialRunner(selection::Selections chosen, std::span<const selection::Bucket> buckets,
                       const RunPairedTrial& run_paired_trial, const selection::Options& options, const Budget& budget,
                       const std::vector<selection::CallKind>& plan, const std::optional<TrialRecord>& so_far)
        : by_sums_(std::move(chosen)),
          buckets_(buckets),
          run_paired_trial_(run_paired_trial),
          options_(options),
          budget_(budget),
          plan_(plan) {
        result_.covers = by_sums_;
        if (so_far)
            if (std::optional<selection::Selections> best = best_of(*so_far, by_sums_, buckets_, options_)) {
                result_.covers = *std::move(best);
                result_.trial_record = *so_far;
                if (budget.effort.exhaustive) result_.trial_record.complete = so_far->is_thorough;
            }
        result_.trial_record.best = name_of(buckets_, result_.covers, options_);
        known_.insert(name_of(buckets_, by_sums_, options_));
        known_.insert(result_.trial_record.best);
        known_.insert(result_.trial_record.rejected.begin(), result_.trial_record.rejected.end());
    }

    ProgramTrialsOutcome run_all() {
        while (!result_.trial_record.complete)
            if (!try_all_challengers()) break;
        if (undecided_ && result_.trial_record.terms == selection::CoverConstraints() &&
            undecided_->more <= min_expected_gain)
            take(*std::move(undecided_));
        return std::move(result_);
    }

private:
    double left() const {
        return std::min(budget_.seconds, budget_.effort.max_total_trial_seconds) -
               std::chrono::duration<double>(SteadyClock::now() - begin_).count();
    }
    /// Another compile may continue with a new budget, but not with more than the effort allows.
    bool out_of_time() {
        result_.trial_record.complete = budget_.effort.max_total_trial_seconds <= budget_.seconds;
        return false;
    }

    /// Runs the best against its challengers until one of them wins. False if time ran out.
    bool try_all_challengers() {
        std::vector<Challenger> all = challengers();
        for (std::size_t r = 0; r < all.size(); ++r) {
            // Making the programs and their weights takes time before the first run.
            if (left() <= preparation_seconds_) return out_of_time();
            if (budget_.progress)
                budget_.progress({"tune", static_cast<std::int64_t>(r), static_cast<std::int64_t>(all.size()),
                                  "whole programs", left(), selection::seconds_of(buckets_, result_.covers)});
            if (try_challenger(all[r])) return true;
        }
        if (left() <= 0) return out_of_time();
        result_.trial_record.is_thorough = budget_.effort.exhaustive;
        return result_.trial_record.complete = true;
    }

    /// The plan made without measuring, whatever it costs by sums, then the others by ascending cost. If the plan is
    /// the best, there are no challengers: none of its calls can be excluded.
    std::vector<Challenger> challengers() {
        if (!result_.trial_record.terms.only.empty()) return {};
        const double all = selection::seconds_of(buckets_, result_.covers);
        std::vector<Challenger> found;
        std::set<Digest> seen = known_;
        std::optional<Challenger> planned;
        if (!plan_.empty()) planned = challenger_under({{}, plan_}, all);
        if (planned && !seen.insert(planned->name).second) planned.reset();
        undecided_ = planned;
        if (planned && !has_room_for_pairs(planned->covers, budget_.effort.min_pairs_of_plan)) planned.reset();
        for (const auto& [kind, seconds] : selection::call_kinds_by_time(buckets_, result_.covers)) {
            if (seconds < budget_.effort.min_call_share * all || left() <= 0) break;
            // Saves the search for a challenger that would take too long for a trial.
            const auto bucket = static_cast<std::size_t>(kind.bucket);
            const int pairs = budget_.effort.min_pairs;
            if (!has_room_for_pairs(2 * seconds_of_sizes(bucket, result_.covers), pairs)) continue;
            selection::CoverConstraints terms = result_.trial_record.terms;
            terms.without.push_back(kind);
            std::optional<Challenger> challenger = challenger_under(std::move(terms), all);
            if (challenger && has_room_for_pairs(challenger->covers, pairs) &&
                challenger->more <= budget_.effort.max_extra_cost && seen.insert(challenger->name).second)
                found.push_back(*std::move(challenger));
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const Challenger& a, const Challenger& b) { return a.more < b.more; });
        const std::size_t most = std::min(found.size(), budget_.effort.max_challengers);
        found.erase(found.begin() + static_cast<std::ptrdiff_t>(most), found.end());
        if (planned) found.insert(found.begin(), *std::move(planned));
        return found;
    }

    std::optional<Challenger> challenger_under(selection::CoverConstraints terms, double all) const {
        std::optional<selection::Selections> covers =
            selection::cheapest_covers_under(terms, by_sums_, buckets_, options_);
        if (!covers) return std::nullopt;
        const double more = (covers->cost - result_.covers.cost) / all;
        const Digest name = name_of(buckets_, *covers, options_);
        return Challenger{std::move(terms), *std::move(covers), name, more};
    }

    /// Expected seconds of one run at each representative size of a bucket, summed.
    double seconds_of_sizes(std::size_t bucket, const selection::Selections& covers) const {
        const std::size_t sizes = selection::representative_sizes(*buckets_[bucket].graph.symbols()).size();
        return static_cast<double>(sizes) * covers.buckets[bucket].seconds;
    }

    /// True if a trial has room for enough pairs of runs; one pair, of the best and a challenger, takes
    /// `seconds_of_pair`.
    bool has_room_for_pairs(double seconds_of_pair, int min_pairs) const {
        return min_pairs * seconds_of_pair <= budget_.effort.max_trial_seconds;
    }
    bool has_room_for_pairs(const selection::Selections& challenger, int min_pairs) const {
        double sum = 0;
        for (std::size_t b = 0; b < buckets_.size(); ++b)
            if (selection::digest_of(result_.covers.buckets[b]) != selection::digest_of(challenger.buckets[b]))
                sum += seconds_of_sizes(b, result_.covers) + seconds_of_sizes(b, challenger);
        return has_room_for_pairs(sum, min_pairs);
    }

    /// Runs the trials of a challenger. True if it is the best from now on.
    bool try_challenger(Challenger& challenger) {
        if (budget_.stop.stop_requested()) throw Cancelled("tune");
        ProgramTrial trial;
        trial.terms = challenger.terms;
        trial.expected = challenger.more;
        try {
            run(challenger, trial);
        } catch (const Cancelled&) { throw; } catch (const std::exception&) {
        }
        if (trial.samples > 0) result_.trials.push_back(trial);
        if (!trial.won && left() <= preparation_seconds_) return false;  // the trial was cut short
        known_.insert(challenger.name);
        if (is_unmeasured_plan(challenger) && undecided_) return false;  // no trial of it had a result
        result_.trial_record.rejected.push_back(trial.won ? result_.trial_record.best : challenger.name);
        if (!trial.won) return false;
        take(std::move(challenger));
        return true;
    }
    void take(Challenger challenger) {
        result_.covers = std::move(challenger.covers);
        result_.trial_record.terms = std::move(challenger.terms);
        result_.trial_record.best = challenger.name;
    }

    void run(const Challenger& challenger, ProgramTrial& trial) {
        for (std::uint64_t round = 1; round <= required_wins; ++round) {
            const double begin = left();
            if (begin <= preparation_seconds_) break;
            const autotune::EliminationResult outcome = run_paired_trial_(
                result_.covers, challenger.covers, std::min(budget_.effort.max_trial_seconds, begin), round);
            preparation_seconds_ = std::max(begin - left() - outcome.seconds, 0.0);
            if (outcome.winner < 0) break;
            note(outcome, trial);
            if (is_unmeasured_plan(challenger)) {
                undecided_.reset();
                const autotune::CandidateStatus status = outcome.candidates[1].status;
                trial.won = status != autotune::CandidateStatus::slower && status != autotune::CandidateStatus::untimed;
                if (status != autotune::CandidateStatus::slower) break;
            } else {
                if (outcome.winner != 1 || outcome.candidates[0].status != autotune::CandidateStatus::slower) break;
                trial.won = round == required_wins;
            }
        }
    }

    /// True for the plan of a compile without measuring. Selection by sums must prove to be better than it: the plan is
    /// kept if nothing is decided.
    static bool is_unmeasured_plan(const Challenger& challenger) { return !challenger.terms.only.empty(); }

    static void note(const autotune::EliminationResult& outcome, ProgramTrial& trial) {
        const autotune::CandidateResult &best = outcome.candidates[0], &challenger = outcome.candidates[1];
        trial.samples += std::min(best.timing.samples, challenger.timing.samples);
        if (outcome.winner == 1)
            trial.ratio = 1 / best.ratio, trial.low = 1 / best.high, trial.high = 1 / best.low;
        else
            trial.ratio = challenger.ratio, trial.low = challenger.low, trial.high = challenger.high;
    }

    const selection::Selections by_sums_;
    std::span<const selection::Bucket> buckets_;
    const RunPairedTrial& run_paired_trial_;
    const selection::Options& options_;
    const Budget& budget_;
    const std::vector<selection::CallKind>& plan_;
    const SteadyClock::time_point begin_ = SteadyClock::now();
    double preparation_seconds_ = 0;       // seconds that the last trial took before its runs
    std::set<Digest> known_;               // digests of covers that are not run again
    std::optional<Challenger> undecided_;  // the plan made without measuring, until a trial of it has a result
    ProgramTrialsOutcome result_;
};

}  // namespace

ProgramTrialsOutcome run_program_trials(selection::Selections chosen, std::span<const selection::Bucket> buckets,
                                        const RunPairedTrial& run_paired_trial, const selection::Options& options,
                                        const Budget& budget, const std::vector<selection::CallKind>& plan,
                                        const std::optional<TrialRecord>& so_far) {
    return ProgramTrialRunner(std::move(chosen), buckets, run_paired_trial, options, budget, plan, so_far).run_all();
}

}  // namespace cairn::autotune
