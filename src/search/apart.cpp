#include "search/apart.hpp"

#include "search/shares.hpp"
#include "search/sides.hpp"
#include "search/ties.hpp"
#include "search/unfolded.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
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
        : problem_(problem),
          side_of_(side_of),
          options_(options),
          above_(static_cast<std::size_t>(problem.alternatives()), 0) {
        best_.status = Status::cut;
        best_.exact = false;
    }

    Exploration run() {
        if (add_sides()) find_path();
        if (options_.stop.stop_requested()) best_.status = Status::stopped;
        std::vector<Set> sets;
        for (const int choice : best_path_) sets.push_back(best_.space.choice(choice, problem_.cost(choice)));
        if (!sets.empty()) best_.paths = best_.space.product(sets);
        best_.states = states_;
        best_.low = best_.exact ? upper_ : low_;
        return std::move(best_);
    }

private:
    struct Side {
        Excerpt own;
        SideChoices choices;
        std::shared_ptr<const Space> space;
        Set all;
        Unfolded paths{Space(), Space::none};
        std::vector<int> kinds = {};     // of own choices, those of shared goals first
        std::vector<double> costs = {};  // of kinds, those of shared goals at its shares
        std::vector<int> counts = {};    // of those: how many goals are tied
    };

    /// The cheapest path of each side: what it costs with its shares, and without shared goals, and which part of its
    /// shared goals it takes.
    struct Cheapests {
        explicit Cheapests(std::size_t sides) : costs(sides, 0), own_costs(sides, 0), shares(sides), takes(sides) {}
        double cost() const { return std::accumulate(costs.begin(), costs.end(), 0.0); }

        std::vector<double> costs, own_costs;
        std::vector<std::vector<double>> shares;
        Takes takes;
    };

    bool is_shared(int goal) const { return side_of_[static_cast<std::size_t>(goal)] == shared; }

    /// False where one of them has no path, or cannot be searched exactly.
    bool add_sides() {
        const int count = side_of_.empty() ? 0 : *std::max_element(side_of_.begin(), side_of_.end()) + 1;
        for (int side = 0; side < count; ++side)
            if (!add_side(side)) return false;
        set_kinds(true);
        shares_ = best_shares_ = Shares(shared_, sides_.size());
        cheapests_ = Cheapests(sides_.size());
        return true;
    }

    /// What always costs the same is of one kind, with tied shares or without.
    void set_kinds(bool tied) {
        std::vector<SideChoices> choices;
        for (Side& side : sides_) {
            if (!tied) std::iota(side.choices.originals.begin(), side.choices.originals.end(), 0);
            choices.push_back(side.choices);
        }
        Ties ties = ties_of(choices);
        is_tied_ = ties.any();
        shared_ = std::move(ties.goals);
        costs_.clear();
        for (const SharedGoal& goal : shared_) costs_.push_back(goal.cost * goal.count);
        for (std::size_t s = 0; s < sides_.size(); ++s) {
            sides_[s].paths = Unfolded(sides_[s].space, sides_[s].all, ties.kinds[s]);
            sides_[s].kinds = std::move(ties.kinds[s]);
            sides_[s].costs = std::move(ties.costs[s]);
        }
        for (Side& side : sides_) side.counts.clear();
        for (const SharedGoal& goal : shared_)
            for (const auto& [side, place] : goal.at) {
                sides_[side].counts.resize(std::max(sides_[side].counts.size(), place + 1));
                sides_[side].counts[place] = goal.count;
            }
    }

    /// Each goal has shares of its own from now on, which begin as those that it was tied to.
    void untie() {
        std::vector<std::vector<int>> tied;
        for (const Side& side : sides_) tied.push_back(side.kinds);
        set_kinds(false);
        Shares shares(shared_, sides_.size());
        for (std::size_t s = 0; s < sides_.size(); ++s)
            for (std::size_t c = 0; c < tied[s].size(); ++c)
                if (sides_[s].choices.goals[c] >= 0)
                    shares.set(s, static_cast<std::size_t>(sides_[s].kinds[c]),
                               best_shares_.of(s, static_cast<std::size_t>(tied[s][c])));
        shares_ = best_shares_ = std::move(shares);
        find_all_cheapest(cheapests_);
    }

    bool add_side(int number) {
        std::vector<bool> needed(side_of_.size(), false);
        for (int goal = 0; goal < problem_.goals(); ++goal)
            if (side_of_[static_cast<std::size_t>(goal)] == number)
                for (int choice = problem_.first(goal); choice < problem_.first(goal + 1); ++choice)
                    for (const int need : problem_.alternative(choice).needs)
                        needed[static_cast<std::size_t>(need)] = true;
        const auto is_its = [&](int goal) {
            return is_shared(goal) ? needed[static_cast<std::size_t>(goal)]
                                   : side_of_[static_cast<std::size_t>(goal)] == number;
        };
        Excerpt own = excerpt_of(problem_, is_its, [](int) { return true; });
        Exploration all = explored(own.problem, false, true);
        if (all.status != Status::found || !all.exact) return false;
        auto space = std::make_shared<const Space>(std::move(all.space));
        Side& side = sides_.emplace_back(Side{std::move(own), {}, std::move(space), all.paths});
        int goal = 0;
        for (std::size_t c = 0; c < side.own.choices.size(); ++c) {
            while (problem_.first(goal + 1) <= side.own.choices[c]) ++goal;
            side.choices.costs.push_back(side.own.problem.cost(static_cast<int>(c)));
            side.choices.goals.push_back(is_shared(goal) ? goal : -1);
        }
        side.choices.originals = originals_of(*side.space, side.own.choices.size());
        return true;
    }

    Exploration explored(const Problem& problem, bool only_cheapest, bool only_exact) {
        Options options = options_;
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
            if (is_tied_)
                untie();
            else if (is_near)
                return;  // many paths cost nearly the same
        }
    }

    bool is_proved() {
        if (best_.status == Status::found && upper_ - low_ <= rounding * std::abs(upper_)) best_.exact = true;
        return best_.exact;
    }

    /// At the shares as they are.
    void find_cheapest(std::size_t s, Cheapests& all) {
        Side& side = sides_[s];
        const std::size_t places = side.counts.size();
        for (std::size_t place = 0; place < places; ++place) side.costs[place] = shares_.of(s, place);
        all.shares[s].assign(side.costs.begin(), side.costs.begin() + static_cast<std::ptrdiff_t>(places));
        all.costs[s] = side.paths.cheapest(side.costs);
        const std::vector<int> taken = side.paths.taken(side.costs.size());
        all.own_costs[s] = 0;
        for (std::size_t kind = places; kind < taken.size(); ++kind)
            if (taken[kind] > 0) all.own_costs[s] += taken[kind] * side.costs[kind];
        all.takes[s].assign(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(places));
        for (std::size_t place = 0; place < places; ++place) all.takes[s][place] /= side.counts[place];
    }

    void find_all_cheapest(Cheapests& all) {
        for (std::size_t s = 0; s < sides_.size(); ++s) find_cheapest(s, all);
    }

    /// How much more the whole costs at least with each alternative, at the best shares known.
    void find_above() {
        shares_ = best_shares_;
        find_all_cheapest(cheapests_);
        for (const Side& side : sides_) {
            const std::vector<double> above = side.paths.above(side.costs.size());
            for (std::size_t c = 0; c < side.kinds.size(); ++c)
                if (side.choices.goals[c] < 0)
                    above_[static_cast<std::size_t>(side.own.choices[c])] =
                        above[static_cast<std::size_t>(side.kinds[c])];
        }
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
        take_path(whole_path(now));
    }

    /// One side after the other takes what is cheapest where all that others take is there already, until nobody gains.
    void agree(Cheapests& now) {
        for (double cost = endless; !options_.stop.stop_requested();) {
            Cheapests next = now;
            for (std::size_t s = 0; s < sides_.size(); ++s) {
                shares_.set_whole(shared_, s, next.takes, avoided);
                find_cheapest(s, next);
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
                take(std::move(found));
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
        // Where none is known yet, any path is worth having.
        Exploration found = explored(few.problem, options_.only_cheapest, best_.status == Status::found);
        if (found.status == Status::found) found.space.rename_all(few.choices);
        return found;
    }

    /// Takes a path as the best known, if it is.
    void take(Exploration found) {
        if (found.status != Status::found || found.space.cost(found.paths) >= upper_) return;
        upper_ = found.space.cost(found.paths);
        best_ = std::move(found);
        best_.exact = false;
        best_path_.clear();
    }

    /// The same of choices, which need no space of their own yet.
    void take_path(std::vector<int> path) {
        std::vector<double> costs;
        for (const int choice : path) costs.push_back(problem_.cost(choice));
        const double cost = Space::cost_of_product(costs);
        if (cost >= upper_) return;
        upper_ = cost;
        best_ = Exploration();
        best_.exact = false;
        best_.paths = Space::done;
        best_path_ = std::move(path);
    }

    /// The path that those of the sides are together: they meet in goals that rest on nothing. Asks once more for what
    /// was cheapest at other shares.
    std::vector<int> whole_path(const Cheapests& all) {
        std::vector<int> path, own, both;
        for (std::size_t s = 0; s < sides_.size(); ++s) {
            Side& side = sides_[s];
            std::copy(all.shares[s].begin(), all.shares[s].end(), side.costs.begin());
            side.paths.cheapest(side.costs);
            own.clear(), both.clear();
            for (const int choice : side.paths.path())
                own.push_back(side.own.choices[static_cast<std::size_t>(choice)]);
            std::set_union(path.begin(), path.end(), own.begin(), own.end(), std::back_inserter(both));
            path.swap(both);
        }
        return path;
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
    std::span<const int> side_of_;
    const Options& options_;
    std::vector<Side> sides_;
    std::vector<SharedGoal> shared_;
    std::vector<double> costs_;  // of these, in all
    bool is_tied_ = false;
    Shares shares_{{}, 0}, best_shares_{{}, 0};
    std::vector<double> above_;  // of each alternative of the whole
    Cheapests cheapests_{0};     // at the best shares
    double low_ = -endless, upper_ = endless, step_length_ = 1;
    std::size_t states_ = 0;
    Exploration best_;
    std::vector<int> best_path_;  // its choices, where it has no space yet
};

}  // namespace

Exploration explore_apart(const Problem& problem, std::span<const int> side_of, const Options& options) {
    return Apart(problem, side_of, options).run();
}

}  // namespace cairn::search
