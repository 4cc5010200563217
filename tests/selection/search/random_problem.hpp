#pragma once

#include "selection/search/explore.hpp"
#include "selection/search/path_dag.hpp"
#include "selection/search/search_problem.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace cairn::search::test {

/// The properties of a random problem.
struct RandomProblemOptions {
    int goals = 6;
    int alternatives = 14;    ///< of all goals
    bool provides = true;     ///< alternatives that provide further goals
    bool only_along = false;  ///< goals that are only provided
    bool ties = false;        ///< many alternatives cost the same
    int layers = 1;           ///< number of equal layers, each depending on the one before
    bool free = false;        ///< some cost nothing
};

/// Deterministic: the same problem for the same seed.
SearchProblem random_problem(std::uint64_t seed, const RandomProblemOptions& make);

/// True if these choices, in any order, are a path by its definition.
bool is_path(const SearchProblem& problem, const std::vector<int>& choices);

/// True if a path costs less than another one or, at equal costs, precedes it in the order of choices, compared from
/// the last one on.
bool comes_first(const Path& a, const Path& b);

/// All paths, found by trying every alternative of each wanted goal and checking the outcome against the definition of
/// a path; in the order of comes_first.
std::vector<Path> all_paths(const SearchProblem& problem);

/// A random problem of few paths.
struct EnumeratedProblem {
    std::uint64_t seed;
    const SearchProblem& problem;
    const std::vector<Path>& all;
    const Exploration& found;  ///< the DAG of all paths
};

/// Calls check for hundreds of problems: with provided goals, cycles, and equal layers, which are renamed parts of the
/// DAG.
void for_each_enumerated_problem(const std::function<void(const EnumeratedProblem&)>& check);

}  // namespace cairn::search::test
