#include "selection/search/beam.hpp"

#include <algorithm>
#include <utility>

namespace cairn::search {
namespace {

// Maximum number of states kept, and of their pending goals in total.
constexpr std::size_t max_states = 512, max_goals = 1024;

}  // namespace

std::size_t beam_width(std::size_t states, std::size_t goals) {
    return std::clamp(max_goals * states / goals, std::size_t{1}, max_states);
}

std::vector<std::size_t> cheapest_indices(std::size_t count, std::size_t width,
                                          const std::function<double(std::size_t)>& cost) {
    std::vector<std::pair<double, std::size_t>> ranked;
    ranked.reserve(count);
    for (std::size_t index = 0; index < count; ++index) ranked.emplace_back(cost(index), index);
    if (width < count) {
        std::nth_element(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(width), ranked.end());
        ranked.resize(width);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::size_t> indices;
    for (const auto& [of, index] : ranked) indices.push_back(index);
    return indices;
}

}  // namespace cairn::search
