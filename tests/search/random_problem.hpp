#pragma once

#include "search/problem.hpp"
#include "search/space.hpp"

#include <cstdint>
#include <vector>

namespace cairn::search::test {

/// What a random problem may have.
struct Make {
    int goals = 6;
    int alternatives = 14;    ///< of all goals
    bool provides = true;     ///< alternatives that provide further goals
    bool only_along = false;  ///< goals without an alternative of their own
    bool ties = false;        ///< many alternatives cost the same
    int layers = 1;           ///< so many equal pieces, each resting on the one before
};

/// The same problem for the same seed.
Problem random_problem(std::uint64_t seed, const Make& make);

/// All paths, by trying every alternative of what is wanted and holding each outcome against the definition of a path:
/// the cheapest first, of equal costs in the order of their choices.
std::vector<Path> all_paths(const Problem& problem);

}  // namespace cairn::search::test
