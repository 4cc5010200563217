#include "search/sides.hpp"

#include "search/cheapest.hpp"
#include "search/marginals.hpp"
#include "search/shares.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cairn::search {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

// How far above the bound paths are looked for at first, as a part of it, and how much further where none is there.
constexpr double first_gap = 1e-4, near = 1.0 / 16, widening = 8;

// How often shares are made better, and by how many steps.
constexpr int most_rounds = 6, steps_of_round = 8, most_in_vain = 3;

// A path so far above the bound, as a part of it, is looked for without its dearest goals too, so many of them; each
// then costs more than any path.
constexpr double far_off = 1e-3, avoided = 1e12;
constexpr std::size_t most_avoided = 3;

// Sums of doubles are off by less than this part of them.
constexpr double rounding = 1e-12;

class Sides {
public:
    Sides(const Problem& problem, std::span<const int> side_of, const Options& options, Exploration known)
        : problem_(problem),
          side_of_(side_of),
          options_(options),
          above_(static_cast<std::size_t>(problem.alternatives()), 0),
          upper_(known.status == Status::found ? known.space.cost(known.paths) : endless),
          states_(known.states),
          best_(std::move(known)) {
        const int count = problem.goals() == 0 ? 0 : *std::max_element(side_of.begin(), side_of.end()) + 1;
        shared_.resize(static_cast<std::size_t>(problem.goals()));
        for (int side = 0; side < count; ++side) add_side(side);
        shares_ = best_shares_ = Shares(shared_, sides_.size());
    }

    Exploration run() {
        for (int round = 0; round <= most_rounds; ++round) {
            if (round > 0 && !make_shares_better()) break;
            if (!find_bound() || !descend()) break;
            const bool is_near = upper_ - low_ <= first_gap * std::abs(low_);
            if (is_proved() || prove(round == 0 ? 0 : (upper_ - low_) * near, round == 0)) break;
            if (is_near) break;  // many paths cost nearly the same
        }
        if (is_stopped_) best_.status = Status::stopped;
        best_.states = states_;
        best_.low = best_.exact ? upper_ : low_;
        return std::move(best_);
    }

private:
    struct Side {
        Excerpt own;
        std::vector<std::pair<int, int>> shared;  // own choices, and whose they are in the whole
    };

    /// The cheapest path of each side: what it costs with its shares, its choices in the whole, and which of its shared
    /// goals it takes.
    struct Cheapests {
        explicit Cheapests(std::size_t sides) : costs(sides, 0), paths(sides), takes(sides) {}
        double cost() const { return std::accumulate(costs.begin(), costs.end(), 0.0); }

        std::vector<double> costs;
        std::vector<std::vector<int>> paths;
        Takes takes;
    };

    bool is_proved() {
        if (best_.status == Status::found && upper_ - low_ <= rounding * std::abs(upper_)) best_.exact = true;
        return best_.exact;
    }

    void add_side(int number) {
        std::vector<bool> needed(shared_.size(), false);
        for (int goal = 0; goal < problem_.goals(); ++goal)
            if (side_of_[static_cast<std::size_t>(goal)] == number)
                for (int choice = problem_.first(goal); choice < problem_.first(goal + 1); ++choice)
                    for (const int need : problem_.alternative(choice).needs)
                        needed[static_cast<std::size_t>(need)] = true;
        const auto is_its = [&](int goal) {
            const auto g = static_cast<std::size_t>(goal);
            return side_of_[g] == shared ? needed[g] : side_of_[g] == number;
        };
        Side side{excerpt_of(problem_, is_its, [](int) { return true; }), {}};
        for (std::size_t c = 0; c < side.own.choices.size(); ++c) {
            const int goal = problem_.goal_of(side.own.choices[c]);
            const auto g = static_cast<std::size_t>(goal);
            if (side_of_[g] != shared) continue;
            shared_[g].cost = problem_.cost(side.own.choices[c]);
            shared_[g].at.emplace_back(static_cast<std::size_t>(number), side.shared.size());
            side.shared.emplace_back(static_cast<int>(c), goal);
        }
        sides_.push_back(std::move(side));
    }

    Exploration explored(const Problem& problem, bool only_cheapest, bool only_exact) {
        Options options = options_;
        options.only_cheapest = only_cheapest;
        options.only_exact = only_exact;
        Exploration found = explore(problem, options);
        states_ += found.states;
        is_stopped_ = is_stopped_ || found.status == Status::stopped;
        return found;
    }

