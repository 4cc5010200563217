#include "search/unfolded.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

namespace cairn::search {
namespace {

constexpr double without_path = std::numeric_limits<double>::infinity();

/// The sets that some are made of under one name.
class Below {
public:
    Below(const Space& space, Set highest)
        : space_(space), seen_(static_cast<std::size_t>(std::max(highest, Space::done)) + 1, false) {}

    /// `tops` and all below them, ascending, but for the empty set and the path without a choice. Calls
    /// renamed(renaming, set) for what stands under another name.
    template <typename Renamed>
    std::vector<Set> operator()(const std::vector<Set>& tops, const Renamed& renamed) {
        std::vector<Set> found;
        const auto see = [&](Set set) {
            if (set <= Space::done || seen_[static_cast<std::size_t>(set)]) return;
            seen_[static_cast<std::size_t>(set)] = true;
            found.push_back(set);
        };
        for (const Set top : tops) see(top);
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

std::size_t hash_of(std::size_t hash, std::size_t value) { return (hash ^ value) * 0x9e3779b97f4a7c15ULL ^ hash >> 29; }

}  // namespace

std::size_t Unfolded::Named::part_of(Set set) const {
    if (set == Space::done) return 0;
    if (!places.empty()) return places[static_cast<std::size_t>(set)];
    return parts[static_cast<std::size_t>(std::lower_bound(sets.begin(), sets.end(), set) - sets.begin())];
}

Unfolded::Unfolded(std::shared_ptr<const Space> space, Set set, std::span<const int> kinds)
    : space_(std::move(space)), set_(set) {
    parts_.push_back({});
    Below below(*space_, set_);
    std::map<Renaming, std::vector<Set>> renamed;
    own_.sets = below({set_}, [&](Renaming renaming, Set part) { renamed[renaming].push_back(part); });
    // What a renamed set is made of is not renamed in itself.
    const auto none_renamed = [](Renaming, Set) {};
    names_.resize(static_cast<std::size_t>(space_->renamings()), 0);
    // Where choices of the same kinds take the places of others, all that is made of them is alike.
    std::map<std::vector<std::pair<int, int>>, std::vector<Renaming>> alike;
    const auto kind_of = [&](int choice) { return kinds.empty() ? choice : kinds[static_cast<std::size_t>(choice)]; };
    for (const auto& [renaming, tops] : renamed) {
        std::vector<std::pair<int, int>> names = space_->names_of(renaming);
        for (auto& [choice, name] : names) name = kind_of(name);
        alike[std::move(names)].push_back(renaming);
    }
    for (const auto& [names, renamings] : alike) {
        std::vector<Set> tops;
        for (const Renaming renaming : renamings) {
            tops.insert(tops.end(), renamed[renaming].begin(), renamed[renaming].end());
            names_[static_cast<std::size_t>(renaming)] = named_.size();
        }
        Named& named = named_.emplace_back();
        named.sets = below(tops, none_renamed);
        add_parts(named, [&](int choice) { return kind_of(space_->renamed(choice, renamings.front())); });
    }
    own_.places.resize(static_cast<std::size_t>(std::max(set_, Space::done)) + 1, 0);
    add_parts(own_, kind_of);
    whole_ = set == Space::none ? parts_.size() : own_.part_of(set_);
    costs_.resize(parts_.size(), without_path);
    best_.resize(parts_.size(), 0);
}

template <typename KindOf>
void Unfolded::add_parts(Named& named, const KindOf& kind_of) {
    std::vector<Product> made_of;
    const auto add = [&](Set set, std::size_t part) {
        named.parts.push_back(part);
        if (!named.places.empty()) named.places[static_cast<std::size_t>(set)] = part;
    };
    for (const Set set : named.sets) {
        if (const int choice = space_->choice_of(set); choice >= 0) {
            add(set, add_choice(kind_of(choice)));
            continue;
        }
        made_of.clear();
        for (int p = space_->first_product(set); p >= 0; p = space_->product_at(p).next) {
            const Space::Product& product = space_->product_at(p);
            made_of.push_back({named.part_of(product.first), named_as(product, named).part_of(product.second)});
        }
        add(set, add_sum(made_of));
    }
}

/// Where the second set of a product stands that is itself among these.
const Unfolded::Named& Unfolded::named_as(const Space::Product& product, const Named& among) const {
    return product.renamed < 0 ? among : named_[names_[static_cast<std::size_t>(product.renamed)]];
}

std::size_t Unfolded::add_choice(int kind) {
    const auto [it, fresh] = choices_.try_emplace(kind, parts_.size());
    if (fresh) parts_.push_back({kind, products_.size()});
    return it->second;
}

std::size_t Unfolded::add_sum(std::span<const Product> made_of) {
    std::size_t hash = made_of.size();
    for (const Product& product : made_of) hash = hash_of(hash_of(hash, product.first), product.second);
    const auto [first, last] = alike_.equal_range(hash);
    for (auto known = first; known != last; ++known) {
        const std::size_t part = known->second;
        if (std::ranges::equal(std::span(products_).subspan(begin(part), parts_[part].end - begin(part)), made_of))
            return part;
    }
    products_.insert(products_.end(), made_of.begin(), made_of.end());
    parts_.push_back({-1, products_.size()});
    alike_.emplace(hash, parts_.size() - 1);
    return parts_.size() - 1;
}

double Unfolded::cheapest(std::span<const double> costs) {
    if (whole_ == parts_.size()) return without_path;
    costs_[0] = 0;
    for (std::size_t part = 1; part < parts_.size(); ++part) {
        if (const int kind = parts_[part].kind; kind >= 0) {
            costs_[part] = costs[static_cast<std::size_t>(kind)];
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
    struct Open {
        Set set;
        const Named* named;
        Renaming renaming;
        int further;
    };
    std::vector<int> choices;
    for (std::vector<Open> open{{set_, &own_, -1, 0}}; !open.empty();) {
        const auto [set, named, renaming, further] = open.back();
        open.pop_back();
        if (set <= Space::done) continue;
        if (const int choice = space_->choice_of(set); choice >= 0) {
            choices.push_back(space_->moved(space_->renamed(choice, renaming), further));
            continue;
        }
        const std::size_t part = named->part_of(set);
        int number = space_->first_product(set);
        for (std::size_t p = begin(part); p < best_[part]; ++p) number = space_->product_at(number).next;
        const Space::Product& best = space_->product_at(number);
        open.push_back({best.first, named, renaming, further});
        open.push_back(
            {best.second, &named_as(best, *named), best.renamed < 0 ? renaming : best.renamed, further + best.further});
    }
    std::sort(choices.begin(), choices.end());
    return choices;
}

std::vector<int> Unfolded::taken(std::size_t kinds) const {
    std::vector<int> taken(kinds, 0);
    if (whole_ == parts_.size()) return taken;
    std::vector<int> times(parts_.size(), 0);
    times[whole_] = 1;
    for (std::size_t part = whole_ + 1; part-- > 1;) {
        if (times[part] == 0) continue;
        if (const int kind = parts_[part].kind; kind >= 0) {
            taken[static_cast<std::size_t>(kind)] += times[part];
            continue;
        }
        times[products_[best_[part]].first] += times[part];
        times[products_[best_[part]].second] += times[part];
    }
    return taken;
}

std::vector<double> Unfolded::above(std::size_t kinds) const {
    std::vector<double> above(kinds, without_path);
    if (whole_ == parts_.size()) return above;
    // Of each part, what the cheapest of all that completes it to a path of the whole costs.
    std::vector<double> outside(parts_.size(), without_path);
    outside[whole_] = 0;
    for (std::size_t part = parts_.size(); part-- > 1;) {
        if (const int kind = parts_[part].kind; kind >= 0) {
            double& known = above[static_cast<std::size_t>(kind)];
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
