#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace cairn::memory_plan {

/// Choice of gap between the placed buffers: first fit (the lowest gap that is large enough) or best fit (least waste).
enum class GapFit { first, best };

/// A placed buffer: its bytes and its live interval in ticks.
struct PlacedBuffer {
    std::int64_t offset, end;
    int first, last, buffer;
    bool operator<(const PlacedBuffer& other) const noexcept {
        if (offset != other.offset) return offset < other.offset;
        return end != other.end ? end < other.end : buffer < other.buffer;
    }
};

/// Finds the offset of one buffer by scanning the buffers it conflicts with, in order of offset.
///
///     bytes 3, first fit, past [0, 4) and [8, 12)  ->  place() is 4
class GapSearch {
public:
    GapSearch(std::int64_t bytes, std::int64_t alignment, GapFit fit)
        : bytes_(bytes), alignment_(alignment), fit_(fit) {}

    /// Scans past the next buffer, or past several without a usable gap between them. True if the offset is found.
    bool pass(std::int64_t offset, std::int64_t end);
    std::int64_t bytes() const noexcept { return bytes_; }
    /// The offset in the gap found, else above all buffers scanned.
    std::int64_t place() const;

private:
    std::int64_t bytes_, alignment_;
    GapFit fit_;
    std::int64_t end_ = 0, best_ = -1, least_waste_ = std::numeric_limits<std::int64_t>::max();
};

/// All placed buffers in order of offset, stored in blocks. If there are many blocks, a block is skipped as a whole if
/// none of its buffers conflicts with the new one, or if all do and no gap between them is as large.
class PlacedBuffers {
public:
    void clear() noexcept { used_ = 0, size_ = 0; }
    std::size_t size() const noexcept { return size_; }
    void insert(const PlacedBuffer& placed);
    /// The offset for a buffer live from `first` to `last`. Adds the number of buffers scanned to `work`.
    std::int64_t find(GapSearch gap, int first, int last, std::int64_t& work);
    /// Lists the buffers in order of offset.
    void list(std::vector<int>& order) const;

private:
    static constexpr std::size_t capacity = 128;
    struct Block {
        std::array<std::int64_t, capacity> offset, end;
        std::array<int, capacity> first, last, buffer;
        std::size_t size = 0;
        // Summary of all its buffers; `widest_gap` is the widest gap between two of them if all were live together.
        bool measured = false;
        int least_first = 0, most_first = 0, least_last = 0, most_last = 0;
        std::int64_t highest_end = 0, widest_gap = 0;

        PlacedBuffer at(std::size_t i) const { return {offset[i], end[i], first[i], last[i], buffer[i]}; }
        void insert(const PlacedBuffer& placed);
        void move_half(Block& to);
        void measure();
        bool pass(GapSearch& gap, int from, int to, std::int64_t& work) const;
    };
    void split(std::size_t block);

    std::vector<std::unique_ptr<Block>> blocks_;  // the first `used_` of them, in order; the others are spare
    std::size_t used_ = 0, size_ = 0;
};

}  // namespace cairn::memory_plan
