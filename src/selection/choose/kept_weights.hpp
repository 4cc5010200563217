#pragma once

#include "selection/choose/producers.hpp"

#include <deque>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

/// What programs keep of weights in memory.
namespace cairn::selection {

/// The bound values that programs may keep, each in each of its forms, by number: those of two programs are the same
/// where they are made alike from the same weights.
class KeptWeights {
public:
    KeptWeights(std::span<const Bucket> buckets, const std::deque<Producers>& producers);

    /// The number of what a goal of a bucket's ways keeps; -1 where it keeps nothing.
    int form(std::size_t bucket, int goal) const { return of_goals_[bucket][static_cast<std::size_t>(goal)]; }
    int size() const noexcept { return static_cast<int>(forms_.size()); }
    /// How many buckets may read it.
    int readers(int form) const { return forms_[static_cast<std::size_t>(form)].readers; }
    /// Whether what it is made of may be kept in another form. One without a rival is kept whatever is chosen: the
    /// values of a graph all lead to its outputs.
    bool has_other_form(int form) const { return forms_[static_cast<std::size_t>(form)].has_other_form; }

private:
    struct Form {
        int family;
        int readers = 0;
        bool has_other_form = true;
    };

    void add(const Bucket& bucket, const Producers& producers);
    int root_of(int family);
    int merged(int a, int b);
    int family_of_weight(std::string_view bound_digest);

    std::vector<Form> forms_;
    std::vector<std::vector<int>> of_goals_;                                         // of each bucket
    std::map<std::tuple<std::string_view, std::string_view, Device>, int> numbers_;  // by origin and place
    // Weights that some value is made of together are a family.
    std::map<std::string_view, int> weights_;  // families, by origin
    std::vector<int> parent_;                  // of each family, to one it is joined with
};

}  // namespace cairn::selection
