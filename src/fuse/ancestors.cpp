#include "fuse/ancestors.hpp"

#include "cairn/error.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace cairn::inline v0::fuse {
namespace {

using ir::NodeId;

// How far to look for what a value is made of.
constexpr std::size_t most_looked_at = 256;

}  // namespace

// A node's list is merged from those of its operands, so all of them take time as there are nodes.
void Ancestors::find() {
    start_.assign(1, 0);
    std::vector<NodeId> own, merged;
    const auto join = [&](NodeId read) {
        merged.clear();
        std::set_union(own.begin(), own.end(), nearest_.begin() + static_cast<std::ptrdiff_t>(start_[read]),
                       nearest_.begin() + static_cast<std::ptrdiff_t>(start_[read + 1]), std::back_inserter(merged),
                       std::greater<>());
        if (merged.size() > most_looked_at) merged.resize(most_looked_at);
        own.swap(merged);
    };
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) {
        if (stop_.stop_requested()) throw Cancelled("fuse");
        own.clear();
        for (const NodeId operand : graph_.node(id).operands)
            for (const NodeId spelling : classes_.spellings(classes_.value_of(operand))) join(spelling);
        nearest_.push_back(id);
        nearest_.insert(nearest_.end(), own.begin(), own.end());
        start_.push_back(nearest_.size());
    }
}

bool Ancestors::may_rest_on(NodeId node, NodeId ancestor) {
    if (node <= ancestor) return node == ancestor;
    if (start_.empty()) find();
    const auto first = nearest_.begin() + static_cast<std::ptrdiff_t>(start_[node]),
               last = nearest_.begin() + static_cast<std::ptrdiff_t>(start_[node + 1]);
    const auto at = std::lower_bound(first, last, ancestor, std::greater<>());
    if (at != last) return *at == ancestor;
    return static_cast<std::size_t>(last - first) > most_looked_at;
}

}  // namespace cairn::inline v0::fuse
