#include "apps/text/prefix_trie.hpp"

#include <algorithm>
#include <numeric>

namespace cairn::inline v0::text {

namespace {

/// Strings that begin with the path of a node: a range of the sorted strings.
struct Range {
    std::size_t first;
    std::size_t last;
    std::size_t depth;
};

}  // namespace

PrefixTrie::PrefixTrie(const std::vector<std::string>& strings) {
    std::vector<std::int32_t> order(strings.size());
    std::iota(order.begin(), order.end(), 0);
    const auto at = [&](std::size_t i) -> const std::string& { return strings[static_cast<std::size_t>(order[i])]; };
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        return strings[static_cast<std::size_t>(a)] < strings[static_cast<std::size_t>(b)];
    });
    // Breadth first, so that the edges of a node are contiguous; ranges[i] belongs to nodes_[i].
    std::vector<Range> ranges = {{0, order.size(), 0}};
    nodes_.push_back({-1, 0, 0});
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
        auto [first, last, depth] = ranges[node];
        for (; first < last && at(first).size() == depth; ++first)
            if (depth > 0) nodes_[node].value = order[first];
        nodes_[node].first_edge = static_cast<std::uint32_t>(labels_.size());
        while (first < last) {
            const char label = at(first)[depth];
            std::size_t end = first;
            while (end < last && at(end)[depth] == label) ++end;
            labels_.push_back(static_cast<unsigned char>(label));
            children_.push_back(static_cast<std::int32_t>(nodes_.size()));
            nodes_.push_back({-1, 0, 0});
            ranges.push_back({first, end, depth + 1});
            first = end;
        }
        nodes_[node].edge_count = static_cast<std::uint32_t>(labels_.size()) - nodes_[node].first_edge;
    }
}

std::int32_t PrefixTrie::child(std::size_t node, unsigned char label) const {
    const auto begin = labels_.begin() + nodes_[node].first_edge;
    const auto end = begin + nodes_[node].edge_count;
    const auto found = std::lower_bound(begin, end, label);
    return found == end || *found != label ? -1 : children_[static_cast<std::size_t>(found - labels_.begin())];
}

}  // namespace cairn::inline v0::text
