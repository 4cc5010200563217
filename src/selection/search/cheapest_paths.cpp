#include "selection/search/cheapest_paths.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace cairn::search {
namespace {

// Bits of the largest sum; the others are for the sign and a margin for rounding.
constexpr int max_bits = 125;

// Special values of a product.
constexpr int unknown = -1, undecided_yet = -2;

struct RenamedSet {
    PathSet set;
    int renaming;
    bool is_other;
    auto key() const { return std::tuple(set, renaming, is_other); }
    bool operator<(const RenamedSet& other) const { return key() < other.key(); }
};

/// The sets below a set, and itself: other sets of a DAG may cost more than the numbers hold.
std::vector<bool> parts_of(const PathDag& dag, PathSet set) {
    std::vector<bool> is_part(static_cast<std::size_t>(set) + 1, false);
    is_part.back() = true;
    for (PathSet s = set; s > PathDag::empty_path; --s)
        if (is_part[static_cast<std::size_t>(s)])
            for (int p = dag.first_product(s); p >= 0; p = dag.product_at(p).next)
                for (const PathSet part : {dag.product_at(p).first, dag.product_at(p).second})
                    is_part[static_cast<std::size_t>(part)] = true;
    return is_part;
}

}  // namespace

bool comes_before(PathDifferenceView a, PathDifferenceView b) noexcept {
    const auto [in_a, in_b] = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
    if (in_a == a.rend() && in_b == b.rend()) return false;
    const bool only_a_differs = in_b == b.rend() || (in_a != a.rend() && *in_a > *in_b);
    return only_a_differs ? (*in_a & 1U) != 0 : (*in_b & 1U) == 0;
}

CheapestPaths::CheapestPaths(const PathDag& dag, PathSet set)
    : dag_(&dag), set_(set), costs_(static_cast<std::size_t>(set) + 1, 0), products_(costs_.size(), unknown) {
    const std::vector<bool> is_part = parts_of(dag, set);
    find_unit(is_part);
    for (PathSet s = PathDag::empty_path + 1; s <= set; ++s) {
        if (!is_part[static_cast<std::size_t>(s)]) continue;
        ExactCost& least = costs_[static_cast<std::size_t>(s)];
        const int first = dag.first_product(s);
        least = first < 0 ? exact(dag.cost(s)) : cost(dag.product_at(first));
        for (int p = first; p >= 0; p = dag.product_at(p).next) least = std::min(least, cost(dag.product_at(p)));
    }
}

/// Chooses the smallest unit in which the most expensive path fits.
void CheapestPaths::find_unit(const std::vector<bool>& is_part) {
    constexpr int room = 40;                     // bits of margin that keep sums finite
    std::vector<double> most(costs_.size(), 0);  // upper bound of a path's absolute cost in the set
    const auto at = [&](PathSet set) -> double& { return most[static_cast<std::size_t>(set)]; };
    for (PathSet s = PathDag::empty_path + 1; s <= set_; ++s) {
        if (!is_part[static_cast<std::size_t>(s)]) continue;
        if (dag_->choice_of(s) >= 0) at(s) = std::ldexp(std::abs(dag_->cost(s)), -room);
        for (int p = dag_->first_product(s); p >= 0; p = dag_->product_at(p).next)
            at(s) = std::max(at(s), at(dag_->product_at(p).first) + at(dag_->product_at(p).second));
    }
    int exponent = 0;
    std::frexp(at(set_), &exponent);
    unit_ = max_bits - exponent - room;
}

template <typename Visit>
void CheapestPaths::for_each_cheapest(PathSet set, const Visit& visit) const {
    for (int p = dag_->first_product(set); p >= 0; p = dag_->product_at(p).next)
        if (cost(dag_->product_at(p)) == cost(set)) visit(p);
}

