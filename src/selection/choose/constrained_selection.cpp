#include "selection/choose/constrained_selection.hpp"

#include "cairn/error.hpp"
#include "selection/search/explore.hpp"
#include "selection/search/k_best.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cairn::selection {
namespace {

// Upper bounds of the multipliers: a byte costs at most a millisecond, more than any form of a weight gains; and no
// choice gains as much as the smallest error would cost.
constexpr double max_byte_multiplier = 1e-3, max_error_multiplier = 1e3;

// Limits on multiplier steps, enumerated paths and memory plans; then the best covers found so far are returned.
constexpr int max_rounds = 3, max_multiplier_steps = 64, max_memory_plans = 64;
constexpr std::size_t max_paths = 50'000, max_visited_choices = 5'000'000;

// Relative increase of a multiplier from the first choice to the last, to break ties.
constexpr double tie_break_slope = 1e-3;

/// Equal up to rounding.
bool is_at_least(double a, double b) { return a >= b - 1e-12 * std::abs(b); }

class ConstrainedSearch {
public:
    ConstrainedSearch(Memo memo, std::span<const Bucket> buckets, const Options& options, const MemoryLimit* bytes)
        : buckets_(buckets), options_(options), bytes_(bytes), memo_(std::move(memo)) {
        for (int choice = 0; choice < memo_.problem.alternatives(); ++choice)
            original_costs_.push_back(memo_.problem.cost(choice));
        costs_ = original_costs_;
        for (const Memo::ErrorTerms& errors : memo_.errors) {
            const accuracy::ErrorBudget& bound =
                buckets[static_cast<std::size_t>(errors.bucket)].bounds[static_cast<std::size_t>(errors.bound)];
            const auto [least, most] =
                std::minmax_element(errors.squares.begin(), errors.squares.end(),
                                    [](const auto& a, const auto& b) { return a.second < b.second; });
            // If all errors are equal, round the limit down to a multiple of them: the remainder is of no use.
            const double square = accuracy::error_square(bound.limit);
            const double limit = least->second == most->second
                                     ? std::floor(square / least->second * (1 + 1e-12)) * least->second
                                     : square;
            Resource& resource = add_resource(limit, max_error_multiplier / least->second);
            for (const auto& [choice, amount] : errors.squares)
                resource.amounts[static_cast<std::size_t>(choice)] = amount;
            min_squares_.push_back(std::numeric_limits<double>::infinity());
        }
        if (bytes != nullptr) add_prepacked_bytes();
    }

    std::optional<ConstrainedSelection> choose() {
        const std::optional<Point> free = cheapest();
        if (!free) return std::nullopt;
        if (is_feasible(*free)) return finished(was_exact_);
        if (!find_multipliers() || !break_ties() || !enumerate_paths()) return std::nullopt;
        return finished(is_proved_);
    }

private:
    /// A resource that choices consume, with its Lagrange multiplier.
    struct Resource {
        std::vector<double> amounts;  ///< of each choice
        double limit;                 ///< of prepacked bytes: capacity() applies instead
        double highest;
        double multiplier = 0;
    };
    /// A path: its cost without multipliers, and its consumption of each resource, plain and with the tie-breaking
    /// slope.
    struct Point {
        std::vector<int> choices;
        double cost = 0;
        std::vector<double> taken = {}, counted = {};
        std::int64_t bytes = 0;  ///< of the covers, if there is a byte limit
        Selections selections = {};
    };

    void add_prepacked_bytes() {
        Resource& resource = add_resource(0, max_byte_multiplier);
        for (int choice = 0; choice < memo_.problem.alternatives(); ++choice) {
            const Memo::Request& request = memo_.goals[static_cast<std::size_t>(memo_.problem.goal_of(choice))];
            const auto weight = bytes_->weights.find(request.goal.place.device);
            if (request.prepacked_bytes > 0 && weight != bytes_->weights.end())
                resource.amounts[static_cast<std::size_t>(choice)] = request.prepacked_bytes * weight->second;
        }
    }

    Resource& add_resource(double limit, double highest) {
        return resources_.emplace_back(Resource{std::vector<double>(original_costs_.size()), limit, highest});
    }

