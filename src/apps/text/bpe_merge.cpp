#include "apps/text/bpe_merge.hpp"

#include <algorithm>

namespace cairn::inline v0::text {

void BpeMerger::push_pair(std::int32_t left) {
    if (left < 0) return;
    const Symbol& symbol = symbols_[static_cast<std::size_t>(left)];
    if (symbol.next < 0) return;
    if (const auto* merge = table_->find(symbol.id, symbols_[static_cast<std::size_t>(symbol.next)].id)) {
        heap_.push_back({merge->rank, left});
        std::push_heap(heap_.begin(), heap_.end());
    }
}

std::size_t BpeMerger::merge(std::vector<std::int32_t>& word) {
    const auto size = static_cast<std::int32_t>(word.size());
    symbols_.clear();
    for (std::int32_t i = 0; i < size; ++i)
        symbols_.push_back({word[static_cast<std::size_t>(i)], i - 1, i + 1 < size ? i + 1 : -1});
    heap_.clear();
    for (std::int32_t i = 0; i < size; ++i) push_pair(i);

    std::size_t popped = 0;
    while (!heap_.empty()) {
        const Pair pair = heap_.front();
        std::pop_heap(heap_.begin(), heap_.end());
        heap_.pop_back();
        ++popped;

        Symbol& left = symbols_[static_cast<std::size_t>(pair.left)];
        if (left.id < 0 || left.next < 0) continue;
        Symbol& right = symbols_[static_cast<std::size_t>(left.next)];
        const auto* merge = table_->find(left.id, right.id);
        if (merge == nullptr || merge->rank != pair.rank) continue;  // one side has changed since

        left.id = merge->result;
        right.id = -1;
        left.next = right.next;
        if (left.next >= 0) symbols_[static_cast<std::size_t>(left.next)].previous = pair.left;
        push_pair(left.previous);
        push_pair(pair.left);
    }

    word.clear();
    for (const Symbol& symbol : symbols_)
        if (symbol.id >= 0) word.push_back(symbol.id);
    return popped;
}

}  // namespace cairn::inline v0::text
