#include "program/memory_plan/gap_search.hpp"

#include "program/memory_plan/packing_problem.hpp"

#include <algorithm>
#include <utility>

namespace cairn::memory_plan {
namespace {

// Up to this many blocks are scanned buffer by buffer.
constexpr std::size_t max_scanned_blocks = 4;

}  // namespace

bool GapSearch::pass(std::int64_t offset, std::int64_t end) {
    const std::int64_t place = align_up(end_, alignment_);
    if (place + bytes_ <= offset) {
        if (const std::int64_t waste = offset - end_ - bytes_; waste < least_waste_) {
            least_waste_ = waste;
            best_ = place;
        }
        if (fit_ == GapFit::first) return true;
    }
    end_ = std::max(end_, end);
    return false;
}

std::int64_t GapSearch::place() const { return best_ >= 0 ? best_ : align_up(end_, alignment_); }

void PlacedBuffers::Block::insert(const PlacedBuffer& placed) {
    std::size_t i = size;
    while (i > 0 && (placed.offset != offset[i - 1] ? placed.offset < offset[i - 1] : placed < at(i - 1))) --i;
    const auto put = [&](auto& column, auto value) {
        const auto here = column.begin() + static_cast<std::ptrdiff_t>(i);
        const auto behind = column.begin() + static_cast<std::ptrdiff_t>(size);
        std::copy_backward(here, behind, behind + 1);
        *here = value;
    };
    put(offset, placed.offset);
    put(end, placed.end);
    put(first, placed.first);
    put(last, placed.last);
    put(buffer, placed.buffer);
    ++size;
    measured = false;
}

void PlacedBuffers::Block::move_half(Block& to) {
    const std::size_t kept = size / 2;
    const auto move = [&](const auto& from, auto& into) {
        std::copy(from.begin() + static_cast<std::ptrdiff_t>(kept), from.begin() + static_cast<std::ptrdiff_t>(size),
                  into.begin());
    };
    move(offset, to.offset);
    move(end, to.end);
    move(first, to.first);
    move(last, to.last);
    move(buffer, to.buffer);
    to.size = size - kept;
    size = kept;
    measured = to.measured = false;
}

void PlacedBuffers::Block::measure() {
    least_first = most_first = first[0];
    least_last = most_last = last[0];
    highest_end = end[0];
    widest_gap = std::numeric_limits<std::int64_t>::min();
    for (std::size_t i = 1; i < size; ++i) {
        least_first = std::min(least_first, first[i]);
        most_first = std::max(most_first, first[i]);
        least_last = std::min(least_last, last[i]);
        most_last = std::max(most_last, last[i]);
        widest_gap = std::max(widest_gap, offset[i] - highest_end);
        highest_end = std::max(highest_end, end[i]);
    }
    measured = true;
}

/// Scans the buffers that are live in some tick from `from` to `to`.
bool PlacedBuffers::Block::pass(GapSearch& gap, int from, int to, std::int64_t& work) const {
    std::size_t i = 0;
    for (; i < size; ++i)
        if (first[i] <= to && from <= last[i] && gap.pass(offset[i], end[i])) break;
    work += static_cast<std::int64_t>(std::min(i + 1, size));
    return i < size;
}

void PlacedBuffers::insert(const PlacedBuffer& placed) {
    const auto used_end = blocks_.begin() + static_cast<std::ptrdiff_t>(used_);
    const auto behind = std::upper_bound(
        blocks_.begin(), used_end, placed,
        [](const PlacedBuffer& value, const std::unique_ptr<Block>& block) { return value < block->at(0); });
    auto at = static_cast<std::size_t>(behind - blocks_.begin());
    at -= at > 0 ? 1 : 0;
    if (used_ == 0 || blocks_[at]->size == capacity) split(at);
    if (at + 1 < used_ && blocks_[at + 1]->at(0) < placed) ++at;
    blocks_[at]->insert(placed);
    ++size_;
}

/// Splits a full block, or creates the first block.
void PlacedBuffers::split(std::size_t block) {
    if (used_ == blocks_.size()) blocks_.push_back(std::make_unique<Block>());
    const auto spare = blocks_.begin() + static_cast<std::ptrdiff_t>(used_++);
    (*spare)->size = 0;
    if (used_ == 1) return;
    std::rotate(blocks_.begin() + static_cast<std::ptrdiff_t>(block) + 1, spare, spare + 1);
    blocks_[block]->move_half(*blocks_[block + 1]);
}

std::int64_t PlacedBuffers::find(GapSearch gap, int first, int last, std::int64_t& work) {
    for (std::size_t i = 0; i < used_; ++i) {
        Block& block = *blocks_[i];
        if (used_ > max_scanned_blocks) {
            if (!block.measured) block.measure();
            const bool none = block.most_last < first || last < block.least_first;
            const bool all = block.most_first <= last && first <= block.least_last;
            if (none || (all && block.widest_gap < gap.bytes())) {
                if (all && gap.pass(block.offset[0], block.highest_end)) {
                    work += 1;
                    break;
                }
                work += static_cast<std::int64_t>(block.size);
                continue;
            }
        }
        if (block.pass(gap, first, last, work)) break;
    }
    return gap.place();
}

void PlacedBuffers::list(std::vector<int>& order) const {
    order.clear();
    for (std::size_t i = 0; i < used_; ++i)
        order.insert(order.end(), blocks_[i]->buffer.begin(),
                     blocks_[i]->buffer.begin() + static_cast<std::ptrdiff_t>(blocks_[i]->size));
}

}  // namespace cairn::memory_plan