    bool is_memory(std::size_t m) const { return bytes_ != nullptr && m + 1 == resources_.size(); }
    /// The most of a resource that a path may consume. Of bytes: the limit less the smallest need seen for anything
    /// else.
    double capacity(std::size_t m) const {
        return is_memory(m) ? static_cast<double>(bytes_->limit) - least_other_bytes_
                            : resources_[m].limit * (1 + 1e-12);
    }
    bool is_feasible(std::size_t m, const Point& point) const {
        return is_memory(m) ? point.bytes <= bytes_->limit : point.taken[m] <= capacity(m);
    }
    bool is_feasible(const Point& point) const {
        for (std::size_t m = 0; m < resources_.size(); ++m)
            if (!is_feasible(m, point)) return false;
        return true;
    }

    Point point_of(std::vector<int> choices) const {
        Point point{std::move(choices)};
        for (const int choice : point.choices) point.cost += costs_[static_cast<std::size_t>(choice)];
        for (const Resource& resource : resources_) {
            double taken = 0, counted = 0;
            for (const int choice : point.choices) {
                const double amount = resource.amounts[static_cast<std::size_t>(choice)];
                taken += amount;
                counted += amount * (1 + slope_per_choice_ * choice);
            }
            point.taken.push_back(taken);
            point.counted.push_back(counted);
        }
        return point;
    }

    /// Records a path's consumption and keeps the best feasible one. False if one of its kernels cannot prepare.
    bool evaluate(Point& point) {
        bool errors_fit = true;
        for (std::size_t m = 0; m < min_squares_.size(); ++m) {
            min_squares_[m] = std::min(min_squares_[m], point.taken[m]);
            errors_fit = errors_fit && is_feasible(m, point);
        }
        if (!errors_fit && bytes_ == nullptr) return true;
        point.selections = covers_of(memo_, buckets_, point.choices);
        if (!can_prepare(buckets_, point.selections, options_.stop)) return false;
        if (bytes_ != nullptr) {
            point.bytes = bytes_->of(point.selections);
            result_.least_bytes = std::min(result_.least_bytes, point.bytes);
            least_other_bytes_ = std::min(least_other_bytes_, static_cast<double>(point.bytes) - point.taken.back());
        }
        if (is_feasible(point) && (!best_ || point.cost < best_->cost)) best_ = point;
        return true;
    }

    /// The cost of each choice, penalised by the multipliers.
    std::vector<double> penalized_costs() const {
        std::vector<double> costs = costs_;
        for (const Resource& resource : resources_)
            if (resource.multiplier > 0)
                for (std::size_t choice = 0; choice < costs.size(); ++choice)
                    costs[choice] += resource.multiplier * resource.amounts[choice] *
                                     (1 + slope_per_choice_ * static_cast<double>(choice));
        return costs;
    }

    search::Exploration explore_penalized(bool only_cheapest, double gap = std::numeric_limits<double>::infinity()) {
        if (options_.stop.stop_requested()) throw Cancelled("select");
        const std::vector<double> costs = penalized_costs();
        for (int choice = 0; choice < memo_.problem.alternatives(); ++choice)
            memo_.problem.set_cost(choice, costs[static_cast<std::size_t>(choice)]);
        search::Exploration found = explore_or_throw(
            memo_.problem, memo_.subproblem_of, {.only_cheapest = only_cheapest, .gap = gap, .stop = options_.stop});
        was_exact_ = found.exact;
        states_ = found.states;
        regions_ = found.regions;
        regions_solved_ = found.regions_solved;
        return found;
    }

    std::optional<Point> cheapest() {
        if (last_ && last_costs_ == penalized_costs()) return last_;
        last_.reset();
        const search::Exploration found = explore_penalized(true);
        Point point = point_of(found.dag.cheapest(found.paths).choices);
        if (!evaluate(point)) return std::nullopt;
        last_costs_ = penalized_costs();
        return last_ = std::move(point);
    }

