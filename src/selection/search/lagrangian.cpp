#include "selection/search/lagrangian.hpp"

#include "selection/search/cost_shares.hpp"
#include "selection/search/subproblems.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace cairn::search {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The first gap of a joint search, as a part of the known gap, and the factor by which it widens if no path is found.
constexpr double first_gap_fraction = 1.0 / 16, widening = 8;

// Limits on the rounds of subgradient steps, the steps of a round, and the steps without gain.
constexpr int max_rounds = 6, steps_of_round = 200, max_steps_without_gain = 3;

// If the path is further above the bound than this part of it, it is also searched without its most expensive shared
// goals, up to the maximum; their forbidding cost exceeds that of any path.
constexpr double far_off = 1e-3, forbidden_cost = 1e12;
constexpr std::size_t max_avoided = 3;

// Relative rounding error of sums of doubles.
constexpr double rounding = 1e-12;

class LagrangianSearch {
public:
    LagrangianSearch(const SearchProblem& problem, std::span<const int> subproblem_of, const Options& options)
        : problem_(problem), options_(options), subproblems_(problem, subproblem_of) {}

    Exploration run() {
        if (add_subproblems()) solve();
        if (options_.stop.stop_requested()) incumbent_.status = Status::stopped;
        std::vector<PathSet> sets;
        for (const int choice : best_path_) sets.push_back(incumbent_.dag.choice(choice, problem_.cost(choice)));
        if (upper_bound_ < infinity) incumbent_.paths = incumbent_.dag.product(sets);
        incumbent_.states = states_;
        incumbent_.low = incumbent_.exact ? upper_bound_ : lower_bound_;
        return std::move(incumbent_);
    }

private:
    bool add_subproblems() {
        const auto all_paths = [&](const SearchProblem& problem) { return explored(problem, false, true); };
        if (!subproblems_.add_all(all_paths)) return false;
        subproblems_.tie(true);
        load_shared_goals();
        shares_ = best_shares_ = CostShares(shared_, subproblems_.size());
        cheapests_ = RelaxedSolution(subproblems_.size());
        return true;
    }

    void load_shared_goals() {
        shared_ = subproblems_.shared_goals();
        costs_.clear();
        for (const SharedGoal& goal : shared_) costs_.push_back(goal.cost * goal.count);
    }

    /// Gives each goal its own shares, which begin as those of the goals it was tied to.
    void untie() {
        shares_ = best_shares_ = subproblems_.untied(best_shares_);
        load_shared_goals();
        find_all_cheapest(cheapests_);
    }

    Exploration explored(const SearchProblem& problem, bool only_cheapest, bool require_exact) {
        Options options = options_;
        options.only_cheapest = only_cheapest;
        options.require_exact = require_exact;
        Exploration found = explore(problem, options);
        states_ += found.states;
        return found;
    }

    void solve() {
        find_all_cheapest(cheapests_);
        lower_bound_ = cheapests_.cost();
        find_primal_path();
        for (int round = 0; round < max_rounds && !is_proved() && !options_.stop.stop_requested(); ++round) {
            improve_shares();
            find_reduced_costs();
            find_primal_path();
            const bool is_near = is_within_relative_gap(upper_bound_, lower_bound_);
            if (is_proved() ||
                prove_by_joint_search(round == 0 ? 0 : (upper_bound_ - lower_bound_) * first_gap_fraction, round == 0))
                return;
            if (subproblems_.is_tied())
                untie();
            else if (is_near)
                return;  // many paths cost nearly the same
        }
    }

    bool is_proved() {
        if (incumbent_.status == Status::found && upper_bound_ - lower_bound_ <= rounding * std::abs(upper_bound_))
            incumbent_.exact = true;
        return incumbent_.exact;
    }

    void find_all_cheapest(RelaxedSolution& all) {
        for (std::size_t s = 0; s < subproblems_.size(); ++s) subproblems_.find_cheapest(s, shares_, all);
    }

    /// Lower bounds of the extra cost of the whole with each alternative, at the best shares known.
    void find_reduced_costs() {
        shares_ = best_shares_;
        find_all_cheapest(cheapests_);
        reduced_costs_ = subproblems_.reduced_costs();
    }

    /// Subgradient steps towards a higher bound; after some steps without gain, shorter ones from the best shares
    /// again.
    void improve_shares() {
        int steps_without_gain = 0;
        const double before = lower_bound_;
        shares_ = best_shares_;
        RelaxedSolution now = cheapests_;
        for (int step = 0; step < steps_of_round && !options_.stop.stop_requested(); ++step) {
            if (!shares_.move(shared_, now.usage, step_length_ * (upper_bound_ - now.cost()))) break;
            find_all_cheapest(now);
            if (now.cost() > lower_bound_) {
                lower_bound_ = now.cost(), best_shares_ = shares_, cheapests_ = now, steps_without_gain = 0;
            } else if (++steps_without_gain == max_steps_without_gain) {
                step_length_ /= 2, steps_without_gain = 0;
                shares_ = best_shares_, now = cheapests_;
            }
        }
        if (lower_bound_ <= before) step_length_ /= 4;
    }

