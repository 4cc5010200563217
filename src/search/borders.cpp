#include "search/borders.hpp"

#include <algorithm>
#include <numeric>

namespace cairn::search {

void Borders::pass(std::size_t first, std::size_t last, int weight) {
    if (first >= last) return;
    passing_[first + 1] += weight;
    if (last + 1 < passing_.size()) passing_[last + 1] -= weight;
}

Borders::Narrow Borders::narrow(int wider) const {
    std::vector<int> passing(passing_.size());
    std::partial_sum(passing_.begin(), passing_.end(), passing.begin());
    const std::size_t places = passing.size() - 1;
    const auto quarter = static_cast<std::ptrdiff_t>(places / 4);
    Narrow narrow;
    narrow.passing = *std::min_element(passing.begin() + quarter, passing.end() - quarter);
    for (std::size_t border = 1; border < places; ++border)
        if (passing[border] <= narrow.passing + wider) {
            narrow.borders.push_back(border);
            narrow.across.push_back(passing[border]);
        }
    return narrow;
}

}  // namespace cairn::search
