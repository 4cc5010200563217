#pragma once

#include "selection/search/natural.hpp"
#include "selection/search/path_dag.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

/// How many paths there are, and which is which.
namespace cairn::search {

/// Numbers the paths of a set from 0 on, in an order that the space settles (not by cost):
///
///     count(S) = sum over products of count(first) * count(second)
///     rank(S, a and b) = paths of earlier products + rank(first, a) * count(second) + rank(second, b)
///
/// so that one integer stands for a path, or for a place among them all. The same problem has the same numbers on every
/// machine.
///
///     Numbering numbering(space, set);
///     for (Natural i; i < numbering.count(); i += 1) use(*numbering.unrank(i));
class Numbering {
public:
    /// The space must outlive this object.
    Numbering(const PathDag& dag, PathSet set);

    const Natural& count() const noexcept { return counts_.back(); }
    /// The number of a path, given by its choices in any order; nothing where it is none of these.
    std::optional<Natural> rank(std::span<const int> choices) const;
    /// The path of that number; nothing where there is none, the number not being less than count().
    std::optional<Path> unrank(const Natural& number) const;
    /// A path, each as likely as any other; nothing where there is none. `random` gives 64 bits as for
    /// Natural::uniform_below.
    std::optional<Path> sample(const std::function<std::uint64_t()>& random) const;

private:
    const Natural& count(PathSet set) const { return counts_[static_cast<std::size_t>(set)]; }

    const PathDag* dag_;
    PathSet set_;
    std::vector<Natural> counts_;  // of each set that it is made of
};

}  // namespace cairn::search
