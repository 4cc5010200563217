#include "select/trade.hpp"

#include "cairn/error.hpp"
#include "search/best.hpp"
#include "search/explore.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cairn::inline v0::select {
namespace {

// A byte costs at most a millisecond: no form of a weight gains as much. Nor does the least of errors gain so long.
constexpr double highest_byte_price = 1e-3, highest_error_price = 1e3;

// How many lines are drawn, paths pulled and memories planned before it is content with what it has.
constexpr int most_rounds = 3, most_lines = 64, most_plans = 64;
constexpr std::size_t most_paths = 50'000;

// By how much the last choice is dearer than the first, where prices rise.
constexpr double rise = 1e-3;

/// Equal but for rounding.
bool is_at_least(double a, double b) { return a >= b - 1e-12 * std::abs(b); }

using Amounts = std::vector<std::pair<int, double>>;  // of choices that take any, ascending

double amount_on(std::span<const int> path, const Amounts& amounts, double rise_of_one = 0) {
    double sum = 0;
    for (const int choice : path) {
        const auto it = std::lower_bound(amounts.begin(), amounts.end(), std::pair(choice, 0.0));
        if (it != amounts.end() && it->first == choice) sum += it->second * (1 + rise_of_one * choice);
    }
    return sum;
}

class Trade {
public:
    Trade(Memo memo, std::span<const Bucket> buckets, const Options& options, const ByteLimit* bytes)
        : buckets_(buckets), options_(options), bytes_(bytes), memo_(std::move(memo)) {
        for (int choice = 0; choice < memo_.problem.alternatives(); ++choice)
            unpriced_.push_back(memo_.problem.cost(choice));
        costs_ = unpriced_;
        for (const Memo::Errors& errors : memo_.errors) {
            const Bound& bound =
                buckets[static_cast<std::size_t>(errors.bucket)].bounds[static_cast<std::size_t>(errors.bound)];
            const auto [least, most] =
                std::minmax_element(errors.of_choices.begin(), errors.of_choices.end(),
                                    [](const auto& a, const auto& b) { return a.second < b.second; });
            // Where all errors are the same, what is left beside a number of them is of no use.
            const double limit = least->second == most->second
                                     ? std::floor(bound.limit / least->second * (1 + 1e-12)) * least->second
                                     : bound.limit;
            measures_.push_back({errors.of_choices, limit, highest_error_price / least->second});
            least_errors_.push_back(std::numeric_limits<double>::infinity());
        }
        if (bytes != nullptr) add_held();
    }

    std::optional<Traded> choose() {
        const std::optional<Point> free = cheapest();
        if (!free) return std::nullopt;
        if (fits(*free)) return finished(was_exact_);
        if (!find_prices() || !take_as_many_as_fit() || !pull()) return std::nullopt;
        return finished(is_proved_);
    }

private:
    /// Something that choices take, and what it costs to take it.
    struct Measure {
        Amounts amounts;
        double limit;  ///< of held bytes: by what else needs bytes
        double highest;
        double price = 0;
    };
    /// A path: its cost without prices, and what it takes of each measure, also as it is counted.
    struct Point {
        std::vector<int> choices;
        double cost = 0;
        std::vector<double> taken = {}, counted = {};
        std::int64_t bytes = 0;  ///< of all, where there is a limit on them
        Selections selections = {};
    };

    void add_held() {
        Amounts held;
        for (int choice = 0; choice < memo_.problem.alternatives(); ++choice) {
            const Memo::Asked& asked = memo_.goals[static_cast<std::size_t>(memo_.problem.goal_of(choice))];
            if (asked.held > 0) held.emplace_back(choice, asked.held);
        }
        measures_.push_back({std::move(held), 0, highest_byte_price});
    }

    bool is_held(std::size_t m) const { return bytes_ != nullptr && m + 1 == measures_.size(); }
    /// The most that paths may take. Of held bytes: beside the fewest that were needed for anything else.
    double room(std::size_t m) const {
        return is_held(m) ? static_cast<double>(bytes_->limit) - least_beside_ : measures_[m].limit * (1 + 1e-12);
    }
    bool fits(std::size_t m, const Point& point) const {
        return is_held(m) ? point.bytes <= bytes_->limit : point.taken[m] <= room(m);
    }
    bool fits(const Point& point) const {
        for (std::size_t m = 0; m < measures_.size(); ++m)
            if (!fits(m, point)) return false;
        return true;
    }

    Point point_of(std::vector<int> choices) const {
        Point point{std::move(choices)};
        for (const int choice : point.choices) point.cost += costs_[static_cast<std::size_t>(choice)];
        for (const Measure& measure : measures_) {
            point.taken.push_back(amount_on(point.choices, measure.amounts));
            point.counted.push_back(amount_on(point.choices, measure.amounts, rise_of_one_));
        }
        return point;
    }

