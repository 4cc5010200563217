#include "fusion/ancestors.hpp"

#include "cairn/error.hpp"

#include <algorithm>
#include <functional>
#include <span>

namespace cairn::fusion {
namespace {

using ir::NodeId;

// Maximum number of ancestors recorded for a node, besides itself.
constexpr std::size_t max_inspected = 256;

/// The union of two lists, newest first, cut to the number recorded.
void merge(std::span<const NodeId> a, std::span<const NodeId> b, std::vector<NodeId>& merged) {
    merged.resize(std::min(a.size() + b.size(), max_inspected));
    std::size_t i = 0, j = 0, count = 0;
    while (i < a.size() && j < b.size() && count < merged.size()) {
        const NodeId x = a[i], y = b[j], newest = std::max(x, y);
        merged[count++] = newest;
        i += x == newest ? 1 : 0;
        j += y == newest ? 1 : 0;
    }
    const std::span<const NodeId> rest = i < a.size() ? a.subspan(i) : b.subspan(j);
    const std::size_t more = std::min(rest.size(), merged.size() - count);
    std::copy_n(rest.begin(), more, merged.begin() + static_cast<std::ptrdiff_t>(count));
    merged.resize(count + more);
}

}  // namespace

// A node's list is merged from those of its operands, so the total time is linear in the number of nodes.
void Ancestors::find() {
    start_.assign(1, 0);
    std::vector<NodeId> own, merged;
    const auto join = [&](NodeId read) {
        merge(own, std::span(nearest_).subspan(start_[read], start_[read + 1] - start_[read]), merged);
        own.swap(merged);
    };
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) {
        if (stop_.stop_requested()) throw Cancelled("fuse");
        own.clear();
        for (const NodeId operand : graph_.node(id).operands)
            for (const NodeId expression : classes_.expressions(classes_.value_of(operand))) join(expression);
        nearest_.push_back(id);
        nearest_.insert(nearest_.end(), own.begin(), own.end());
        start_.push_back(nearest_.size());
    }
}

bool Ancestors::may_depend_on(NodeId node, NodeId ancestor) {
    if (node <= ancestor) return node == ancestor;
    if (start_.empty()) find();
    const auto first = nearest_.begin() + static_cast<std::ptrdiff_t>(start_[node]),
               last = nearest_.begin() + static_cast<std::ptrdiff_t>(start_[node + 1]);
    const auto at = std::lower_bound(first, last, ancestor, std::greater<>());
    if (at != last) return *at == ancestor;
    return static_cast<std::size_t>(last - first) > max_inspected;
}

}  // namespace cairn::fusion
