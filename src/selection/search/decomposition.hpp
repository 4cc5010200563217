#pragma once

#include "selection/search/explore.hpp"

#include <span>
#include <string>

/// Problems of several sides that meet in shared goals: programs that meet in the forms of the weights they keep.
namespace cairn::search {

inline constexpr int shared = -1;

/// As explore() for one of the cheapest paths, where the goals belong to sides: `subproblem_of` tells of each goal the
/// number of its side, or `shared`. What goals of a side rest on and provide is theirs, or shared; a shared goal is no
/// root and has one alternative that rests on nothing and provides nothing.
///
/// Each side is searched for itself: what a shared goal costs is divided among the sides that may need it, so the
/// cheapest paths of all sides together cost no more than the cheapest path of the whole; and an alternative whose own
/// side's cheapest path with it lies further above that sum than a known path of the whole is in no better one. What is
/// left is searched together. The dearer the sum, the less is left: where a side needs a goal that others leave alone,
/// its share of that goal grows. All paths of a side are found once; they are then asked what is cheapest at other
/// shares. Goals that stand in the same places of equal layers have equal shares, so that such a layer is asked once;
/// where that proves nothing, each has shares of its own. Where that shows no path to be one of the cheapest, all sides
/// are searched together.
/// (Lagrangian decomposition with reduced-cost fixing: Guignard and Kim, "Lagrangean decomposition", Mathematical
/// Programming 39, 1987; steps as long as Polyak's, "Minimization of unsmooth functionals", 1969.)
Exploration explore_decomposed(const SearchProblem& problem, std::span<const int> subproblem_of,
                               const Options& options = {});

/// The first thing wrong with the sides; empty when all is well.
std::string fault_of_decomposition(const SearchProblem& problem, std::span<const int> subproblem_of);

}  // namespace cairn::search
