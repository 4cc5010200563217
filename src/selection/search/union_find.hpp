#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace cairn::search {

/// Disjoint sets of the numbers 0, 1, 2, ...
class UnionFind {
public:
    explicit UnionFind(int count = 0) : parents_(static_cast<std::size_t>(count)) {
        std::iota(parents_.begin(), parents_.end(), 0);
    }
    /// Adds the next number, in a set of its own.
    int add() {
        parents_.push_back(static_cast<int>(parents_.size()));
        return parents_.back();
    }
    /// The smallest number of a set, by one of its numbers.
    int root(int number) {
        while (parent(number) != number) number = parent(number) = parent(parent(number));
        return number;
    }
    /// Unites the sets of two numbers. Returns the smallest number of both.
    int unite(int a, int b) {
        a = root(a), b = root(b);
        return parent(std::max(a, b)) = std::min(a, b);
    }

private:
    int& parent(int number) { return parents_[static_cast<std::size_t>(number)]; }

    std::vector<int> parents_;
};

}  // namespace cairn::search
