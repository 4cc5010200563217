#include "select/within.hpp"

#include "cairn/error.hpp"
#include "search/best.hpp"
#include "search/explore.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace cairn::inline v0::select {
namespace {

// A byte costs at most a millisecond: no form of a weight gains as much.
constexpr double highest_price = 1e-3;

// Seconds that no path takes.
constexpr double forbidden = 1e9;

// How many lines are drawn, paths pulled and memories planned before it is content with what it has.
constexpr int most_lines = 64, most_plans = 64;
constexpr std::size_t most_paths = 50'000;

class Trade {
public:
    Trade(std::span<const Bucket> buckets, std::int64_t limit,
          const std::function<std::int64_t(const Selections&)>& bytes_of, const Options& options)
        : buckets_(buckets),
          limit_(limit),
          bytes_of_(bytes_of),
          options_(options),
          memo_(memo_of(buckets, options.search ? Breadth::cheapest : Breadth::first, options.stop)) {
        for (int choice = 0; choice < memo_.problem.alternatives(); ++choice) {
            const Memo::Asked& asked = memo_.goals[static_cast<std::size_t>(memo_.problem.goal_of(choice))];
            costs_.push_back(memo_.problem.cost(choice));
            held_.push_back(asked.held);
        }
        // So that of equal layers one after the other gives up a form.
        const auto count = static_cast<double>(held_.size());
        for (const double held : held_)
            weights_.push_back(held * (1 + 1e-3 * static_cast<double>(weights_.size()) / count));
    }

    /// Nothing where a kernel that was chosen cannot prepare: it refuses from then on.
    std::optional<Within> choose() {
        std::optional<Point> over = cheapest(0);
        if (!over) return std::nullopt;
        if (fits(*over)) return result(std::move(over), over_is_exact_);
        std::optional<Point> best = cheapest(highest_price);
        if (!best) return std::nullopt;
        if (fits(*best) && forbid_what_is_too_large()) {
            over = cheapest(0);
            if (!over) return std::nullopt;
            if (fits(*over)) return result(std::move(over), over_is_exact_);
        }
        double price = highest_price;
        for (int line = 0; fits(*best) && line < most_lines && over->weight > best->weight; ++line) {
            price = (best->cost - over->cost) / (over->weight - best->weight);
            std::optional<Point> between = cheapest(price);
            if (!between) return std::nullopt;
            const double on_line = best->cost + price * best->weight;
            if (between->cost + price * between->weight >= on_line - 1e-12 * std::abs(on_line)) break;
            (fits(*between) ? best : over) = std::move(between);
        }
        if (!fits(*best)) best.reset();
        return pull(price, std::move(best));
    }

private:
    /// A path: its cost without the price, and what it keeps of weights.
    struct Point {
        std::vector<int> choices;
        double cost = 0, held = 0;
        double weight = 0;       ///< of what is held, by which the lines are drawn
        std::int64_t bytes = 0;  ///< of all
        Selections selections = {};
    };

    bool fits(const Point& point) const { return point.bytes <= limit_; }
    Point point_of(std::vector<int> choices) const {
        Point point{std::move(choices)};
        for (const int choice : point.choices) {
            point.cost += costs_[static_cast<std::size_t>(choice)];
            point.held += held_[static_cast<std::size_t>(choice)];
            point.weight += weights_[static_cast<std::size_t>(choice)];
        }
        return point;
    }

    /// False where one of its kernels cannot prepare.
    bool plan(Point& point) {
        point.selections = covers_of(memo_, buckets_, point.choices);
        if (!can_prepare(buckets_, point.selections, options_.stop)) return false;
        point.bytes = bytes_of_(point.selections);
        least_ = std::min(least_, point.bytes);
        least_beside_ = std::min(least_beside_, static_cast<double>(point.bytes) - point.held);
        return true;
    }

    /// What the forms of weights may take.
    double room() const { return static_cast<double>(limit_) - least_beside_; }

    /// A form that alone takes more than that is in no path that fits. False where there is none.
    bool forbid_what_is_too_large() {
        bool any = false;
        for (std::size_t choice = 0; choice < held_.size(); ++choice)
            if (held_[choice] > room()) costs_[choice] = forbidden, any = true;
        return any;
    }

    void set_price(double price, const std::vector<double>& per) {
        for (std::size_t choice = 0; choice < costs_.size(); ++choice)
            memo_.problem.set_cost(static_cast<int>(choice), costs_[choice] + price * per[choice]);
    }

    std::optional<Point> cheapest(double price) {
        set_price(price, weights_);
        const search::Exploration found = explored(memo_.problem, {.stop = options_.stop});
        over_is_exact_ = found.exact;
        Point point = point_of(found.space.cheapest(found.paths).choices);
        return plan(point) ? std::optional(std::move(point)) : std::nullopt;
    }

    std::optional<Within> pull(double price, std::optional<Point> best) {
        set_price(price, held_);
        const search::Exploration found = explored(memo_.problem, {.only_cheapest = false, .stop = options_.stop});
        search::BestFirst paths(found.space, found.paths);
        bool is_proved = false;
        for (int plans = 0; plans < most_plans && paths.found() < most_paths;) {
            if (options_.stop.stop_requested()) throw Cancelled("select");
            const std::optional<double> priced = paths.next();
            is_proved = found.exact && best && (!priced || *priced - price * room() >= best->cost * (1 - 1e-12));
            if (!priced || is_proved) break;
            Point next = point_of(paths.path(paths.found() - 1).choices);
            if (next.held > room() || (best && next.cost >= best->cost)) continue;
            ++plans;
            if (!plan(next)) return std::nullopt;
            if (fits(next)) best = std::move(next);
        }
        return result(std::move(best), is_proved);
    }

    Within result(std::optional<Point> point, bool is_proved) const {
        Within within{std::nullopt, least_, is_proved};
        if (point) within.selections = std::move(point->selections);
        if (within.selections) within.selections->exact = is_proved;
        return within;
    }

    std::span<const Bucket> buckets_;
    std::int64_t limit_;
    const std::function<std::int64_t(const Selections&)>& bytes_of_;
    const Options& options_;
    Memo memo_;
    std::vector<double> costs_, held_, weights_;  // of each choice
    std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
    double least_beside_ = std::numeric_limits<double>::infinity();  // of what is no form of a weight
    bool over_is_exact_ = true;
};

}  // namespace

Within select_within(std::span<const Bucket> buckets, std::int64_t limit,
                     const std::function<std::int64_t(const Selections&)>& bytes_of, const Options& options) {
    while (true)
        if (std::optional<Within> within = Trade(buckets, limit, bytes_of, options).choose()) return std::move(*within);
}

}  // namespace cairn::inline v0::select