    /// At the shares as they are. Nothing where a side has no path, or cannot be searched exactly.
    std::optional<Exploration> explored_side(std::size_t s, bool only_cheapest) {
        Side& side = sides_[s];
        for (std::size_t i = 0; i < side.shared.size(); ++i)
            side.own.problem.set_cost(side.shared[i].first, shares_.of(s, i));
        Exploration found = explored(side.own.problem, only_cheapest, true);
        return found.status == Status::found && found.exact ? std::optional(std::move(found)) : std::nullopt;
    }

    /// At the best shares known: the cheapest path of each side, what the whole costs at least, and how much more with
    /// each alternative.
    bool find_bound() {
        shares_ = best_shares_;
        cheapests_ = Cheapests(sides_.size());
        for (std::size_t s = 0; s < sides_.size(); ++s) {
            const std::optional<Exploration> all = explored_side(s, false);
            if (!all) return false;
            const Excerpt& own = sides_[s].own;
            const std::vector<int> path = Cheapest(all->space, all->paths).choices(all->paths);
            note_cheapest(s, path, cheapests_);
            const std::vector<std::optional<double>> above = costs_above(own.problem, all->space, all->paths, path);
            for (std::size_t c = 0; c < above.size(); ++c)
                if (side_of_[static_cast<std::size_t>(problem_.goal_of(own.choices[c]))] != shared)
                    above_[static_cast<std::size_t>(own.choices[c])] = above[c].value_or(endless);
        }
        low_ = cheapests_.cost();
        return true;
    }

    /// Searches together what may be in paths that cost at most so much more than the bound; then goes further while
    /// that shows none as cheap, or less far while it is too much work. At first it does not go far: better shares come
    /// at less. True where one of the cheapest paths was found.
    bool prove(double gap, bool is_first) {
        const double first = first_gap * std::abs(low_) + 1e-300, least = std::min(first, upper_ - low_);
        const double furthest = (std::abs(low_) + 1) * 1e6;
        bool was_cut = false, was_whole = false;
        for (gap = std::max(gap, first); gap < furthest;) {
            const double slack = rounding * (std::abs(low_) + gap);
            Exploration found =
                explored_among([&](int choice) { return above_[static_cast<std::size_t>(choice)] <= gap + 2 * slack; });
            if (is_stopped_) return false;
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
    }

    /// At the shares as they are. False where a side cannot be searched.
    bool find_cheapest(std::size_t s, Cheapests& all) {
        const std::optional<Exploration> found = explored_side(s, true);
        if (found) note_cheapest(s, found->space.cheapest(found->paths).choices, all);
        return found.has_value();
    }

    /// `path`: of a side, its own choices in ascending order.
    void note_cheapest(std::size_t s, std::span<const int> path, Cheapests& all) const {
        const auto& [own, shared] = sides_[s];
        all.costs[s] = 0;
        all.paths[s].clear();
        for (const int choice : path) {
            all.costs[s] += own.problem.cost(choice);
            all.paths[s].push_back(own.choices[static_cast<std::size_t>(choice)]);
        }
        all.takes[s].clear();
        for (const auto& [choice, goal] : shared)
            all.takes[s].push_back(std::binary_search(path.begin(), path.end(), choice));
    }

    bool find_all_cheapest(Cheapests& all) {
        for (std::size_t s = 0; s < sides_.size(); ++s)
            if (!find_cheapest(s, all)) return false;
        return true;
    }

    /// Takes steps to shares at which the bound is higher, shorter ones from the best shares again where some in
    /// succession gained nothing. False where a side cannot be searched.
    bool make_shares_better() {
        int in_vain = 0;
        const double before = low_;
        shares_ = best_shares_;
        Cheapests now = cheapests_;
        for (int step = 0; step < steps_of_round; ++step) {
            if (!shares_.move(shared_, now.takes, step_length_ * (upper_ - now.cost()))) break;
            if (!find_all_cheapest(now)) return false;
            if (now.cost() > low_) {
                low_ = now.cost(), best_shares_ = shares_, cheapests_ = now, in_vain = 0;
            } else if (++in_vain == most_in_vain) {
                step_length_ /= 2, in_vain = 0;
                shares_ = best_shares_, now = cheapests_;
            }
        }
        if (low_ <= before) step_length_ /= 4;
        return true;
    }

    /// From the cheapest paths of the sides to a path of the whole. Where all take a dear goal since all others do,
    /// they are led away from it.
    bool descend() {
        Cheapests now = cheapests_;
        if (!agree(now)) return false;
        std::vector<std::size_t> tried;
        while (whole_cost(now) - low_ > far_off * std::abs(low_) && tried.size() < most_avoided) {
            std::size_t dearest = shared_.size();
            for (std::size_t g = 0; g < shared_.size(); ++g)
                if (takers(shared_[g], now) > 1 && std::find(tried.begin(), tried.end(), g) == tried.end() &&
                    (dearest == shared_.size() || shared_[g].cost > shared_[dearest].cost))
                    dearest = g;
            if (dearest == shared_.size()) break;
            tried.push_back(dearest);
            const double cost = std::exchange(shared_[dearest].cost, avoided);
            Cheapests other = now;
            if (!agree(other)) return false;
            shared_[dearest].cost = cost;
            if (whole_cost(other) < whole_cost(now)) now = std::move(other);
        }
        const std::vector<int> path = whole_path(now);
        take(explored_among([&](int choice) { return std::binary_search(path.begin(), path.end(), choice); }));
        return true;
    }

    /// One side after the other takes what is cheapest where all that others take is there already, until nobody gains.
    bool agree(Cheapests& now) {
        for (double cost = endless;;) {
            Cheapests next = now;
            for (std::size_t s = 0; s < sides_.size(); ++s) {
                shares_.set_whole(shared_, s, next.takes, avoided);
                if (!find_cheapest(s, next)) return false;
            }
            const double whole = whole_cost(next);
            if (whole >= cost * (1 - rounding)) return true;
            cost = whole;
            now = std::move(next);
        }
    }

    std::vector<int> whole_path(const Cheapests& all) const {
        std::vector<int> path;
        for (const std::vector<int>& own : all.paths) path.insert(path.end(), own.begin(), own.end());
        std::sort(path.begin(), path.end());
        path.erase(std::unique(path.begin(), path.end()), path.end());
        return path;
    }

    double whole_cost(const Cheapests& all) const {
        double cost = 0;
        for (const int choice : whole_path(all)) cost += problem_.cost(choice);
        return cost;
    }

    static std::ptrdiff_t takers(const SharedGoal& goal, const Cheapests& all) {
        return std::count_if(goal.at.begin(), goal.at.end(),
                             [&](const auto& at) { return all.takes[at.first][at.second]; });
    }

    const Problem& problem_;
    std::span<const int> side_of_;
    const Options& options_;
    std::vector<Side> sides_;
    std::vector<SharedGoal> shared_;  // of each goal of the whole
    Shares shares_{{}, 0}, best_shares_{{}, 0};
    std::vector<double> above_;  // of each alternative of the whole
    Cheapests cheapests_{0};     // at the best shares
    double low_ = -endless, upper_, step_length_ = 1;
    std::size_t states_;
    bool is_stopped_ = false;
    Exploration best_;
};

}  // namespace

