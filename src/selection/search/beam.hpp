#pragma once

#include <cstddef>
#include <functional>
#include <vector>

/// Beam search: keeps the cheapest states once an exact search has become too much work.
namespace cairn::search {

/// The number of states to keep, of `states` with `goals` pending goals in total: at most 512, and fewer if each has
/// many goals.
std::size_t beam_width(std::size_t states, std::size_t goals);

/// The indices of the `width` cheapest of `count` items in ascending cost; of equal costs the first. Selection is
/// linear in `count`; only the result is sorted.
std::vector<std::size_t> cheapest_indices(std::size_t count, std::size_t width,
                                          const std::function<double(std::size_t)>& cost);

}  // namespace cairn::search