/// Breaks ties between products of equal cost, in a set and in all sets of its cheapest paths: lower sets first.
void CheapestPaths::settle(PathSet set) {
    std::vector<PathSet> undecided;
    for (std::vector<PathSet> open{set}; !open.empty();) {
        const PathSet top = open.back();
        open.pop_back();
        if (known(top) != unknown || dag_->first_product(top) < 0) continue;
        known(top) = undecided_yet;
        undecided.push_back(top);
        for_each_cheapest(top, [&](int p) {
            open.push_back(dag_->product_at(p).first);
            open.push_back(dag_->product_at(p).second);
        });
    }
    std::sort(undecided.begin(), undecided.end());
    for (const PathSet sum : undecided) {
        int& best = known(sum);
        for_each_cheapest(sum, [&](int p) {
            if (best < 0 || comes_before(settled_difference(p, best), {})) best = p;
        });
    }
}

int CheapestPaths::product(PathSet set) {
    if (known(set) == unknown) settle(set);
    return known(set);
}

double CheapestPaths::rounded(ExactCost cost) const { return std::ldexp(static_cast<double>(cost), -unit_); }
ExactCost CheapestPaths::exact(double cost) const { return static_cast<ExactCost>(std::ldexp(cost, unit_)); }

std::vector<int> CheapestPaths::choices(PathSet set) {
    settle(set);
    std::vector<int> choices;
    for (std::vector<std::pair<PathSet, int>> open{{set, -1}}; !open.empty();) {
        const auto [top, renaming] = open.back();
        open.pop_back();
        if (dag_->choice_of(top) >= 0) choices.push_back(dag_->renamed(dag_->choice_of(top), renaming));
        if (known(top) < 0) continue;
        const PathDag::Product& best = dag_->product_at(known(top));
        open.emplace_back(best.first, renaming);
        open.emplace_back(best.second, best.renamed >= 0 ? best.renamed : renaming);
    }
    std::sort(choices.begin(), choices.end());
    return choices;
}

PathDifference CheapestPaths::difference(int product, int other) {
    for (const int made : {product, other}) {
        settle(dag_->product_at(made).first);
        settle(dag_->product_at(made).second);
    }
    return settled_difference(product, other);
}

// The highest sets are opened first: a set common to both paths is met before either opens it.
PathDifference CheapestPaths::settled_difference(int product, int other) const {
    std::vector<RenamedSet> open;
    const auto add = [&](PathSet set, int renaming, bool is_other) {
        if (set == PathDag::empty_path) return;
        open.push_back({set, renaming, is_other});
        std::push_heap(open.begin(), open.end());
    };
    const auto pop = [&] {
        std::pop_heap(open.begin(), open.end());
        const RenamedSet top = open.back();
        open.pop_back();
        return top;
    };
    const auto add_parts = [&](int made, int renaming, bool is_other) {
        const PathDag::Product& parts = dag_->product_at(made);
        add(parts.first, renaming, is_other);
        add(parts.second, parts.renamed >= 0 ? parts.renamed : renaming, is_other);
    };
    add_parts(product, -1, false);
    add_parts(other, -1, true);
    PathDifference difference;
    while (!open.empty()) {
        const RenamedSet top = pop();
        if (!open.empty() && open.front().set == top.set && open.front().renaming == top.renaming) {
            pop();
        } else if (const int choice = dag_->choice_of(top.set); choice >= 0) {
            difference.push_back(static_cast<std::uint32_t>(dag_->renamed(choice, top.renaming)) << 1 |
                                 (top.is_other ? 1U : 0U));
        } else if (dag_->first_product(top.set) >= 0) {
            add_parts(products_[static_cast<std::size_t>(top.set)], top.renaming, top.is_other);
        }
    }
    std::sort(difference.begin(), difference.end());
    // A choice may be in two sets.
    PathDifference once;
    for (const std::uint32_t code : difference)
        if (!once.empty() && once.back() >> 1 == code >> 1)
            once.pop_back();
        else
            once.push_back(code);
    return once;
}

}  // namespace cairn::search