    /// The cost of a path, penalised by the multipliers of all resources but one.
    double cost_without(std::size_t m, const Point& point) const {
        double cost = point.cost;
        for (std::size_t other = 0; other < resources_.size(); ++other)
            if (other != m) cost += resources_[other].multiplier * point.counted[other];
        return cost;
    }
    /// Lower bound of the cost of any feasible path (Lagrangian dual).
    double dual_bound(double penalized_cost) const {
        for (std::size_t m = 0; m < resources_.size(); ++m) penalized_cost -= resources_[m].multiplier * capacity(m);
        return penalized_cost;
    }

    /// Searches between two values for the multiplier at which a resource becomes feasible, with the others fixed.
    bool search_multiplier(std::size_t m, double lowest, double highest) {
        double& multiplier = resources_[m].multiplier;
        multiplier = lowest;
        std::optional<Point> infeasible = cheapest();
        if (!infeasible || is_feasible(m, *infeasible)) return infeasible.has_value();
        multiplier = highest;
        std::optional<Point> feasible = cheapest();
        if (!feasible) return false;
        if (is_feasible(m, *feasible) && forbid_oversized(m)) {
            multiplier = lowest;
            infeasible = cheapest();
            if (!infeasible || is_feasible(m, *infeasible)) return infeasible.has_value();
        }
        for (int line = 0;
             is_feasible(m, *feasible) && line < max_multiplier_steps && infeasible->counted[m] > feasible->counted[m];
             ++line) {
            multiplier = (cost_without(m, *feasible) - cost_without(m, *infeasible)) /
                         (infeasible->counted[m] - feasible->counted[m]);
            std::optional<Point> between = cheapest();
            if (!between) return false;
            if (is_at_least(cost_without(m, *between) + multiplier * between->counted[m],
                            cost_without(m, *feasible) + multiplier * feasible->counted[m]))
                break;
            (is_feasible(m, *between) ? feasible : infeasible) = std::move(between);
        }
        return true;
    }

    /// Forbids the choices that alone exceed the capacity, since no feasible path has them. False if there are none.
    bool forbid_oversized(std::size_t m) {
        bool any = false;
        for (std::size_t choice = 0; choice < costs_.size(); ++choice) {
            const double amount = resources_[m].amounts[choice];
            double& cost = costs_[choice];
            if (amount > 0 && amount > capacity(m) && cost < forbidden_cost) cost = forbidden_cost, any = true;
        }
        return any;
    }

    bool find_multipliers() {
        for (int round = 0; round < max_rounds; ++round) {
            bool all_fit = true;
            for (std::size_t m = 0; m < resources_.size(); ++m) {
                const std::optional<Point> now = cheapest();
                if (!now) return false;
                if (is_feasible(m, *now)) continue;
                all_fit = false;
                if (!search_multiplier(m, 0, resources_[m].highest)) return false;
            }
            if (all_fit || resources_.size() == 1) break;
        }
        return true;
    }

    bool break_ties() {
        const search::Exploration found = explore_penalized(true);
        const double low = dual_bound(found.dag.cost(found.paths));
        if (found.exact && best_ && is_at_least(low, best_->cost)) return true;
        if (found.exact) low_ = low;
        std::vector<double> multipliers;
        for (const Resource& resource : resources_) multipliers.push_back(resource.multiplier);
        slope_per_choice_ = tie_break_slope / std::max(1, memo_.problem.alternatives());
        bool prepared = true;
        for (std::size_t m = 0; m < resources_.size() && prepared; ++m)
            if (multipliers[m] > 0)
                prepared = search_multiplier(m, multipliers[m] * (1 - 2 * tie_break_slope),
                                             multipliers[m] * (1 + tie_break_slope));
        slope_per_choice_ = 0;
        for (std::size_t m = 0; m < resources_.size(); ++m) resources_[m].multiplier = multipliers[m];
        return prepared;
    }