    /// Notes what there is to know of a path, and keeps the best that fits. False where one of its kernels cannot
    /// prepare.
    bool look_at(Point& point) {
        bool errors_fit = true;
        for (std::size_t m = 0; m < least_errors_.size(); ++m) {
            least_errors_[m] = std::min(least_errors_[m], point.taken[m]);
            errors_fit = errors_fit && fits(m, point);
        }
        if (!errors_fit && bytes_ == nullptr) return true;
        point.selections = covers_of(memo_, buckets_, point.choices);
        if (!can_prepare(buckets_, point.selections, options_.stop)) return false;
        if (bytes_ != nullptr) {
            point.bytes = bytes_->of(point.selections);
            result_.least_bytes = std::min(result_.least_bytes, point.bytes);
            least_beside_ = std::min(least_beside_, static_cast<double>(point.bytes) - point.taken.back());
        }
        if (fits(point) && (!best_ || point.cost < best_->cost)) best_ = point;
        return true;
    }

    /// Of each choice, with what it takes at the prices.
    std::vector<double> priced_costs() const {
        std::vector<double> costs = costs_;
        for (const Measure& measure : measures_)
            if (measure.price > 0)
                for (const auto& [choice, amount] : measure.amounts)
                    costs[static_cast<std::size_t>(choice)] += measure.price * amount * (1 + rise_of_one_ * choice);
        return costs;
    }

    search::Exploration explored_at_prices(bool only_cheapest) {
        if (options_.stop.stop_requested()) throw Cancelled("select");
        const std::vector<double> costs = priced_costs();
        for (int choice = 0; choice < memo_.problem.alternatives(); ++choice)
            memo_.problem.set_cost(choice, costs[static_cast<std::size_t>(choice)]);
        search::Exploration found =
            explored(memo_.problem, memo_.sides, {.only_cheapest = only_cheapest, .stop = options_.stop});
        was_exact_ = found.exact;
        states_ = found.states;
        regions_ = found.regions;
        regions_solved_ = found.regions_solved;
        return found;
    }

    std::optional<Point> cheapest() {
        if (last_ && last_costs_ == priced_costs()) return last_;
        last_.reset();
        const search::Exploration found = explored_at_prices(true);
        Point point = point_of(found.space.cheapest(found.paths).choices);
        if (!look_at(point)) return std::nullopt;
        last_costs_ = priced_costs();
        return last_ = std::move(point);
    }

    /// What a path costs at the prices of all measures but one.
    double cost_beside(std::size_t m, const Point& point) const {
        double cost = point.cost;
        for (std::size_t other = 0; other < measures_.size(); ++other)
            if (other != m) cost += measures_[other].price * point.counted[other];
        return cost;
    }
    /// No path that fits costs less.
    double low(double priced) const {
        for (std::size_t m = 0; m < measures_.size(); ++m) priced -= measures_[m].price * room(m);
        return priced;
    }

    /// The price from which on a measure fits, between two, at the prices of the others.
    bool draw_lines(std::size_t m, double lowest, double highest) {
        double& price = measures_[m].price;
        price = lowest;
        std::optional<Point> over = cheapest();
        if (!over || fits(m, *over)) return over.has_value();
        price = highest;
        std::optional<Point> under = cheapest();
        if (!under) return false;
        if (fits(m, *under) && forbid_what_is_too_large(m)) {
            price = lowest;
            over = cheapest();
            if (!over || fits(m, *over)) return over.has_value();
        }
        for (int line = 0; fits(m, *under) && line < most_lines && over->counted[m] > under->counted[m]; ++line) {
            price = (cost_beside(m, *under) - cost_beside(m, *over)) / (over->counted[m] - under->counted[m]);
            std::optional<Point> between = cheapest();
            if (!between) return false;
            if (is_at_least(cost_beside(m, *between) + price * between->counted[m],
                            cost_beside(m, *under) + price * under->counted[m]))
                break;
            (fits(m, *between) ? under : over) = std::move(between);
        }
        return true;
    }

    /// A choice that alone takes more than there is room for is on no path that fits. False where there is none.
    bool forbid_what_is_too_large(std::size_t m) {
        bool any = false;
        for (const auto& [choice, amount] : measures_[m].amounts) {
            double& cost = costs_[static_cast<std::size_t>(choice)];
            if (amount > room(m) && cost < forbidden) cost = forbidden, any = true;
        }
        return any;
    }

