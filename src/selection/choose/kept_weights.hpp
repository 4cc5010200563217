#pragma once

#include "selection/choose/producers.hpp"
#include "selection/search/union_find.hpp"

#include <deque>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

/// The forms of weights that programs keep in memory.
namespace cairn::selection {

/// Numbers the bound values that programs may keep, each in each of its forms. Values of two programs have the same
/// number if they are computed alike from the same weights.
class KeptWeights {
public:
    KeptWeights(std::span<const Bucket> buckets, const std::deque<Producers>& producers);

    /// The number of the form that a goal of a bucket keeps; -1 if it keeps none.
    int form(std::size_t bucket, int goal) const { return of_goals_[bucket][static_cast<std::size_t>(goal)]; }
    int size() const noexcept { return static_cast<int>(forms_.size()); }
    /// Number of buckets that may read it.
    int readers(int form) const { return forms_[static_cast<std::size_t>(form)].readers; }
    /// True if the weights it is computed from may be kept in another form. A form without an alternative is always
    /// kept: all values of a graph lead to its outputs.
    bool has_other_form(int form) const { return forms_[static_cast<std::size_t>(form)].has_other_form; }

private:
    struct Form {
        int family;
        int readers = 0;
        bool has_other_form = true;
    };

    void add(const Bucket& bucket, const Producers& producers);
    int merged(int a, int b);
    int family_of_weight(std::string_view bound_digest);

    std::vector<Form> forms_;
    std::vector<std::vector<int>> of_goals_;                                         // of each bucket
    std::map<std::tuple<std::string_view, std::string_view, Device>, int> numbers_;  // by bound digest and place
    // Weights that some value is computed from together form a family.
    std::map<std::string_view, int> weights_;  // families, by bound digest
    search::UnionFind families_;
};

}  // namespace cairn::selection
