#pragma once

#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// Path DAG: a d-DNNF (AND/OR graph) that represents all paths of a problem compactly.
namespace cairn::search {

/// A set of partial paths; its number in a PathDag.
using PathSet = int;

/// A path or a part of one: choices, ascending, and the sum of their costs.
struct Path {
    double cost = 0;
    std::vector<int> choices;
    friend bool operator==(const Path&, const Path&) = default;
};

/// The path of these (choice, cost) pairs. Costs are added in the order of the choices.
Path path_of(std::vector<std::pair<int, double>> chosen);

/// Sets of paths. A set is one choice, or a sum (OR) of products (AND). A product has every path of its first set
/// joined with every path of its second. The products of a sum share no path (deterministic), and the two sets of a
/// product no choice (decomposable), so that
///
///     least(S) = min over products of least(first) + least(second)
///     count(S) = sum over products of count(first) * count(second)
///
/// and likewise for other queries: the k best paths, the i-th path, a random one. Sets are built bottom-up: the sets of
/// a product have smaller numbers than the sum. (Darwiche, "Decomposable negation normal form", JACM 2001.)
class PathDag {
public:
    static constexpr PathSet none = 0;        ///< no path
    static constexpr PathSet empty_path = 1;  ///< one path, without choices

    /// With `only_cheapest` each sum keeps only the first of its cheapest products.
    explicit PathDag(bool only_cheapest = false) : only_cheapest_(only_cheapest) {}

    /// A sum under construction.
    struct Sum {
        int first = -1, last = -1, best = -1;  // products
        double cost = std::numeric_limits<double>::infinity();
    };
    /// One product. `renamed` is the renaming applied to the choices of `second`, a number from rename(), or -1 for
    /// none.
    struct Product {
        PathSet first = empty_path, second = empty_path;
        int renamed = -1;
        int next = -1;
    };

    PathSet choice(int choice, double cost);
    /// Adds a product, unless one of its sets is empty.
    void add(Sum& sum, PathSet first, PathSet second = empty_path, int renamed = -1);
    PathSet set_of(const Sum& sum);
    PathSet product(PathSet first, PathSet second);
    /// Balanced product of all sets: its depth is logarithmic.
    PathSet product(std::span<const PathSet> sets);
    /// The cost of that product for sets of these costs, bit-identical.
    static double cost_of_product(std::span<const double> costs);
    /// Adds a renaming: pairs of a choice and its new number, which preserve the order. A renamed set must not contain
    /// renamed sets.
    int add_renaming(std::vector<std::pair<int, int>> choices);
    /// Replaces every choice c by names[c], in renamings too; `names` ascends.
    void rename_all(const std::vector<int>& names);

    /// Number of sets and products so far.
    struct Extent {
        std::size_t sets, products;
    };
    Extent extent() const noexcept { return {nodes_.size(), products_.size()}; }
    /// Copies everything built between two extents, with `shift` added to its choices. References to earlier sets and
    /// products stay. Precondition: the range has no renaming. Returns the offset of the new sets.
    int repeat(Extent begin, Extent end, int shift);

    /// The same sets with negated costs: its cheapest paths are the most expensive ones here. For DAGs of all paths.
    PathDag negated() const;

    std::size_t size() const noexcept { return nodes_.size(); }
    /// Of the set's cheapest path; infinite if it is empty.
    double cost(PathSet set) const { return at(set).cost; }
    /// The choice of a set that is one choice; otherwise -1.
    int choice_of(PathSet set) const { return at(set).choice; }
    /// The products of a sum by number: the first, then Product::next; -1 after the last.
    int first_product(PathSet set) const { return at(set).first; }
    int best_product(PathSet set) const { return at(set).best; }
    const Product& product_at(int number) const { return products_[static_cast<std::size_t>(number)]; }
    /// The number of a choice under a renaming; -1: itself.
    int renamed(int choice, int renaming) const;
    /// Its pairs, ascending.
    const std::vector<std::pair<int, int>>& renaming_pairs(int renaming) const {
        return renamings_[static_cast<std::size_t>(renaming)];
    }
    int renamings() const noexcept { return static_cast<int>(renamings_.size()); }

    /// One of the set's cheapest paths. Precondition: the set is not empty.
    Path cheapest(PathSet set) const;

private:
    struct Node {
        double cost;
        int choice, first, best;
    };
    const Node& at(PathSet set) const { return nodes_[static_cast<std::size_t>(set)]; }

    bool only_cheapest_;
    std::vector<Node> nodes_{{std::numeric_limits<double>::infinity(), -1, -1, -1}, {0, -1, -1, -1}};
    std::vector<Product> products_;
    std::vector<std::vector<std::pair<int, int>>> renamings_;
};

/// The first fault of the DAG below `set`; empty if there is none: sets of products have smaller numbers, and the two
/// sets of a product can have no choice in common.
std::string fault(const PathDag& dag, PathSet set);

}  // namespace cairn::search