    bool find_prices() {
        for (int round = 0; round < most_rounds; ++round) {
            bool all_fit = true;
            for (std::size_t m = 0; m < measures_.size(); ++m) {
                const std::optional<Point> now = cheapest();
                if (!now) return false;
                if (fits(m, *now)) continue;
                all_fit = false;
                if (!draw_lines(m, 0, measures_[m].highest)) return false;
            }
            if (all_fit || measures_.size() == 1) break;
        }
        return true;
    }

    bool take_as_many_as_fit() {
        const search::Exploration found = explored_at_prices(true);
        if (found.exact && best_ && is_at_least(low(found.space.cost(found.paths)), best_->cost)) return true;
        std::vector<double> prices;
        for (const Measure& measure : measures_) prices.push_back(measure.price);
        rise_of_one_ = rise / std::max(1, memo_.problem.alternatives());
        bool prepared = true;
        for (std::size_t m = 0; m < measures_.size() && prepared; ++m)
            if (prices[m] > 0) prepared = draw_lines(m, prices[m] * (1 - 2 * rise), prices[m] * (1 + rise));
        rise_of_one_ = 0;
        for (std::size_t m = 0; m < measures_.size(); ++m) measures_[m].price = prices[m];
        return prepared;
    }

    bool pull() {
        const search::Exploration found = explored_at_prices(false);
        search::BestFirst paths(found.space, found.paths);
        for (int plans = 0; plans < most_plans && paths.found() < most_paths;) {
            if (options_.stop.stop_requested()) throw Cancelled("select");
            const std::optional<double> priced = paths.next();
            is_proved_ = found.exact && best_ && (!priced || is_at_least(low(*priced), best_->cost));
            if (!priced || is_proved_) break;
            Point next = point_of(paths.path(paths.found() - 1).choices);
            if (best_ && next.cost >= best_->cost) continue;
            if (is_beyond(next)) continue;
            ++plans;
            if (!look_at(next)) return false;
        }
        return true;
    }

    /// Without looking at its memory.
    bool is_beyond(const Point& point) const {
        for (std::size_t m = 0; m < measures_.size(); ++m)
            if (point.taken[m] > room(m)) return true;
        return false;
    }

    Traded finished(bool is_proved) {
        result_.is_proved = is_proved;
        if (!best_) {
            check_errors();
            return std::move(result_);
        }
        Selections& selections = result_.selections.emplace(std::move(best_->selections));
        selections.exact = is_proved;
        selections.states = states_;
        selections.regions = regions_;
        selections.regions_solved = regions_solved_;
        for (int choice = 0; choice < memo_.problem.alternatives(); ++choice)
            memo_.problem.set_cost(choice, unpriced_[static_cast<std::size_t>(choice)]);
        selections.memo = std::make_shared<const Memo>(std::move(memo_));
        return std::move(result_);
    }

    /// Throws where there is a bound that nothing keeps.
    void check_errors() const {
        for (std::size_t m = 0; m < memo_.errors.size(); ++m) {
            const auto& [bucket, index, of_choices] = memo_.errors[m];
            const Bound& bound = buckets_[static_cast<std::size_t>(bucket)].bounds[static_cast<std::size_t>(index)];
            if (least_errors_[m] > room(m))
                throw Error(ErrorKind::unsupported, "select",
                            fmt::format("no way to run was found in which the errors of {} add up to at most {:.4g}: "
                                        "the least is {:.4g}",
                                        bound.name, bound.limit, least_errors_[m]));
        }
    }

    std::span<const Bucket> buckets_;
    const Options& options_;
    const ByteLimit* bytes_;
    Memo memo_;
    std::vector<double> unpriced_;   // cost of each choice
    std::vector<double> costs_;      // the same, forbidden where a choice alone takes too much
    std::vector<Measure> measures_;  // errors, then held bytes
    double rise_of_one_ = 0;         // from a choice to the next
    std::optional<Point> last_, best_;
    std::vector<double> last_costs_;                                 // that last_ is the cheapest at
    std::vector<double> least_errors_;                               // of the paths looked at
    double least_beside_ = std::numeric_limits<double>::infinity();  // of what is no form of a weight
    bool was_exact_ = true, is_proved_ = false;
    std::size_t states_ = 0, regions_ = 0, regions_solved_ = 0;  // of the last search
    Traded result_;
};

}  // namespace

double errors_on(std::span<const int> path, const Memo::Errors& errors) { return amount_on(path, errors.of_choices); }

std::optional<Traded> trade(Memo memo, std::span<const Bucket> buckets, const Options& options,
                            const ByteLimit* bytes) {
    return Trade(std::move(memo), buckets, options, bytes).choose();
}

}  // namespace cairn::inline v0::select