    /// Primal heuristic: a path of the whole from the cheapest paths of the subproblems. If several subproblems take an
    /// expensive shared goal only because the others do, that goal is forbidden for a trial.
    void find_primal_path() {
        RelaxedSolution now = cheapests_;
        coordinate_descent(now);
        std::vector<std::size_t> tried;
        while (whole_cost(now) - lower_bound_ > far_off * std::abs(lower_bound_) && tried.size() < max_avoided) {
            std::size_t dearest = shared_.size();
            for (std::size_t g = 0; g < shared_.size(); ++g)
                if (count_takers(shared_[g], now) > 1 && std::find(tried.begin(), tried.end(), g) == tried.end() &&
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
        update_incumbent(subproblems_.whole_path(now));
    }

    /// Coordinate descent: each subproblem in turn takes its cheapest path given the goals that the others take, until
    /// none gains.
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

    /// Jointly searches the alternatives that may be in paths within `gap` of the bound. Widens the gap while it has no
    /// path that cheap, and narrows it if the search is too much work. The first joint search does not widen far:
    /// better shares cost less. True if a path was proved to be a cheapest one.
    bool prove_by_joint_search(double gap, bool is_first) {
        const double first = relative_gap * std::abs(lower_bound_) + 1e-300,
                     least = std::min(first, upper_bound_ - lower_bound_);
        const double furthest = (std::abs(lower_bound_) + 1) * 1e6;
        bool was_cut = false, was_whole = false;
        for (gap = std::min(std::max(gap, first), upper_bound_ - lower_bound_); gap < furthest;) {
            const double slack = rounding * (std::abs(lower_bound_) + gap);
            Exploration found = explored_among(
                [&](int choice) { return reduced_costs_[static_cast<std::size_t>(choice)] <= gap + 2 * slack; });
            if (options_.stop.stop_requested()) return false;
            (found.exact ? was_whole : was_cut) = true;
            if (found.status == Status::found) {
                const double cost = found.dag.cost(found.paths);
                const bool is_proved = found.exact && cost <= lower_bound_ + gap + slack;
                if (is_proved) return incumbent_.exact = true;
            }
            if (was_cut && (was_whole || gap <= least)) return false;
            const double known = upper_bound_ - lower_bound_;
            if (was_cut)
                gap = std::max(gap / widening, least);
            else if (is_first && upper_bound_ < infinity && known > gap * widening)
                return false;
            else
                gap = known > gap ? std::min(gap * widening, known) : gap * widening;
        }
        return false;
    }

    /// Explores the whole problem with some of its alternatives.
    Exploration explored_among(const std::function<bool(int)>& keep) {
        const InducedProblem few = induced_problem(
            problem_, [](int) { return true; }, keep);
        // If no path is known yet, any path is useful.
        Exploration found = explored(few.problem, options_.only_cheapest, incumbent_.status == Status::found);
        if (found.status != Status::found) return found;
        std::vector<int> path;
        for (const int choice : found.dag.cheapest(found.paths).choices)
            path.push_back(few.choices[static_cast<std::size_t>(choice)]);
        update_incumbent(std::move(path));
        incumbent_.regions = found.regions, incumbent_.regions_solved = found.regions_solved;
        return found;
    }

    /// Makes a path the incumbent if it is cheaper.
    void update_incumbent(std::vector<int> path) {
        std::vector<double> costs;
        for (const int choice : path) costs.push_back(problem_.cost(choice));
        const double cost = PathDag::cost_of_product(costs);
        if (cost >= upper_bound_) return;
        upper_bound_ = cost;
        incumbent_.status = Status::found;
        best_path_ = std::move(path);
    }

    /// The cost of the cheapest paths together, if subproblems that take a part of tied goals take the same ones.
    double whole_cost(const RelaxedSolution& all) const {
        double cost = std::accumulate(all.unshared_costs.begin(), all.unshared_costs.end(), 0.0);
        for (std::size_t g = 0; g < shared_.size(); ++g) {
            double max_usage = 0;
            for (const auto& [subproblem, position] : shared_[g].at)
                max_usage = std::max(max_usage, all.usage[subproblem][position]);
            cost += max_usage * costs_[g];
        }
        return cost;
    }

    static std::ptrdiff_t count_takers(const SharedGoal& goal, const RelaxedSolution& all) {
        return std::count_if(goal.at.begin(), goal.at.end(),
                             [&](const auto& at) { return all.usage[at.first][at.second] > 0; });
    }

    const SearchProblem& problem_;
    const Options& options_;
    Subproblems subproblems_;
    std::vector<SharedGoal> shared_;
    std::vector<double> costs_;  // of these, in total
    CostShares shares_{{}, 0}, best_shares_{{}, 0};
    std::vector<double> reduced_costs_;  // of each alternative of the whole
    RelaxedSolution cheapests_{0};       // at the best shares
    double lower_bound_ = -infinity, upper_bound_ = infinity, step_length_ = 1;
    std::size_t states_ = 0;
    Exploration incumbent_ = without_paths(Status::too_large);
    std::vector<int> best_path_;
};

}  // namespace

Exploration explore_lagrangian(const SearchProblem& problem, std::span<const int> subproblem_of,
                               const Options& options) {
    return LagrangianSearch(problem, subproblem_of, options).run();
}

}  // namespace cairn::search
