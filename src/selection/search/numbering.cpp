#include "selection/search/numbering.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace cairn::search {
namespace {

/// Finds a path among those of a set. At most one path of a set is part of it: two paths of one set decide some goal
/// differently.
class Finder {
public:
    /// `choices` ascending.
    Finder(const PathDag& dag, const std::vector<Natural>& counts, std::vector<int> choices)
        : dag_(dag), counts_(counts), choices_(std::move(choices)) {}

    std::optional<Natural> find(PathSet set) {
        open_.push_back({{set, -1}});
        while (!open_.empty()) step();
        PartialRank& whole = known_.at({set, -1});
        return whole.is_part && whole.size == choices_.size() ? std::optional(std::move(whole.number)) : std::nullopt;
    }

private:
    /// A set, and the renaming of its choices.
    struct RenamedSet {
        PathSet set;
        int renaming;
        friend bool operator==(const RenamedSet&, const RenamedSet&) = default;
    };
    struct Hash {
        std::size_t operator()(const RenamedSet& renamed_set) const noexcept {
            return static_cast<std::size_t>(renamed_set.set) << 32 ^ static_cast<unsigned>(renamed_set.renaming + 1);
        }
    };
    /// True if a path of the set is part of the wanted one; then its number and its number of choices.
    struct PartialRank {
        bool is_part = false;
        Natural number = {};
        std::size_t size = 0;
    };
    struct Open {
        RenamedSet renamed_set;
        bool begun = false;
        int product = -1;
    };

    /// The result of a place; schedules it and returns null if it is not known yet.
    const PartialRank* part(const RenamedSet& renamed_set) {
        if (const auto it = known_.find(renamed_set); it != known_.end()) return &it->second;
        open_.push_back({renamed_set});
        return nullptr;
    }

    void close(PartialRank part) {
        known_[open_.back().renamed_set] = std::move(part);
        open_.pop_back();
    }

    void step() {
        Open& top = open_.back();
        const auto [set, renaming] = top.renamed_set;
        if (!top.begun) {
            top.begun = true;
            top.product = dag_.first_product(set);
            if (set == PathDag::empty_path) return close({true});
            if (const int choice = dag_.choice_of(set); choice >= 0)
                return close(
                    {std::binary_search(choices_.begin(), choices_.end(), dag_.renamed(choice, renaming)), 0, 1});
        }
        if (top.product < 0) return close({});
        const PathDag::Product& product = dag_.product_at(top.product);
        // The second set is mostly a choice and therefore known soon.
        const PartialRank* const second = part({product.second, product.renamed >= 0 ? product.renamed : renaming});
        if (second == nullptr) return;
        if (second->is_part) {
            const PartialRank* const first = part({product.first, renaming});
            if (first == nullptr) return;
            if (first->is_part)
                return close({true, before(set, top.product) + first->number * count(product.second) + second->number,
                              first->size + second->size});
        }
        top.product = product.next;
    }

    /// Number of paths of the set in earlier products.
    Natural before(PathSet set, int product) const {
        Natural paths;
        for (int p = dag_.first_product(set); p != product; p = dag_.product_at(p).next)
            paths += count(dag_.product_at(p).first) * count(dag_.product_at(p).second);
        return paths;
    }

    const Natural& count(PathSet set) const { return counts_[static_cast<std::size_t>(set)]; }

    const PathDag& dag_;
    const std::vector<Natural>& counts_;
    std::vector<int> choices_;
    std::unordered_map<RenamedSet, PartialRank, Hash> known_;
    std::vector<Open> open_;
};

}  // namespace

Numbering::Numbering(const PathDag& dag, PathSet set)
    : dag_(&dag), set_(set), counts_(static_cast<std::size_t>(set) + 1) {
    std::vector<bool> is_part(counts_.size(), false);
    is_part.back() = true;
    for (PathSet s = set; s > PathDag::empty_path; --s) {
        if (!is_part[static_cast<std::size_t>(s)]) continue;
        for (int p = dag.first_product(s); p >= 0; p = dag.product_at(p).next)
            for (const PathSet part : {dag.product_at(p).first, dag.product_at(p).second})
                is_part[static_cast<std::size_t>(part)] = true;
    }
    for (PathSet s = 0; s <= set; ++s) {
        if (!is_part[static_cast<std::size_t>(s)]) continue;
        Natural& count = counts_[static_cast<std::size_t>(s)];
        if (s == PathDag::empty_path || dag.choice_of(s) >= 0) count = 1;
        for (int p = dag.first_product(s); p >= 0; p = dag.product_at(p).next)
            count += this->count(dag.product_at(p).first) * this->count(dag.product_at(p).second);
    }
}

std::optional<Natural> Numbering::rank(std::span<const int> choices) const {
    std::vector<int> ascending(choices.begin(), choices.end());
    std::sort(ascending.begin(), ascending.end());
    if (std::adjacent_find(ascending.begin(), ascending.end()) != ascending.end()) return std::nullopt;
    return Finder(*dag_, counts_, std::move(ascending)).find(set_);
}

std::optional<Path> Numbering::unrank(const Natural& number) const {
    if (number >= count()) return std::nullopt;
    struct Open {
        PathSet set;
        int renaming;
        Natural number;
    };
    std::vector<std::pair<int, double>> chosen;
    std::vector<Open> open;
    open.push_back({set_, -1, number});
    while (!open.empty()) {
        Open top = std::move(open.back());
        open.pop_back();
        if (const int choice = dag_->choice_of(top.set); choice >= 0)
            chosen.emplace_back(dag_->renamed(choice, top.renaming), dag_->cost(top.set));
        for (int p = dag_->first_product(top.set); p >= 0; p = dag_->product_at(p).next) {
            const PathDag::Product& product = dag_->product_at(p);
            const Natural paths = count(product.first) * count(product.second);
            if (top.number >= paths) {
                top.number -= paths;
                continue;
            }
            auto [first, second] = top.number.divmod(count(product.second));
            open.push_back({product.first, top.renaming, std::move(first)});
            open.push_back({product.second, product.renamed >= 0 ? product.renamed : top.renaming, std::move(second)});
            break;
        }
    }
    return path_of(std::move(chosen));
}

std::optional<Path> Numbering::sample(const std::function<std::uint64_t()>& random) const {
    if (count() == 0) return std::nullopt;
    return unrank(Natural::uniform_below(count(), random));
}

}  // namespace cairn::search
