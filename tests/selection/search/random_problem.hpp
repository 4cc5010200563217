#pragma once

#include "selection/search/explore.hpp"
#include "selection/search/path_dag.hpp"
#include "selection/search/search_problem.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace cairn::search::test {

/// What a random problem may have.
struct RandomProblemOptions {
    int goals = 6;
    int alternatives = 14;    ///< of all goals
    bool provides = true;     ///< alternatives that provide further goals
    bool only_along = false;  ///< goals without an alternative of their own
    bool ties = false;        ///< many alternatives cost the same
    int layers = 1;           ///< so many equal pieces, each resting on the one before
    bool free = false;        ///< some cost nothing
};

/// The same problem for the same seed.
SearchProblem random_problem(std::uint64_t seed, const RandomProblemOptions& make);

/// Whether these choices, in any order, are a path by its definition.
bool is_path(const SearchProblem& problem, const std::vector<int>& choices);

/// Whether a path costs less than another one or, where both cost the same, its choices come before, the last one of
/// each being compared first.
bool comes_first(const Path& a, const Path& b);

/// All paths, by trying every alternative of what is wanted and holding each outcome against the definition of a path,
/// in the order of comes_first.
std::vector<Path> all_paths(const SearchProblem& problem);

/// A random problem of few paths.
struct EnumeratedProblem {
    std::uint64_t seed;
    const SearchProblem& problem;
    const std::vector<Path>& all;
    const Exploration& found;  ///< the space of all
};

/// Calls check for hundreds of problems: with goals that come along, circles, and equal layers, which are renamed parts
/// of the space.
void for_each_enumerated_problem(const std::function<void(const EnumeratedProblem&)>& check);

}  // namespace cairn::search::test
