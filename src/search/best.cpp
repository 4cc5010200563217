#include "search/best.hpp"

#include <algorithm>
#include <tuple>

namespace cairn::search {

bool BestFirst::Pair::operator<(const Pair& other) const noexcept {
    return std::tie(cost, product, i, j) > std::tie(other.cost, other.product, other.i, other.j);
}

BestFirst::BestFirst(const Space& space, Set set)
    : space_(&space), set_(set), place_(static_cast<std::size_t>(set) + 1, -1) {}

BestFirst::Paths& BestFirst::paths_of(Set set) {
    int& place = place_[static_cast<std::size_t>(set)];
    if (place < 0) {
        place = static_cast<int>(paths_.size());
        paths_.emplace_back();
    }
    return paths_[static_cast<std::size_t>(place)];
}

bool BestFirst::has(Set set, std::size_t number) {
    return is_single(set) ? number == 0 : number < paths_of(set).found.size();
}

bool BestFirst::ended(Set set) { return is_single(set) || set == Space::none || paths_of(set).ended; }

double BestFirst::cost(Set set, std::size_t number) {
    return number == 0 ? space_->cost(set) : paths_of(set).found[number].cost;
}

/// Makes candidates of what may follow. False where more paths of another set have to be found first.
bool BestFirst::settle(Paths& paths) {
    while (!paths.following.empty()) {
        Pair& pair = paths.following.back();
        const Space::Product& product = space_->product_at(pair.product);
        for (const auto& [part, number] : {std::pair(product.first, pair.i), std::pair(product.second, pair.j)})
            // The first path of a set is known without being found.
            if (number > 0 && !has(part, number) && !ended(part)) {
                open_.push_back(part);
                return false;
            }
        const auto exists = [&](Set part, std::size_t number) { return number == 0 || has(part, number); };
        if (exists(product.first, pair.i) && exists(product.second, pair.j)) {
            pair.cost = cost(product.first, pair.i) + cost(product.second, pair.j);
            paths.candidates.push_back(pair);
            std::push_heap(paths.candidates.begin(), paths.candidates.end());
        }
        paths.following.pop_back();
    }
    return true;
}

/// Finds one more path of a set, if there is one.
void BestFirst::find_next(Set set) {
    open_.push_back(set);
    while (!open_.empty()) {
        const Set top = open_.back();
        if (ended(top)) {
            open_.pop_back();
            continue;
        }
        Paths& paths = paths_of(top);
        if (!paths.begun) {
            paths.begun = true;
            for (int p = space_->first_product(top); p >= 0; p = space_->product_at(p).next) {
                const Space::Product& product = space_->product_at(p);
                paths.candidates.push_back({space_->cost(product.first) + space_->cost(product.second), p, 0, 0});
            }
            std::make_heap(paths.candidates.begin(), paths.candidates.end());
        }
        if (!settle(paths)) continue;
        open_.pop_back();
        if (paths.candidates.empty()) {
            paths.ended = true;
            continue;
        }
        std::pop_heap(paths.candidates.begin(), paths.candidates.end());
        const Pair found = paths.candidates.back();
        paths.candidates.pop_back();
        paths.found.push_back(found);
        // Each pair follows one other pair only.
        paths.following.push_back({0, found.product, found.i, found.j + 1});
        if (found.j == 0) paths.following.push_back({0, found.product, found.i + 1, 0});
    }
}

std::optional<double> BestFirst::next() {
    if (set_ == Space::none) return std::nullopt;
    Paths& paths = paths_of(set_);
    if (is_single(set_)) {
        if (paths.ended) return std::nullopt;
        paths.ended = true;
        paths.found.push_back({space_->cost(set_), -1, 0, 0});
        return space_->cost(set_);
    }
    const std::size_t before = paths.found.size();
    find_next(set_);
    if (paths_of(set_).found.size() == before) return std::nullopt;
    return paths_of(set_).found.back().cost;
}

std::size_t BestFirst::found() const {
    const int place = place_[static_cast<std::size_t>(set_)];
    return place < 0 ? 0 : paths_[static_cast<std::size_t>(place)].found.size();
}

Path BestFirst::path(std::size_t number) const {
    struct Open {
        Set set;
        int renaming;
        std::size_t number;
    };
    Path path;
    for (std::vector<Open> open{{set_, -1, number}}; !open.empty();) {
        const Open top = open.back();
        open.pop_back();
        if (const int choice = space_->choice_of(top.set); choice >= 0) {
            path.choices.push_back(space_->renamed(choice, top.renaming));
            path.cost += space_->cost(top.set);
        }
        if (space_->first_product(top.set) < 0) continue;
        const int place = place_[static_cast<std::size_t>(top.set)];
        const bool is_found = place >= 0 && top.number < paths_[static_cast<std::size_t>(place)].found.size();
        const Pair pair = is_found ? paths_[static_cast<std::size_t>(place)].found[top.number]
                                   : Pair{0, space_->best_product(top.set), 0, 0};
        const Space::Product& product = space_->product_at(pair.product);
        open.push_back({product.first, top.renaming, pair.i});
        open.push_back({product.second, product.renamed >= 0 ? product.renamed : top.renaming, pair.j});
    }
    std::sort(path.choices.begin(), path.choices.end());
    return path;
}

}  // namespace cairn::search
