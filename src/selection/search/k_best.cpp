#include "selection/search/k_best.hpp"

#include <algorithm>
#include <iterator>

namespace cairn::search {

KBestPaths::KBestPaths(const PathDag& dag, PathSet set)
    : dag_(&dag),
      set_(set),
      cheapest_(dag, set),
      first_(cheapest_.choices(set)),
      index_(static_cast<std::size_t>(set) + 1, -1) {}

KBestPaths::Paths& KBestPaths::paths_of(PathSet set) {
    int& index = index_[static_cast<std::size_t>(set)];
    if (index < 0) {
        index = static_cast<int>(paths_.size());
        paths_.emplace_back();
    }
    return paths_[static_cast<std::size_t>(index)];
}

/// The cheapest path of a set is known without a search.
bool KBestPaths::is_found(PathSet set, std::size_t number) {
    return number == 0 || number < paths_of(set).found.size();
}

bool KBestPaths::is_exhausted(PathSet set) { return dag_->first_product(set) < 0 || paths_of(set).is_exhausted; }

ExactCost KBestPaths::cost(PathSet set, std::size_t number) {
    return number == 0 ? cheapest_.cost(set) : paths_of(set).found[number].cost;
}

PathDifferenceView KBestPaths::difference(PathSet set, std::size_t number) {
    return number == 0 ? PathDifferenceView() : paths_of(set).found[number].difference;
}

PathDifferenceView KBestPaths::copy_to_pool(const PathDifference& difference) {
    auto* const index = std::pmr::polymorphic_allocator<>(&pool_).allocate_object<std::uint32_t>(difference.size());
    std::copy(difference.begin(), difference.end(), index);
    return {index, difference.size()};
}

void KBestPaths::begin(PathSet set, Paths& paths) {
    paths.is_started = true;
    const int best = cheapest_.product(set);
    for (int p = dag_->first_product(set); p >= 0; p = dag_->product_at(p).next) {
        paths.products.push_back({p, p == best ? PathDifferenceView() : copy_to_pool(cheapest_.difference(p, best))});
        add_candidate(paths, {static_cast<std::uint32_t>(paths.products.size() - 1), 0, 0});
    }
}

void KBestPaths::add_candidate(Paths& paths, const Pair& pair) {
    const Base& base = paths.products[pair.base];
    const PathDag::Product& product = dag_->product_at(base.product);
    const PathDifferenceView first = difference(product.first, pair.i), second = difference(product.second, pair.j);
    both_.assign(second.begin(), second.end());
    if (product.renamed >= 0)
        for (std::uint32_t& code : both_)
            code = static_cast<std::uint32_t>(dag_->renamed(static_cast<int>(code >> 1), product.renamed)) << 1 |
                   (code & 1U);
    whole_.clear();
    std::merge(first.begin(), first.end(), both_.begin(), both_.end(), std::back_inserter(whole_));
    if (!base.difference.empty()) {
        both_.swap(whole_);
        whole_.clear();
        // A choice in both differences is reverted: it is as in the cheapest path.
        std::set_symmetric_difference(base.difference.begin(), base.difference.end(), both_.begin(), both_.end(),
                                      std::back_inserter(whole_),
                                      [](std::uint32_t a, std::uint32_t b) { return a >> 1 < b >> 1; });
    }
    paths.candidates.push_back(
        {cost(product.first, pair.i) + cost(product.second, pair.j), copy_to_pool(whole_), pair});
    std::push_heap(paths.candidates.begin(), paths.candidates.end());
}

/// Makes candidates of the following pairs. False if further paths of another set must be found first.
bool KBestPaths::settle(Paths& paths) {
    while (!paths.successors.empty()) {
        const Pair pair = paths.successors.back();
        const PathDag::Product& product = dag_->product_at(paths.products[pair.base].product);
        for (const auto& [part, number] : {std::pair(product.first, pair.i), std::pair(product.second, pair.j)})
            if (!is_found(part, number) && !is_exhausted(part)) {
                open_.push_back(part);
                return false;
            }
        paths.successors.pop_back();
        if (is_found(product.first, pair.i) && is_found(product.second, pair.j)) add_candidate(paths, pair);
    }
    return true;
}

/// Finds one more path of a set, if there is one.
void KBestPaths::find_next(PathSet set) {
    open_.push_back(set);
    while (!open_.empty()) {
        const PathSet top = open_.back();
        if (is_exhausted(top)) {
            open_.pop_back();
            continue;
        }
        Paths& paths = paths_of(top);
        if (!paths.is_started) begin(top, paths);
        if (!settle(paths)) continue;
        open_.pop_back();
        if (paths.candidates.empty()) {
            paths.is_exhausted = true;
            continue;
        }
        std::pop_heap(paths.candidates.begin(), paths.candidates.end());
        const Found found = paths.candidates.back();
        paths.candidates.pop_back();
        paths.found.push_back(found);
        // Each pair is generated from one other pair only.
        const auto [base, i, j] = found.pair;
        paths.successors.push_back({base, i, j + 1});
        if (j == 0) paths.successors.push_back({base, i + 1, 0});
    }
}

std::optional<double> KBestPaths::next() {
    if (set_ == PathDag::none) return std::nullopt;
    // The first path is known at once; it is found again when the second is requested.
    while (found_ > 0 && !is_exhausted(set_) && !is_found(set_, found_)) find_next(set_);
    if (!is_found(set_, found_)) return std::nullopt;
    return cheapest_.rounded(cost(set_, found_++));
}

Path KBestPaths::path(std::size_t number) const {
    Path path{cheapest_.rounded(cheapest_.cost(set_)), first_};
    if (number == 0) return path;
    const Found& found = paths_[static_cast<std::size_t>(index_[static_cast<std::size_t>(set_)])].found[number];
    path.cost = cheapest_.rounded(found.cost);
    path.choices.clear();
    auto choice = first_.begin();
    for (const std::uint32_t code : found.difference) {
        const int changed = static_cast<int>(code >> 1);
        while (choice != first_.end() && *choice < changed) path.choices.push_back(*choice++);
        if ((code & 1U) == 0)
            path.choices.push_back(changed);
        else
            ++choice;
    }
    path.choices.insert(path.choices.end(), choice, first_.end());
    return path;
}

}  // namespace cairn::search
