#pragma once

#include "program/memory_plan/sections.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace cairn::memory_plan {

/// Ticks and the buffers that are live in them only. Placed buffers among them are ignored.
struct TickRange {
    int from = 0, to = 0;  ///< both included
    std::span<const int> buffers;
};

/// A canonical placement in progress: buffers are placed in order of offset, those at one offset in order of number,
/// each at the lowest offset above all placed ones that are live together with it. Buffers have numbers of their own,
/// in order of priority.
///
/// A placement is refused if the rest cannot end below the ceiling, by a bound for each tick:
///
///     lowest offset of an unplaced buffer + bytes of all unplaced buffers <= ceiling
///
/// An unplaced buffer that would fit below the last one must wait for another one to be placed under it, so its lowest
/// offset is the lowest end of an unplaced buffer that is live together with it.
class PartialPlan {
public:
    /// `priority` holds the number of each buffer of the section once.
    PartialPlan(const Section& section, std::span<const int> priority);

    /// Removes all buffers. False if the largest sum of live bytes exceeds the ceiling.
    bool start(std::int64_t ceiling);
    /// Places a buffer of the range. False, and nothing is changed, if the rest of the range does not fit.
    bool place(int buffer, const TickRange& range);
    /// Removes the buffer placed last.
    void undo();

    int count() const noexcept { return static_cast<int>(bytes_.size()); }
    int placed() const noexcept { return static_cast<int>(stack_.size()); }
    bool is_placed(int buffer) const noexcept { return is_placed_[buffer] != 0; }
    /// The offset of a placed buffer; of others the lowest one above the placed buffers.
    std::int64_t offset(int buffer) const noexcept { return offset_[buffer]; }
    std::int64_t end(int buffer) const noexcept { return offset_[buffer] + bytes_[buffer]; }
    int first(int buffer) const noexcept { return first_[buffer]; }
    int last(int buffer) const noexcept { return last_[buffer]; }
    /// The previous buffer of the same size, alignment and live interval; -1 if there is none.
    int equal_before(int buffer) const noexcept { return equal_[buffer]; }
    /// The buffers of the section in order of offset.
    std::vector<int> order() const;
    /// Number of buffers and ticks visited: the work done, in a machine-independent unit.
    std::int64_t steps() const noexcept { return steps_; }

private:
    struct Placed {
        int buffer;
        std::size_t raised;  // size of `raised_` before
    };
    struct Raised {
        int buffer;
        std::int64_t offset;  // before
    };
    void find_equal();
    void find_neighbours(int ticks);
    bool raise_neighbours(int buffer);
    bool loads_fit(int buffer, const TickRange& range) const;
    bool floors_fit(int buffer, const TickRange& range);
    std::int64_t lowest_offset(int buffer, int placed, std::int64_t lowest_end);
    std::span<const int> neighbours(int buffer) const {
        return std::span(neighbours_).subspan(start_[buffer], start_[buffer + 1] - start_[buffer]);
    }

    std::vector<int> priority_, first_, last_, equal_;
    std::vector<std::size_t> start_;  // of each buffer's list in `neighbours_`
    std::vector<int> neighbours_;
    std::vector<std::int64_t> bytes_, alignment_, offset_;
    std::vector<std::int64_t> live_, unplaced_,
        floor_;  // per tick: bytes of all and of unplaced buffers, lowest offset
    std::vector<char> is_placed_;
    std::vector<Placed> stack_;
    std::vector<Raised> raised_;
    std::int64_t ceiling_ = 0, steps_ = 0;
};

}  // namespace cairn::memory_plan
