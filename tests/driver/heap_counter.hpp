#pragma once

#include <cstdint>
#include <stop_token>

namespace cairn::test {

/// Counts the heap allocations and deallocations of this thread, as a machine-independent clock. Requests a stop after
/// a given number of allocations, and counts those that follow.
class HeapCounter {
public:
    /// No stop if `stop_after` is negative.
    explicit HeapCounter(std::int64_t stop_after, std::stop_source source = {});
    ~HeapCounter();
    HeapCounter(const HeapCounter&) = delete;
    HeapCounter& operator=(const HeapCounter&) = delete;

    /// Allocations so far.
    std::int64_t allocated() const noexcept { return allocated_; }
    /// Allocations and deallocations since the stop.
    std::int64_t allocated_after() const noexcept { return allocated_after_; }
    std::int64_t returned_after() const noexcept { return returned_after_; }

    void take() noexcept;
    void give_back() noexcept;

private:
    std::int64_t stop_after_, allocated_ = 0, allocated_after_ = 0, returned_after_ = 0;
    bool stopped_ = false;
    std::stop_source source_;
};

}  // namespace cairn::test
