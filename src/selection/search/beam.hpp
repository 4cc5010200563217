#pragma once

#include <cstddef>
#include <functional>
#include <vector>

/// What is followed further where a search has become too much work to be exact: the cheapest of all that was reached.
namespace cairn::search {

/// How many of so many states with so many pending goals in all are followed: at most 512, and fewer where each has
/// many goals.
std::size_t beam_width(std::size_t states, std::size_t goals);

/// The places of the `width` cheapest of `count`, the cheapest first, of equal ones the first. Takes a time in
/// proportion to `count`, however many they are.
std::vector<std::size_t> cheapest_places(std::size_t count, std::size_t width,
                                         const std::function<double(std::size_t)>& cost);

}  // namespace cairn::search
