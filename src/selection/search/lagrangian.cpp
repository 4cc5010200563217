#include "selection/search/lagrangian.hpp"

#include "selection/search/cost_shares.hpp"
#include "selection/search/repeated_blocks.hpp"
#include "selection/search/subproblems.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace cairn::search {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Paths are looked for this part of what is known above the bound, and this much further where none is there.
constexpr double near = 1.0 / 16, widening = 8;

// How often shares are made better, and by how many steps.
constexpr int most_rounds = 6, steps_of_round = 200, max_steps_without_gain = 3;

// A path so far above the bound, as a part of it, is looked for without its dearest goals too, so many of them; each
// then costs more than any path.
constexpr double far_off = 1e-3, forbidden_cost = 1e12;
constexpr std::size_t most_avoided = 3;

// Sums of doubles are off by less than this part of them.
constexpr double rounding = 1e-12;

class LagrangianSearch {
public:
    LagrangianSearch(const SearchProblem& problem, std::span<const int> subproblem_of, const Options& options)
        : problem_(problem), options_(options), subproblems_(problem, subproblem_of, options.repeat) {}

    Exploration run() {
        if (add_subproblems()) find_path();
        if (options_.stop.stop_requested()) best_.status = Status::stopped;
        std::vector<PathSet> sets;
        for (const int choice : best_path_) sets.push_back(best_.dag.choice(choice, cost_of(choice)));
        if (upper_ < infinity) best_.paths = best_.dag.product(sets);
        best_.states = states_;
        best_.low = best_.exact ? upper_ : low_;
        return std::move(best_);
    }

private:
    bool add_subproblems() {
        const auto all_paths = [&](const SearchProblem& problem, const RepeatedBlocks& repeat) {
            return explored(problem, repeat, false, true);
        };
        if (!subproblems_.add_all(all_paths) || !subproblems_.tie(true)) return false;
        take_shared();
        shares_ = best_shares_ = CostShares(shared_, subproblems_.size());
        cheapests_ = RelaxedSolution(subproblems_.size());
        return true;
    }

    void take_shared() {
        shared_ = subproblems_.shared_goals();
        costs_.clear();
        for (const SharedGoal& goal : shared_) costs_.push_back(goal.cost * goal.count);
    }

    /// Each goal has shares of its own from now on, which begin as those that it was tied to.
    void untie() {
        shares_ = best_shares_ = subproblems_.untied(best_shares_);
        take_shared();
        find_all_cheapest(cheapests_);
    }

    /// Of a choice numbered in full.
    double cost_of(int choice) const { return problem_.cost(options_.repeat.written(choice).first); }

    Exploration explored(const SearchProblem& problem, const RepeatedBlocks& repeat, bool only_cheapest,
                         bool only_exact) {
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
        find_primal_path();
        for (int round = 0; round < most_rounds && !is_proved() && !options_.stop.stop_requested(); ++round) {
            improve_shares();
            find_reduced_costs();
            find_primal_path();
            const bool is_near = is_within_relative_gap(upper_, low_);
            if (is_proved() || prove_by_joint_search(round == 0 ? 0 : (upper_ - low_) * near, round == 0)) return;
            if (subproblems_.is_tied() && !options_.repeat.any())
                untie();
            else if (is_near)
                return;  // many paths cost nearly the same
        }
    }

    bool is_proved() {
        if (best_.status == Status::found && upper_ - low_ <= rounding * std::abs(upper_)) best_.exact = true;
        return best_.exact;
    }

    void find_all_cheapest(RelaxedSolution& all) {
        for (std::size_t s = 0; s < subproblems_.size(); ++s) subproblems_.find_cheapest(s, shares_, all);
    }

    /// How much more the whole costs at least with each alternative, at the best shares known.
    void find_reduced_costs() {
        shares_ = best_shares_;
        find_all_cheapest(cheapests_);
        reduced_costs_ = subproblems_.reduced_costs();
    }

    /// Takes steps to shares at which the bound is higher, shorter ones from the best shares again where some in
    /// succession gained nothing.
    void improve_shares() {
        int steps_without_gain = 0;
        const double before = low_;
        shares_ = best_shares_;
        RelaxedSolution now = cheapests_;
        for (int step = 0; step < steps_of_round && !options_.stop.stop_requested(); ++step) {
            if (!shares_.move(shared_, now.usage, step_length_ * (upper_ - now.cost()))) break;
            find_all_cheapest(now);
            if (now.cost() > low_) {
                low_ = now.cost(), best_shares_ = shares_, cheapests_ = now, steps_without_gain = 0;
            } else if (++steps_without_gain == max_steps_without_gain) {
                step_length_ /= 2, steps_without_gain = 0;
                shares_ = best_shares_, now = cheapests_;
            }
        }
        if (low_ <= before) step_length_ /= 4;
    }

