#pragma once

#include "selection/search/natural.hpp"
#include "selection/search/path_dag.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

/// Counting, ranking, unranking and sampling of paths.
namespace cairn::search {

/// Numbers the paths of a set from 0 on, in an order given by the DAG (not by cost):
///
///     count(S) = sum over products of count(first) * count(second)
///     rank(S, a and b) = paths of earlier products + rank(first, a) * count(second) + rank(second, b)
///
/// so that an integer represents a path, or a position among all. The same problem has the same numbers on every
/// machine.
///
///     Numbering numbering(dag, set);
///     for (Natural i; i < numbering.count(); i += 1) use(*numbering.unrank(i));
class Numbering {
public:
    /// The DAG must outlive this object.
    Numbering(const PathDag& dag, PathSet set);

    const Natural& count() const noexcept { return counts_.back(); }
    /// The number of a path, given by its choices in any order; empty if it is not in the set.
    std::optional<Natural> rank(std::span<const int> choices) const;
    /// The path of a number; empty if the number is not less than count().
    std::optional<Path> unrank(const Natural& number) const;
    /// A uniformly random path; empty if there is none. `random` gives 64 bits as for Natural::uniform_below.
    std::optional<Path> sample(const std::function<std::uint64_t()>& random) const;

private:
    const Natural& count(PathSet set) const { return counts_[static_cast<std::size_t>(set)]; }

    const PathDag* dag_;
    PathSet set_;
    std::vector<Natural> counts_;  // of each set below set_
};

}  // namespace cairn::search
