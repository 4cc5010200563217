#pragma once

#include "search/problem.hpp"
#include "tests/search/random_problem.hpp"

#include <cstdint>
#include <vector>

namespace cairn::search::test {

/// A problem of several sides.
struct Meeting {
    Problem problem;
    std::vector<int> side_of;
};

/// Several random problems, whose alternatives may need shared goals as well. Of what it is made a number tells.
Meeting random_meeting(std::uint64_t seed);

/// Sides in layers, each of which may read one of several forms of a weight of the layer: more states than may be
/// looked at.
Meeting layers_of_forms(std::uint64_t seed, int layers, int weights, int forms, int sides);

}  // namespace cairn::search::test
