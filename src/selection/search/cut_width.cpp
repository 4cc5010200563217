#include "selection/search/cut_width.hpp"

#include <algorithm>
#include <numeric>

namespace cairn::search {

void CutWidths::pass(std::size_t first, std::size_t last, int weight) {
    if (first >= last) return;
    width_changes_[first + 1] += weight;
    if (last + 1 < width_changes_.size()) width_changes_[last + 1] -= weight;
}

CutWidths::NarrowCuts CutWidths::narrow(int wider) const {
    std::vector<int> width(width_changes_.size());
    std::partial_sum(width_changes_.begin(), width_changes_.end(), width.begin());
    const std::size_t position_count = width.size() - 1;
    const auto quarter = static_cast<std::ptrdiff_t>(position_count / 4);
    NarrowCuts narrow;
    narrow.width = *std::min_element(width.begin() + quarter, width.end() - quarter);
    for (std::size_t border = 1; border < position_count; ++border)
        if (width[border] <= narrow.width + wider) {
            narrow.borders.push_back(border);
            narrow.widths.push_back(width[border]);
        }
    return narrow;
}

}  // namespace cairn::search