    /// From the cheapest paths of the sides to a path of the whole. Where all take a dear goal since all others do,
    /// they are led away from it.
    void find_primal_path() {
        RelaxedSolution now = cheapests_;
        coordinate_descent(now);
        std::vector<std::size_t> tried;
        while (whole_cost(now) - low_ > far_off * std::abs(low_) && tried.size() < most_avoided) {
            std::size_t dearest = shared_.size();
            for (std::size_t g = 0; g < shared_.size(); ++g)
                if (takers(shared_[g], now) > 1 && std::find(tried.begin(), tried.end(), g) == tried.end() &&
                    (dearest == shared_.size() || costs_[g] > costs_[dearest]))
                    dearest = g;
            if (dearest == shared_.size()) break;
            tried.push_back(dearest);
            const double cost = std::exchange(shared_[dearest].cost, forbidden_cost);
            RelaxedSolution other = now;
            coordinate_descent(other);
            shared_[dearest].cost = cost;
            if (whole_cost(other) < whole_cost(now)) now = std::move(other);
        }
        take_path(subproblems_.whole_path(now));
    }

    /// One side after the other takes what is cheapest where all that others take is there already, until nobody gains.
    void coordinate_descent(RelaxedSolution& now) {
        for (double cost = infinity; !options_.stop.stop_requested();) {
            RelaxedSolution next = now;
            for (std::size_t s = 0; s < subproblems_.size(); ++s) {
                shares_.set_marginal_shares(shared_, s, next.usage, forbidden_cost);
                subproblems_.find_cheapest(s, shares_, next);
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
    bool prove_by_joint_search(double gap, bool is_first) {
        const double first = relative_gap * std::abs(low_) + 1e-300, least = std::min(first, upper_ - low_);
        const double furthest = (std::abs(low_) + 1) * 1e6;
        bool was_cut = false, was_whole = false;
        for (gap = std::min(std::max(gap, first), upper_ - low_); gap < furthest;) {
            const double slack = rounding * (std::abs(low_) + gap);
            Exploration found = explored_among(
                [&](int choice) { return reduced_costs_[static_cast<std::size_t>(choice)] <= gap + 2 * slack; });
            if (options_.stop.stop_requested()) return false;
            (found.exact ? was_whole : was_cut) = true;
            if (found.status == Status::found) {
                const double cost = found.dag.cost(found.paths);
                const bool is_proved = found.exact && cost <= low_ + gap + slack;
                if (is_proved) return best_.exact = true;
            }
            if (was_cut && (was_whole || gap <= least)) return false;
            const double known = upper_ - low_;
            if (was_cut)
                gap = std::max(gap / widening, least);
            else if (is_first && upper_ < infinity && known > gap * widening)
                return false;
            else
                gap = known > gap ? std::min(gap * widening, known) : gap * widening;
        }
        return false;
    }

    /// The whole with some of its alternatives.
    Exploration explored_among(const std::function<bool(int)>& keep) {
        const InducedProblem few = induced_problem(
            problem_, [](int) { return true; }, keep);
        const std::optional<RepeatedBlocks> repeat = remaining_repeated_blocks(few, options_.repeat);
        if (!repeat) return without_paths(Status::too_large);
        // Where none is known yet, any path is worth having.
        Exploration found = explored(few.problem, *repeat, options_.only_cheapest, best_.status == Status::found);
        if (found.status != Status::found) return found;
        std::vector<int> path;
        for (const int unfolded_choice : found.dag.cheapest(found.paths).choices)
            path.push_back(repeat->in_whole(unfolded_choice, few.choices, options_.repeat));
        take_path(std::move(path));
        best_.regions = found.regions, best_.regions_solved = found.regions_solved;
        return found;
    }

    /// Takes a path as the best known, if it is.
    void take_path(std::vector<int> path) {
        std::vector<double> costs;
        for (const int choice : path) costs.push_back(cost_of(choice));
        const double cost = PathDag::cost_of_product(costs);
        if (cost >= upper_) return;
        upper_ = cost;
        best_.status = Status::found;
        best_path_ = std::move(path);
    }

    /// What the cheapest paths cost together, if of tied goals some take what others do.
    double whole_cost(const RelaxedSolution& all) const {
        double cost = std::accumulate(all.own_costs.begin(), all.own_costs.end(), 0.0);
        for (std::size_t g = 0; g < shared_.size(); ++g) {
            double taken = 0;
            for (const auto& [subproblem, place] : shared_[g].at) taken = std::max(taken, all.usage[subproblem][place]);
            cost += taken * costs_[g];
        }
        return cost;
    }

    static std::ptrdiff_t takers(const SharedGoal& goal, const RelaxedSolution& all) {
        return std::count_if(goal.at.begin(), goal.at.end(),
                             [&](const auto& at) { return all.usage[at.first][at.second] > 0; });
    }

    const SearchProblem& problem_;
    const Options& options_;
    Subproblems subproblems_;
    std::vector<SharedGoal> shared_;
    std::vector<double> costs_;  // of these, in all
    CostShares shares_{{}, 0}, best_shares_{{}, 0};
    std::vector<double> reduced_costs_;  // of each alternative of the whole
    RelaxedSolution cheapests_{0};       // at the best shares
    double low_ = -infinity, upper_ = infinity, step_length_ = 1;
    std::size_t states_ = 0;
    Exploration best_ = without_paths(Status::too_large);
    std::vector<int> best_path_;
};

}  // namespace

Exploration explore_lagrangian(const SearchProblem& problem, std::span<const int> subproblem_of,
                               const Options& options) {
    return LagrangianSearch(problem, subproblem_of, options).run();
}

}  // namespace cairn::search
