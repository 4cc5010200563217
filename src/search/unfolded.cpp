#include "search/unfolded.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace cairn::search {
namespace {

constexpr double without_path = std::numeric_limits<double>::infinity();

/// The sets that some are made of under one name, and what is renamed among them.
class Named {
public:
    Named(const Space& space, std::size_t sets) : space_(space), seen_(sets, false) {}

    /// `parts` and all below them, ascending, but for the empty set and the path without a choice. Calls
    /// renamed(renaming, set) for what stands under another name.
    template <typename Renamed>
    std::vector<Set> below(const std::vector<Set>& parts, const Renamed& renamed) {
        std::vector<Set> found;
        const auto see = [&](Set set) {
            if (set <= Space::done || seen_[static_cast<std::size_t>(set)]) return;
            seen_[static_cast<std::size_t>(set)] = true;
            found.push_back(set);
        };
        for (const Set part : parts) see(part);
        for (std::size_t next = 0; next < found.size(); ++next)
            for (int p = space_.first_product(found[next]); p >= 0; p = space_.product_at(p).next) {
                const Space::Product& product = space_.product_at(p);
                see(product.first);
                if (product.renamed < 0)
                    see(product.second);
                else
                    renamed(product.renamed, product.second);
            }
        std::sort(found.begin(), found.end());
        for (const Set set : found) seen_[static_cast<std::size_t>(set)] = false;
        return found;
    }

private:
    const Space& space_;
    std::vector<bool> seen_;
};

}  // namespace

Unfolded::Unfolded(const Space& space, Set set) {
    const auto sets = static_cast<std::size_t>(std::max(set, Space::done)) + 1;
    Named named(space, sets);
    std::map<int, std::vector<Set>> renamed;
    const std::vector<Set> own = named.below({set}, [&](int renaming, Set part) { renamed[renaming].push_back(part); });
    parts_.push_back({});
    std::vector<std::size_t> places(sets, 0);
    std::map<std::pair<int, Set>, std::size_t> renamed_places;
    const auto add = [&](const std::vector<Set>& all, int renaming) {
        for (const Set one : all) {
            places[static_cast<std::size_t>(one)] = parts_.size();
            const int choice = space.choice_of(one);
            for (int p = space.first_product(one); p >= 0; p = space.product_at(p).next) {
                const Space::Product& product = space.product_at(p);
                const std::size_t second = product.renamed < 0 ? places[static_cast<std::size_t>(product.second)]
                                                               : renamed_places[{product.renamed, product.second}];
                products_.push_back({places[static_cast<std::size_t>(product.first)], second});
            }
            parts_.push_back({choice < 0 ? -1 : space.renamed(choice, renaming), products_.size()});
        }
    };
    // What a renamed set is made of is not renamed in itself.
    for (const auto& [renaming, tops] : renamed) {
        add(named.below(tops, [](int, Set) {}), renaming);
        for (const Set top : tops) renamed_places[{renaming, top}] = places[static_cast<std::size_t>(top)];
    }
    add(own, -1);
    whole_ = set == Space::none ? parts_.size() : parts_.size() - 1;
    costs_.resize(parts_.size(), without_path);
    best_.resize(parts_.size(), 0);
}

double Unfolded::cheapest(std::span<const double> costs) {
    if (whole_ == parts_.size()) return without_path;
    costs_[0] = 0;
    for (std::size_t part = 1; part < parts_.size(); ++part) {
        if (const int choice = parts_[part].choice; choice >= 0) {
            costs_[part] = costs[static_cast<std::size_t>(choice)];
            continue;
        }
        double least = without_path;
        for (std::size_t p = begin(part); p < parts_[part].end; ++p)
            if (const double sum = cost(products_[p]); sum < least) least = sum, best_[part] = p;
        costs_[part] = least;
    }
    return costs_[whole_];
}

std::vector<int> Unfolded::path() const {
    std::vector<int> choices;
    for (std::vector<std::size_t> open{whole_}; !open.empty();) {
        const std::size_t part = open.back();
        open.pop_back();
        if (part == 0) continue;
        if (parts_[part].choice >= 0) {
            choices.push_back(parts_[part].choice);
            continue;
        }
        open.push_back(products_[best_[part]].first);
        open.push_back(products_[best_[part]].second);
    }
    std::sort(choices.begin(), choices.end());
    return choices;
}

std::vector<double> Unfolded::above(std::size_t choices) const {
    std::vector<double> above(choices, without_path);
    if (whole_ == parts_.size()) return above;
    // Of each part, what the cheapest of all that completes it to a path of the whole costs.
    std::vector<double> outside(parts_.size(), without_path);
    outside[whole_] = 0;
    for (std::size_t part = parts_.size(); part-- > 1;) {
        if (const int choice = parts_[part].choice; choice >= 0) {
            double& known = above[static_cast<std::size_t>(choice)];
            known = std::min(known, std::max(0.0, outside[part] + costs_[part] - costs_[whole_]));
            continue;
        }
        for (std::size_t p = begin(part); p < parts_[part].end; ++p) {
            const auto [first, second] = products_[p];
            outside[first] = std::min(outside[first], outside[part] + costs_[second]);
            outside[second] = std::min(outside[second], outside[part] + costs_[first]);
        }
    }
    return above;
}

}  // namespace cairn::search
