#include "tune/duels.hpp"

#include "cairn/error.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

namespace cairn::inline v0::tune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t races = 2;  // that a rival has to win, and what does as the plan does to lose
// What sums have to promise where no race has told, as a part of all that covers take. They are sums of what happened
// to be measured least, and promise a fifth for nothing where times are noisy.
constexpr double promising = 0.5;

struct Rival {
    select::Terms terms;
    select::Selections covers;
    Digest name;
    double more = 0;
};

class Tournament {
public:
    Tournament(select::Selections chosen, std::span<const select::Bucket> buckets, const RunBeside& run_beside,
               const select::Options& options, const Budget& budget, const std::vector<select::Kind>& plan,
               const std::optional<Standing>& so_far)
        : by_sums_(std::move(chosen)),
          buckets_(buckets),
          run_beside_(run_beside),
          options_(options),
          budget_(budget),
          plan_(plan) {
        result_.covers = by_sums_;
        if (so_far)
            if (std::optional<select::Selections> best = best_of(*so_far, by_sums_, buckets_, options_)) {
                result_.covers = *std::move(best);
                result_.standing = *so_far;
                if (budget.effort.everything) result_.standing.complete = so_far->is_thorough;
            }
        result_.standing.best = name_of(buckets_, result_.covers, options_);
        known_.insert(name_of(buckets_, by_sums_, options_));
        known_.insert(result_.standing.best);
        known_.insert(result_.standing.beaten.begin(), result_.standing.beaten.end());
    }

    Duels hold() {
        while (!result_.standing.complete)
            if (!pass()) break;
        if (undecided_ && result_.standing.terms == select::Terms() && undecided_->more <= promising)
            take(*std::move(undecided_));
        return std::move(result_);
    }

private:
    double left() const {
        return std::min(budget_.seconds, budget_.effort.most_program_seconds) -
               std::chrono::duration<double>(Clock::now() - begin_).count();
    }
    /// The budget is to be had again in another compile, what an effort allows is not.
    bool end_of_time() {
        result_.standing.complete = budget_.effort.most_program_seconds <= budget_.seconds;
        return false;
    }

    /// Runs the best beside its rivals until one of them wins. False where time ran out.
    bool pass() {
        std::vector<Rival> all = rivals();
        for (std::size_t r = 0; r < all.size(); ++r) {
            // Making the programs and their weights takes time before the first run.
            if (left() <= preparing_) return end_of_time();
            if (budget_.progress)
                budget_.progress({"tune", static_cast<std::int64_t>(r), static_cast<std::int64_t>(all.size()),
                                  "whole programs", left(), select::seconds_of(buckets_, result_.covers)});
            if (meet(all[r])) return true;
        }
        if (left() <= 0) return end_of_time();
        result_.standing.is_thorough = budget_.effort.everything;
        return result_.standing.complete = true;
    }

    /// What does as the plan does, whatever it costs by sums; then those that cost least more first. If that was the
    /// best it has no rivals: nothing can be left out of it.
    std::vector<Rival> rivals() {
        if (!result_.standing.terms.only.empty()) return {};
        const double all = select::seconds_of(buckets_, result_.covers);
        std::vector<Rival> found;
        std::set<Digest> seen = known_;
        std::optional<Rival> planned;
        if (!plan_.empty()) planned = rival_on({{}, plan_}, all);
        if (planned && !seen.insert(planned->name).second) planned.reset();
        undecided_ = planned;
        if (planned && !is_told_by_a_race(planned->covers, budget_.effort.least_pairs_of_plan)) planned.reset();
        for (const auto& [kind, seconds] : select::kinds_of(buckets_, result_.covers)) {
            if (seconds < budget_.effort.least_share * all || left() <= 0) break;
            // Before a search for what cannot be raced anyway.
            const auto bucket = static_cast<std::size_t>(kind.bucket);
            const int pairs = budget_.effort.least_pairs;
            if (!is_told_by_a_race(2 * seconds_of_sizes(bucket, result_.covers), pairs)) continue;
            select::Terms terms = result_.standing.terms;
            terms.without.push_back(kind);
            std::optional<Rival> rival = rival_on(std::move(terms), all);
            if (rival && is_told_by_a_race(rival->covers, pairs) && rival->more <= budget_.effort.most_more &&
                seen.insert(rival->name).second)
                found.push_back(*std::move(rival));
        }
        std::stable_sort(found.begin(), found.end(), [](const Rival& a, const Rival& b) { return a.more < b.more; });
        const std::size_t most = std::min(found.size(), budget_.effort.most_rivals);
        found.erase(found.begin() + static_cast<std::ptrdiff_t>(most), found.end());
        if (planned) found.insert(found.begin(), *std::move(planned));
        return found;
    }

