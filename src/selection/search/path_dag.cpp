#include "selection/search/path_dag.hpp"

#include <algorithm>
#include <set>

namespace cairn::search {

Path path_of(std::vector<std::pair<int, double>> chosen) {
    std::sort(chosen.begin(), chosen.end());
    Path path;
    for (const auto& [choice, cost] : chosen) {
        path.choices.push_back(choice);
        path.cost += cost;
    }
    return path;
}

PathSet PathDag::choice(int choice, double cost) {
    nodes_.push_back({cost, choice, -1, -1});
    return static_cast<PathSet>(nodes_.size()) - 1;
}

void PathDag::add(Sum& sum, PathSet first, PathSet second, int renamed) {
    if (first == none || second == none) return;
    const double cost = at(first).cost + at(second).cost;
    const bool better = sum.best < 0 || cost < sum.cost;
    if (only_cheapest_ && sum.first >= 0) {
        if (better) products_[static_cast<std::size_t>(sum.first)] = {first, second, renamed, -1};
    } else {
        const auto made = static_cast<int>(products_.size());
        products_.push_back({first, second, renamed, -1});
        (sum.first < 0 ? sum.first : products_[static_cast<std::size_t>(sum.last)].next) = made;
        sum.last = made;
        if (better) sum.best = made;
    }
    if (better) sum.cost = cost;
}

PathSet PathDag::set_of(const Sum& sum) {
    if (sum.first < 0) return none;
    if (const Product& only = product_at(sum.first); only.next < 0 && only.renamed < 0) {
        if (only.second == empty_path) return only.first;
        if (only.first == empty_path) return only.second;
    }
    nodes_.push_back({sum.cost, -1, sum.first, sum.best});
    return static_cast<PathSet>(nodes_.size()) - 1;
}

PathSet PathDag::product(PathSet first, PathSet second) {
    if (first == empty_path) return second;
    if (second == empty_path) return first;
    Sum sum;
    add(sum, first, second);
    return set_of(sum);
}

PathSet PathDag::product(std::span<const PathSet> sets) {
    if (sets.size() < 2) return sets.empty() ? empty_path : sets.front();
    const std::size_t half = sets.size() / 2;
    const PathSet first = product(sets.first(half));
    return product(first, product(sets.subspan(half)));
}

double PathDag::cost_of_product(std::span<const double> costs) {
    if (costs.size() < 2) return costs.empty() ? 0 : costs.front();
    const std::size_t half = costs.size() / 2;
    return cost_of_product(costs.first(half)) + cost_of_product(costs.subspan(half));
}

int PathDag::add_renaming(std::vector<std::pair<int, int>> choices) {
    std::sort(choices.begin(), choices.end());
    renamings_.push_back(std::move(choices));
    return static_cast<int>(renamings_.size()) - 1;
}

void PathDag::rename_all(const std::vector<int>& names) {
    const auto rename = [&](int& choice) { choice = names[static_cast<std::size_t>(choice)]; };
    for (Node& node : nodes_)
        if (node.choice >= 0) rename(node.choice);
    for (auto& renaming : renamings_)
        for (auto& [choice, elsewhere] : renaming) rename(choice), rename(elsewhere);
}

int PathDag::repeat(Extent begin, Extent end, int shift) {
    const auto sets = static_cast<int>(nodes_.size() - begin.sets),
               products = static_cast<int>(products_.size() - begin.products);
    const auto shifted = [](int number, std::size_t first, int by) {
        return number >= static_cast<int>(first) ? number + by : number;
    };
    const auto make_room = [](auto& list, std::size_t more) {
        if (list.size() + more > list.capacity()) list.reserve(2 * (list.size() + more));
    };
    make_room(nodes_, end.sets - begin.sets);
    make_room(products_, end.products - begin.products);
    for (std::size_t s = begin.sets; s < end.sets; ++s) {
        Node node = nodes_[s];
        if (node.choice >= 0) node.choice += shift;
        node.first = shifted(node.first, begin.products, products);
        node.best = shifted(node.best, begin.products, products);
        nodes_.push_back(node);
    }
    for (std::size_t p = begin.products; p < end.products; ++p) {
        Product product = products_[p];
        product.first = shifted(product.first, begin.sets, sets);
        product.second = shifted(product.second, begin.sets, sets);
        product.next = shifted(product.next, begin.products, products);
        products_.push_back(product);
    }
    return sets;
}

PathDag PathDag::negated() const {
    PathDag result = *this;
    for (std::size_t set = empty_path + 1; set < nodes_.size(); ++set) {
        Node& node = result.nodes_[set];
        node.cost = -node.cost;
        if (node.first < 0) continue;
        const auto cost_of = [&](int p) {
            return result.cost(product_at(p).first) + result.cost(product_at(p).second);
        };
        node.best = node.first;
        for (int p = node.first; p >= 0; p = product_at(p).next)
            if (cost_of(p) < cost_of(node.best)) node.best = p;
        node.cost = cost_of(node.best);
    }
    return result;
}

int PathDag::renamed(int choice, int renaming) const {
    if (renaming < 0) return choice;
    const auto& names = renamings_[static_cast<std::size_t>(renaming)];
    return std::lower_bound(names.begin(), names.end(), std::pair(choice, -1))->second;
}

Path PathDag::cheapest(PathSet set) const {
    Path path{cost(set), {}};
    struct Open {
        PathSet set;
        int renaming;
    };
    for (std::vector<Open> open{{set, -1}}; !open.empty();) {
        const auto [top, renaming] = open.back();
        open.pop_back();
        if (choice_of(top) >= 0) path.choices.push_back(renamed(choice_of(top), renaming));
        if (best_product(top) < 0) continue;
        const Product& best = product_at(best_product(top));
        open.push_back({best.first, renaming});
        open.push_back({best.second, best.renamed >= 0 ? best.renamed : renaming});
    }
    std::sort(path.choices.begin(), path.choices.end());
    return path;
}

std::string fault(const PathDag& dag, PathSet set) {
    const auto count = static_cast<std::size_t>(set) + 1;
    std::vector<bool> is_part(count, false);
    is_part[static_cast<std::size_t>(set)] = true;
    for (std::size_t s = count; s-- > 0;) {
        if (!is_part[s]) continue;
        for (int p = dag.first_product(static_cast<PathSet>(s)); p >= 0; p = dag.product_at(p).next)
            for (const PathSet part : {dag.product_at(p).first, dag.product_at(p).second}) {
                if (part < 0 || static_cast<std::size_t>(part) >= s)
                    return "set " + std::to_string(s) + " has a product with set " + std::to_string(part);
                is_part[static_cast<std::size_t>(part)] = true;
            }
    }
    std::vector<std::set<int>> choices(count);
    for (std::size_t s = 0; s < count; ++s) {
        if (!is_part[s]) continue;
        if (const int choice = dag.choice_of(static_cast<PathSet>(s)); choice >= 0) choices[s].insert(choice);
        for (int p = dag.first_product(static_cast<PathSet>(s)); p >= 0; p = dag.product_at(p).next) {
            const PathDag::Product& product = dag.product_at(p);
            const std::set<int>& first = choices[static_cast<std::size_t>(product.first)];
            for (const int second : choices[static_cast<std::size_t>(product.second)]) {
                const int choice = dag.renamed(second, product.renamed);
                if (first.contains(choice))
                    return "set " + std::to_string(s) + ": choice " + std::to_string(choice) +
                           " is in both sets of a product";
                choices[s].insert(choice);
            }
            choices[s].insert(first.begin(), first.end());
        }
    }
    return {};
}

}  // namespace cairn::search
