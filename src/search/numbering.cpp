#include "search/numbering.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace cairn::search {
namespace {

/// Finds a path among those of a set. Of the paths of one set at most one is part of it: two of them part where a goal
/// is decided in two ways.
class Finder {
public:
    /// `choices` ascending.
    Finder(const Space& space, const std::vector<Natural>& counts, std::vector<int> choices)
        : space_(space), counts_(counts), choices_(std::move(choices)) {}

    std::optional<Natural> find(Set set) {
        open_.push_back({{set, -1}});
        while (!open_.empty()) step();
        Part& whole = known_.at({set, -1});
        return whole.is_part && whole.size == choices_.size() ? std::optional(std::move(whole.number)) : std::nullopt;
    }

private:
    /// A set, and how its choices are renamed.
    struct Place {
        Set set;
        int renaming;
        friend bool operator==(const Place&, const Place&) = default;
    };
    struct Hash {
        std::size_t operator()(const Place& place) const noexcept {
            return static_cast<std::size_t>(place.set) << 32 ^ static_cast<unsigned>(place.renaming + 1);
        }
    };
    /// Whether a path of the set is part of the wanted one; if so which, and how many choices it has.
    struct Part {
        bool is_part = false;
        Natural number = {};
        std::size_t size = 0;
    };
    struct Open {
        Place place;
        bool begun = false;
        int product = -1;
    };

    /// What is known of a place; asks for it first where nothing is.
    const Part* part(const Place& place) {
        if (const auto it = known_.find(place); it != known_.end()) return &it->second;
        open_.push_back({place});
        return nullptr;
    }

    void close(Part part) {
        known_[open_.back().place] = std::move(part);
        open_.pop_back();
    }

    void step() {
        Open& top = open_.back();
        const auto [set, renaming] = top.place;
        if (!top.begun) {
            top.begun = true;
            top.product = space_.first_product(set);
            if (set == Space::done) return close({true});
            if (const int choice = space_.choice_of(set); choice >= 0)
                return close(
                    {std::binary_search(choices_.begin(), choices_.end(), space_.renamed(choice, renaming)), 0, 1});
        }
        if (top.product < 0) return close({});
        const Space::Product& product = space_.product_at(top.product);
        // The second one is mostly a choice: soon known.
        const Part* const second = part({product.second, product.renamed >= 0 ? product.renamed : renaming});
        if (second == nullptr) return;
        if (second->is_part) {
            const Part* const first = part({product.first, renaming});
            if (first == nullptr) return;
            if (first->is_part)
                return close({true, before(set, top.product) + first->number * count(product.second) + second->number,
                              first->size + second->size});
        }
        top.product = product.next;
    }

    /// How many paths of the set are in products before that.
    Natural before(Set set, int product) const {
        Natural paths;
        for (int p = space_.first_product(set); p != product; p = space_.product_at(p).next)
            paths += count(space_.product_at(p).first) * count(space_.product_at(p).second);
        return paths;
    }

    const Natural& count(Set set) const { return counts_[static_cast<std::size_t>(set)]; }

    const Space& space_;
    const std::vector<Natural>& counts_;
    std::vector<int> choices_;
    std::unordered_map<Place, Part, Hash> known_;
    std::vector<Open> open_;
};

}  // namespace

Numbering::Numbering(const Space& space, Set set)
    : space_(&space), set_(set), counts_(static_cast<std::size_t>(set) + 1) {
    std::vector<bool> is_part(counts_.size(), false);
    is_part.back() = true;
    for (Set s = set; s > Space::done; --s) {
        if (!is_part[static_cast<std::size_t>(s)]) continue;
        for (int p = space.first_product(s); p >= 0; p = space.product_at(p).next)
            for (const Set part : {space.product_at(p).first, space.product_at(p).second})
                is_part[static_cast<std::size_t>(part)] = true;
    }
    for (Set s = 0; s <= set; ++s) {
        if (!is_part[static_cast<std::size_t>(s)]) continue;
        Natural& count = counts_[static_cast<std::size_t>(s)];
        if (s == Space::done || space.choice_of(s) >= 0) count = 1;
        for (int p = space.first_product(s); p >= 0; p = space.product_at(p).next)
            count += this->count(space.product_at(p).first) * this->count(space.product_at(p).second);
    }
}

std::optional<Natural> Numbering::rank(std::span<const int> choices) const {
    std::vector<int> ascending(choices.begin(), choices.end());
    std::sort(ascending.begin(), ascending.end());
    if (std::adjacent_find(ascending.begin(), ascending.end()) != ascending.end()) return std::nullopt;
    return Finder(*space_, counts_, std::move(ascending)).find(set_);
}

std::optional<Path> Numbering::unrank(const Natural& number) const {
    if (number >= count()) return std::nullopt;
    struct Open {
        Set set;
        int renaming;
        Natural number;
    };
    std::vector<std::pair<int, double>> chosen;
    std::vector<Open> open;
    open.push_back({set_, -1, number});
    while (!open.empty()) {
        Open top = std::move(open.back());
        open.pop_back();
        if (const int choice = space_->choice_of(top.set); choice >= 0)
            chosen.emplace_back(space_->renamed(choice, top.renaming), space_->cost(top.set));
        for (int p = space_->first_product(top.set); p >= 0; p = space_->product_at(p).next) {
            const Space::Product& product = space_->product_at(p);
            const Natural paths = count(product.first) * count(product.second);
            if (top.number >= paths) {
                top.number -= paths;
                continue;
            }
            auto [first, second] = top.number.divided_by(count(product.second));
            open.push_back({product.first, top.renaming, std::move(first)});
            open.push_back({product.second, product.renamed >= 0 ? product.renamed : top.renaming, std::move(second)});
            break;
        }
    }
    return path_of(std::move(chosen));
}

std::optional<Path> Numbering::sample(const std::function<std::uint64_t()>& random) const {
    if (count() == 0) return std::nullopt;
    return unrank(Natural::any_below(count(), random));
}

}  // namespace cairn::search
