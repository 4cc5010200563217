#include "search/apart.hpp"

#include "search/asked_sides.hpp"
#include "search/repeat.hpp"
#include "search/shares.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace cairn::search {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

// Paths are looked for this part of what is known above the bound, and this much further where none is there.
constexpr double near = 1.0 / 16, widening = 8;

// How often shares are made better, and by how many steps.
constexpr int most_rounds = 6, steps_of_round = 200, most_in_vain = 3;

// A path so far above the bound, as a part of it, is looked for without its dearest goals too, so many of them; each
// then costs more than any path.
constexpr double far_off = 1e-3, avoided = 1e12;
constexpr std::size_t most_avoided = 3;

// Sums of doubles are off by less than this part of them.
constexpr double rounding = 1e-12;

class Apart {
public:
    Apart(const Problem& problem, std::span<const int> side_of, const Options& options)
        : problem_(problem), options_(options), sides_(problem, side_of, options.repeat) {}

    Exploration run() {
        if (add_sides()) find_path();
        if (options_.stop.stop_requested()) best_.status = Status::stopped;
        std::vector<Set> sets;
        for (const int choice : best_path_) sets.push_back(best_.space.choice(choice, cost_of(choice)));
        if (upper_ < endless) best_.paths = best_.space.product(sets);
        best_.states = states_;
        best_.low = best_.exact ? upper_ : low_;
        return std::move(best_);
    }

private:
    bool add_sides() {
        const auto all_paths = [&](const Problem& problem, const Repeat& repeat) {
            return explored(problem, repeat, false, true);
        };
        if (!sides_.add_all(all_paths) || !sides_.tie(true)) return false;
        take_shared();
        shares_ = best_shares_ = Shares(shared_, sides_.size());
        cheapests_ = Cheapests(sides_.size());
        return true;
    }

    void take_shared() {
        shared_ = sides_.shared_goals();
        costs_.clear();
        for (const SharedGoal& goal : shared_) costs_.push_back(goal.cost * goal.count);
    }

    /// Each goal has shares of its own from now on, which begin as those that it was tied to.
    void untie() {
        shares_ = best_shares_ = sides_.untied(best_shares_);
        take_shared();
        find_all_cheapest(cheapests_);
    }

    /// Of a choice numbered in full.
    double cost_of(int choice) const { return problem_.cost(options_.repeat.written(choice).first); }

    Exploration explored(const Problem& problem, const Repeat& repeat, bool only_cheapest, bool only_exact) {
        Options options = options_;
        options.repeat = repeat;
        options.only_cheapest = only_cheapest;
        options.only_exact = only_exact;
        Exploration found = explore(problem, options);
        states_ += found.states;
        return found;
    }

    void find_path() {
        find_all_cheapest(cheapests_);
        low_ = cheapests_.cost();
        descend();
        for (int round = 0; round < most_rounds && !is_proved() && !options_.stop.stop_requested(); ++round) {
            make_shares_better();
            find_above();
            descend();
            const bool is_near = is_as_good(upper_, low_);
            if (is_proved() || prove(round == 0 ? 0 : (upper_ - low_) * near, round == 0)) return;
            if (sides_.is_tied() && !options_.repeat.any())
                untie();
            else if (is_near)
                return;  // many paths cost nearly the same
        }
    }

    bool is_proved() {
        if (best_.status == Status::found && upper_ - low_ <= rounding * std::abs(upper_)) best_.exact = true;
        return best_.exact;
    }

    void find_all_cheapest(Cheapests& all) {
        for (std::size_t s = 0; s < sides_.size(); ++s) sides_.find_cheapest(s, shares_, all);
    }

    /// How much more the whole costs at least with each alternative, at the best shares known.
    void find_above() {
        shares_ = best_shares_;
        find_all_cheapest(cheapests_);
        above_ = sides_.above();
    }

    /// Takes steps to shares at which the bound is higher, shorter ones from the best shares again where some in
    /// succession gained nothing.
    void make_shares_better() {
        int in_vain = 0;
        const double before = low_;
        shares_ = best_shares_;
        Cheapests now = cheapests_;
        for (int step = 0; step < steps_of_round && !options_.stop.stop_requested(); ++step) {
            if (!shares_.move(shared_, now.takes, step_length_ * (upper_ - now.cost()))) break;
            find_all_cheapest(now);
            if (now.cost() > low_) {
                low_ = now.cost(), best_shares_ = shares_, cheapests_ = now, in_vain = 0;
            } else if (++in_vain == most_in_vain) {
                step_length_ /= 2, in_vain = 0;
                shares_ = best_shares_, now = cheapests_;
            }
        }
        if (low_ <= before) step_length_ /= 4;
    }