    bool enumerate_paths() {
        // No path is of use that costs more than the cheapest one by more than what is left to gain. The capacity for
        // bytes, on which the bound depends, may still grow.
        const double gap =
            best_ && bytes_ == nullptr ? (best_->cost - low_) * (1 + 1e-9) : std::numeric_limits<double>::infinity();
        const search::Exploration found = explore_penalized(false, gap);
        search::KBestPaths paths(found.dag, found.paths);
        std::size_t visited = 0;  // choices in the paths found
        for (int plans = 0; plans < max_memory_plans && paths.found() < max_paths && visited < max_visited_choices;) {
            if (options_.stop.stop_requested()) throw Cancelled("select");
            const std::optional<double> penalized_cost = paths.next();
            is_proved_ =
                found.exact && best_ && (!penalized_cost || is_at_least(dual_bound(*penalized_cost), best_->cost));
            if (!penalized_cost || is_proved_) break;
            Point next = point_of(paths.path(paths.found() - 1).choices);
            visited += next.choices.size();
            if (best_ && next.cost >= best_->cost) continue;
            if (exceeds_capacity(next)) continue;
            ++plans;
            if (!evaluate(next)) return false;
        }
        return true;
    }

    /// Without a memory plan.
    bool exceeds_capacity(const Point& point) const {
        for (std::size_t m = 0; m < resources_.size(); ++m)
            if (point.taken[m] > capacity(m)) return true;
        return false;
    }

    ConstrainedSelection finished(bool is_proved) {
        result_.is_proved = is_proved;
        if (!best_) {
            check_errors();
            return std::move(result_);
        }
        Selections& selections = result_.selections.emplace(std::move(best_->selections));
        selections.cost = best_->cost;
        selections.exact = is_proved;
        selections.states = states_;
        selections.regions = regions_;
        selections.regions_solved = regions_solved_;
        for (int choice = 0; choice < memo_.problem.alternatives(); ++choice)
            memo_.problem.set_cost(choice, original_costs_[static_cast<std::size_t>(choice)]);
        selections.memo = std::make_shared<const Memo>(std::move(memo_));
        return std::move(result_);
    }

    /// Throws if no path keeps one of the error budgets.
    void check_errors() const {
        for (std::size_t m = 0; m < memo_.errors.size(); ++m) {
            const auto& [bucket, index, squares] = memo_.errors[m];
            const accuracy::ErrorBudget& bound =
                buckets_[static_cast<std::size_t>(bucket)].bounds[static_cast<std::size_t>(index)];
            if (min_squares_[m] > capacity(m))
                throw Error(ErrorKind::unsupported, "select",
                            fmt::format("no selection was found in which the combined error of {} is at most {:.4g}: "
                                        "the least is {:.4g}",
                                        bound.name, bound.limit, std::sqrt(min_squares_[m])));
        }
    }

    std::span<const Bucket> buckets_;
    const Options& options_;
    const MemoryLimit* bytes_;
    Memo memo_;
    std::vector<double> original_costs_;  // cost of each choice
    std::vector<double> costs_;           // the same, with choices forbidden that alone exceed a capacity
    std::vector<Resource> resources_;     // squares of errors, then prepacked bytes
    double slope_per_choice_ = 0;         // increase of multipliers from one choice to the next
    std::optional<Point> last_, best_;
    std::vector<double> last_costs_;                                      // costs at which last_ is cheapest
    std::vector<double> min_squares_;                                     // of the paths evaluated
    double least_other_bytes_ = std::numeric_limits<double>::infinity();  // beside prepacked weights
    double low_ = -std::numeric_limits<double>::infinity();               // lower bound of the cost of feasible paths
    bool was_exact_ = true, is_proved_ = false;
    std::size_t states_ = 0, regions_ = 0, regions_solved_ = 0;  // of the last search
    ConstrainedSelection result_;
};

}  // namespace

double total_error(std::span<const int> path, const Memo::ErrorTerms& errors) {
    double squares = 0;
    for (const int choice : path) {
        const auto it = std::lower_bound(errors.squares.begin(), errors.squares.end(), std::pair(choice, 0.0));
        if (it != errors.squares.end() && it->first == choice) squares += it->second;
    }
    return std::sqrt(squares);
}

std::optional<ConstrainedSelection> select_constrained(Memo memo, std::span<const Bucket> buckets,
                                                       const Options& options, const MemoryLimit* bytes) {
    return ConstrainedSearch(std::move(memo), buckets, options, bytes).choose();
}

}  // namespace cairn::selection