    std::optional<Rival> rival_on(select::Terms terms, double all) const {
        std::optional<select::Selections> covers = select::cheapest_on(terms, by_sums_, buckets_, options_);
        if (!covers) return std::nullopt;
        const double more = (covers->cost - result_.covers.cost) / all;
        const Digest name = name_of(buckets_, *covers, options_);
        return Rival{std::move(terms), *std::move(covers), name, more};
    }

    /// Expected of a run at each size that a bucket is judged at.
    double seconds_of_sizes(std::size_t bucket, const select::Selections& covers) const {
        const std::size_t sizes = select::representative_sizes(*buckets_[bucket].graph.symbols()).size();
        return static_cast<double>(sizes) * covers.buckets[bucket].seconds;
    }

    /// Whether there is room for enough runs of the best and of another, which take so long together.
    bool is_told_by_a_race(double seconds_of_pair, int least_pairs) const {
        return least_pairs * seconds_of_pair <= budget_.effort.longest_race;
    }
    bool is_told_by_a_race(const select::Selections& rival, int least_pairs) const {
        double sum = 0;
        for (std::size_t b = 0; b < buckets_.size(); ++b)
            if (select::digest_of(result_.covers.buckets[b]) != select::digest_of(rival.buckets[b]))
                sum += seconds_of_sizes(b, result_.covers) + seconds_of_sizes(b, rival);
        return is_told_by_a_race(sum, least_pairs);
    }

    /// True where the rival is the best from now on.
    bool meet(Rival& rival) {
        if (budget_.stop.stop_requested()) throw Cancelled("tune");
        Duel duel;
        duel.terms = rival.terms;
        duel.expected = rival.more;
        try {
            run(rival, duel);
        } catch (const Cancelled&) { throw; } catch (const std::exception&) {
        }
        if (duel.samples > 0) result_.fought.push_back(duel);
        if (!duel.won && left() <= preparing_) return false;  // the race was cut
        known_.insert(rival.name);
        if (does_as_planned(rival) && undecided_) return false;  // no race has told anything of it
        result_.standing.beaten.push_back(duel.won ? result_.standing.best : rival.name);
        if (!duel.won) return false;
        take(std::move(rival));
        return true;
    }
    void take(Rival rival) {
        result_.covers = std::move(rival.covers);
        result_.standing.terms = std::move(rival.terms);
        result_.standing.best = rival.name;
    }

    void run(const Rival& rival, Duel& duel) {
        for (std::uint64_t race = 1; race <= races; ++race) {
            const double begin = left();
            if (begin <= preparing_) break;
            const timing::RaceResult outcome =
                run_beside_(result_.covers, rival.covers, std::min(budget_.effort.longest_race, begin), race);
            preparing_ = std::max(begin - left() - outcome.seconds, 0.0);
            if (outcome.winner < 0) break;
            note(outcome, duel);
            if (does_as_planned(rival)) {
                undecided_.reset();
                const timing::Finish finish = outcome.entrants[1].finish;
                duel.won = finish != timing::Finish::lost && finish != timing::Finish::untimed;
                if (finish != timing::Finish::lost) break;
            } else {
                if (outcome.winner != 1 || outcome.entrants[0].finish != timing::Finish::lost) break;
                duel.won = race == races;
            }
        }
    }

    /// Sums have to show themselves better than a compile without measuring: it is kept where nothing is decided.
    static bool does_as_planned(const Rival& rival) { return !rival.terms.only.empty(); }

    static void note(const timing::RaceResult& outcome, Duel& duel) {
        const timing::Entrant &best = outcome.entrants[0], &rival = outcome.entrants[1];
        duel.samples += std::min(best.timing.samples, rival.timing.samples);
        if (outcome.winner == 1)
            duel.ratio = 1 / best.ratio, duel.low = 1 / best.high, duel.high = 1 / best.low;
        else
            duel.ratio = rival.ratio, duel.low = rival.low, duel.high = rival.high;
    }

    const select::Selections by_sums_;
    std::span<const select::Bucket> buckets_;
    const RunBeside& run_beside_;
    const select::Options& options_;
    const Budget& budget_;
    const std::vector<select::Kind>& plan_;
    const Clock::time_point begin_ = Clock::now();
    double preparing_ = 0;    // seconds that the last race took before its runs
    std::set<Digest> known_;  // names of covers that are not to be run any more
    std::optional<Rival> undecided_;  // what does as the plan does, until a race of it has told something
    Duels result_;
};

}  // namespace

Duels fight(select::Selections chosen, std::span<const select::Bucket> buckets, const RunBeside& run_beside,
            const select::Options& options, const Budget& budget, const std::vector<select::Kind>& plan,
            const std::optional<Standing>& so_far) {
    return Tournament(std::move(chosen), buckets, run_beside, options, budget, plan, so_far).hold();
}

}  // namespace cairn::inline v0::tune
