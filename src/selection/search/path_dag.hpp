#pragma once

#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// All paths of a problem in little room: sets of paths, made of other sets.
namespace cairn::search {

/// A set of partial paths, by its number in a Space.
using PathSet = int;

/// A path or part of one: choices, ascending, and the sum of their costs.
struct Path {
    double cost = 0;
    std::vector<int> choices;
    friend bool operator==(const Path&, const Path&) = default;
};

/// The path of these choices, given each with its cost. Costs are added in the order of the choices.
Path path_of(std::vector<std::pair<int, double>> chosen);

/// Sets of paths. A set is one choice; or a sum of products: of each product, every path of its first set together with
/// every path of its second. The products of a sum share no path, and the two sets of a product no choice, so that
///
///     least(S) = min over products of least(first) + least(second)
///     count(S) = sum over products of count(first) * count(second)
///
/// and likewise for whatever else is asked of all paths: the k best, the i-th, any one of them. Sets are made bottom
/// up: those of a product have smaller numbers than the sum. (Darwiche calls such a form deterministic and
/// decomposable: "Decomposable negation normal form", JACM 2001.)
class PathDag {
public:
    static constexpr PathSet none = 0;        ///< no path
    static constexpr PathSet empty_path = 1;  ///< one path, without a choice

    /// With `only_cheapest` each sum keeps the first of its cheapest products only.
    explicit PathDag(bool only_cheapest = false) : only_cheapest_(only_cheapest) {}

    /// A sum that is being made.
    struct Sum {
        int first = -1, last = -1, best = -1;  // products
        double cost = std::numeric_limits<double>::infinity();
    };
    /// One product. `renamed` says which choices those of `second` stand for: a number of rename(), or -1 for
    /// themselves; and then, where they may move, for those so much `shift` on.
    struct Product {
        PathSet first = empty_path, second = empty_path;
        int renamed = -1;
        int next = -1;
        int shift = 0;
    };

    PathSet choice(int choice, double cost);
    /// Adds a product, unless one of its sets is empty.
    void add(Sum& sum, PathSet first, PathSet second = empty_path, int renamed = -1, int shift = 0);
    PathSet set_of(const Sum& sum);
    PathSet product(PathSet first, PathSet second);
    /// All of them together, joined two by two: what they are made of is never deep below.
    PathSet product(std::span<const PathSet> sets);
    /// What such a product costs, of sets that cost so much: to the bit.
    static double cost_of_product(std::span<const double> costs);
    /// Pairs of a choice and what it stands for elsewhere, in the same order there. What a renamed set is made of must
    /// not be renamed in itself.
    int rename(std::vector<std::pair<int, int>> choices);
    /// Calls every choice c names[c] instead, wherever it stands; the names ascend.
    void rename_all(const std::vector<int>& names);

    /// Choices from this one on may stand for others further on. Sets in which some do are for cheapest() and Unfolded.
    void shift_from(int choice) { first_shifted_ = choice; }

    /// How many sets and products there are so far.
    struct Extent {
        std::size_t sets, products;
    };
    Extent extent() const noexcept { return {nodes_.size(), products_.size()}; }
    /// Makes all that was made between the two once more, of choices that lie so much further on; sets and products
    /// from before stay themselves, and nothing of it is renamed. Returns how much further on the new sets lie.
    int repeat(Extent begin, Extent end, int shift);

    /// The same sets, each cost taken times -1: the cheapest paths there are the dearest here. For spaces of all paths.
    PathDag negated() const;

    std::size_t size() const noexcept { return nodes_.size(); }
    /// Of its cheapest path; infinite where there is none.
    double cost(PathSet set) const { return at(set).cost; }
    /// Where the set is one choice: which; else -1.
    int choice_of(PathSet set) const { return at(set).choice; }
    /// The products of a sum by number: the first, and those that follow; -1 where there are no more.
    int first_product(PathSet set) const { return at(set).first; }
    int best_product(PathSet set) const { return at(set).best; }
    const Product& product_at(int number) const { return products_[static_cast<std::size_t>(number)]; }
    /// What a choice is called under a renaming.
    int renamed(int choice, int renaming) const;
    /// Its pairs, ascending.
    const std::vector<std::pair<int, int>>& names_of(int renaming) const {
        return renamings_[static_cast<std::size_t>(renaming)];
    }
    int renamings() const noexcept { return static_cast<int>(renamings_.size()); }
    /// What a choice is called so much further on.
    int shifted(int choice, int shift) const { return may_shift(choice) ? choice + shift : choice; }
    bool may_shift(int choice) const { return choice >= first_shifted_; }

    /// One of its cheapest paths. The set must not be empty.
    Path cheapest(PathSet set) const;

private:
    struct Node {
        double cost;
        int choice, first, best;
    };
    const Node& at(PathSet set) const { return nodes_[static_cast<std::size_t>(set)]; }

    bool only_cheapest_;
    int first_shifted_ = std::numeric_limits<int>::max();
    std::vector<Node> nodes_{{std::numeric_limits<double>::infinity(), -1, -1, -1}, {0, -1, -1, -1}};
    std::vector<Product> products_;
    std::vector<std::vector<std::pair<int, int>>> renamings_;
};

/// The first thing wrong with what `set` is made of; empty when all is well: sets of products have smaller numbers, and
/// no two sets of a product can have a choice in common.
std::string fault(const PathDag& dag, PathSet set);

}  // namespace cairn::search