Exploration explore_each_side(const Problem& problem, std::span<const int> side_of, const Options& options,
                              Exploration known) {
    return Sides(problem, side_of, options, std::move(known)).run();
}

Exploration explore_sides(const Problem& problem, std::span<const int> side_of, const Options& options) {
    Exploration together = explore(problem, options);
    const bool has_sides = std::any_of(side_of.begin(), side_of.end(), [](int side) { return side > 0; });
    if (together.status == Status::stopped || together.exact || !has_sides) return together;
    return explore_each_side(problem, side_of, options, std::move(together));
}

std::string fault_of_sides(const Problem& problem, std::span<const int> side_of) {
    if (side_of.size() != static_cast<std::size_t>(problem.goals())) return "not every goal has a side";
    const auto side = [&](int goal) { return side_of[static_cast<std::size_t>(goal)]; };
    const auto named = [](int goal) { return "goal " + std::to_string(goal); };
    for (const int root : problem.roots())
        if (side(root) == shared) return named(root) + " is shared and a root";
    for (int goal = 0; goal < problem.goals(); ++goal) {
        if (side(goal) < shared) return named(goal) + " has a side below 0";
        if (side(goal) == shared && problem.first(goal + 1) - problem.first(goal) != 1)
            return named(goal) + " is shared and has not one alternative";
        for (int choice = problem.first(goal); choice < problem.first(goal + 1); ++choice) {
            const Alternative alternative = problem.alternative(choice);
            if (side(goal) == shared && !(alternative.needs.empty() && alternative.provides.empty()))
                return named(goal) + " is shared and rests on others, or provides them";
            for (const int need : alternative.needs)
                if (side(need) != shared && side(need) != side(goal))
                    return named(goal) + " rests on " + named(need) + " of another side";
            for (const int also : alternative.provides)
                if (side(also) != side(goal)) return named(goal) + " provides " + named(also) + ", not of its side";
        }
    }
    return "";
}

}  // namespace cairn::search