    /// From the cheapest paths of the sides to a path of the whole. Where all take a dear goal since all others do,
    /// they are led away from it.
    void descend() {
        Cheapests now = cheapests_;
        agree(now);
        std::vector<std::size_t> tried;
        while (whole_cost(now) - low_ > far_off * std::abs(low_) && tried.size() < most_avoided) {
            std::size_t dearest = shared_.size();
            for (std::size_t g = 0; g < shared_.size(); ++g)
                if (takers(shared_[g], now) > 1 && std::find(tried.begin(), tried.end(), g) == tried.end() &&
                    (dearest == shared_.size() || costs_[g] > costs_[dearest]))
                    dearest = g;
            if (dearest == shared_.size()) break;
            tried.push_back(dearest);
            const double cost = std::exchange(shared_[dearest].cost, avoided);
            Cheapests other = now;
            agree(other);
            shared_[dearest].cost = cost;
            if (whole_cost(other) < whole_cost(now)) now = std::move(other);
        }
        take_path(sides_.whole_path(now));
    }

    /// One side after the other takes what is cheapest where all that others take is there already, until nobody gains.
    void agree(Cheapests& now) {
        for (double cost = endless; !options_.stop.stop_requested();) {
            Cheapests next = now;
            for (std::size_t s = 0; s < sides_.size(); ++s) {
                shares_.set_whole(shared_, s, next.takes, avoided);
                sides_.find_cheapest(s, shares_, next);
            }
            const double whole = whole_cost(next);
            if (whole >= cost * (1 - rounding)) return;
            cost = whole;
            now = std::move(next);
        }
    }

    /// Searches together what may be in paths that cost at most so much more than the bound; then goes further while
    /// that shows none as cheap, or less far while it is too much work. At first it does not go far: better shares come
    /// at less. True where one of the cheapest paths was found.
    bool prove(double gap, bool is_first) {
        const double first = as_good * std::abs(low_) + 1e-300, least = std::min(first, upper_ - low_);
        const double furthest = (std::abs(low_) + 1) * 1e6;
        bool was_cut = false, was_whole = false;
        for (gap = std::min(std::max(gap, first), upper_ - low_); gap < furthest;) {
            const double slack = rounding * (std::abs(low_) + gap);
            Exploration found =
                explored_among([&](int choice) { return above_[static_cast<std::size_t>(choice)] <= gap + 2 * slack; });
            if (options_.stop.stop_requested()) return false;
            (found.exact ? was_whole : was_cut) = true;
            if (found.status == Status::found) {
                const double cost = found.space.cost(found.paths);
                const bool is_proved = found.exact && cost <= low_ + gap + slack;
                if (is_proved) return best_.exact = true;
            }
            if (was_cut && (was_whole || gap <= least)) return false;
            const double known = upper_ - low_;
            if (was_cut)
                gap = std::max(gap / widening, least);
            else if (is_first && upper_ < endless && known > gap * widening)
                return false;
            else
                gap = known > gap ? std::min(gap * widening, known) : gap * widening;
        }
        return false;
    }

    /// The whole with some of its alternatives.
    Exploration explored_among(const std::function<bool(int)>& keep) {
        const Excerpt few = excerpt_of(
            problem_, [](int) { return true; }, keep);
        const std::optional<Repeat> repeat = repeat_left(few, options_.repeat);
        if (!repeat) return without_paths(Status::cut);
        // Where none is known yet, any path is worth having.
        Exploration found = explored(few.problem, *repeat, options_.only_cheapest, best_.status == Status::found);
        if (found.status != Status::found) return found;
        std::vector<int> path;
        for (const int in_full : found.space.cheapest(found.paths).choices)
            path.push_back(repeat->in_whole(in_full, few.choices, options_.repeat));
        take_path(std::move(path));
        best_.regions = found.regions, best_.regions_solved = found.regions_solved;
        return found;
    }

    /// Takes a path as the best known, if it is.
    void take_path(std::vector<int> path) {
        std::vector<double> costs;
        for (const int choice : path) costs.push_back(cost_of(choice));
        const double cost = Space::cost_of_product(costs);
        if (cost >= upper_) return;
        upper_ = cost;
        best_.status = Status::found;
        best_path_ = std::move(path);
    }

    /// What the cheapest paths cost together, if of tied goals some take what others do.
    double whole_cost(const Cheapests& all) const {
        double cost = std::accumulate(all.own_costs.begin(), all.own_costs.end(), 0.0);
        for (std::size_t g = 0; g < shared_.size(); ++g) {
            double taken = 0;
            for (const auto& [side, place] : shared_[g].at) taken = std::max(taken, all.takes[side][place]);
            cost += taken * costs_[g];
        }
        return cost;
    }

    static std::ptrdiff_t takers(const SharedGoal& goal, const Cheapests& all) {
        return std::count_if(goal.at.begin(), goal.at.end(),
                             [&](const auto& at) { return all.takes[at.first][at.second] > 0; });
    }

    const Problem& problem_;
    const Options& options_;
    AskedSides sides_;
    std::vector<SharedGoal> shared_;
    std::vector<double> costs_;  // of these, in all
    Shares shares_{{}, 0}, best_shares_{{}, 0};
    std::vector<double> above_;  // of each alternative of the whole
    Cheapests cheapests_{0};     // at the best shares
    double low_ = -endless, upper_ = endless, step_length_ = 1;
    std::size_t states_ = 0;
    Exploration best_ = without_paths(Status::cut);
    std::vector<int> best_path_;
};

}  // namespace

Exploration explore_apart(const Problem& problem, std::span<const int> side_of, const Options& options) {
    return Apart(problem, side_of, options).run();
}

}  // namespace cairn::search
