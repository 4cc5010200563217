#pragma once

#include <cstdint>
#include <stop_token>

namespace cairn::test {

/// A clock that ticks with each piece of memory this thread takes or gives back: the same on every machine. It asks
/// for a stop after so many, and counts what comes then.
class HeapCounter {
public:
    /// No stop where `stop_after` is negative.
    explicit HeapCounter(std::int64_t stop_after, std::stop_source source = {});
    ~HeapCounter();
    HeapCounter(const HeapCounter&) = delete;
    HeapCounter& operator=(const HeapCounter&) = delete;

    /// Pieces taken so far.
    std::int64_t taken() const noexcept { return taken_; }
    /// Taken and given back since the stop.
    std::int64_t taken_after() const noexcept { return taken_after_; }
    std::int64_t returned_after() const noexcept { return returned_after_; }

    void take() noexcept;
    void give_back() noexcept;

private:
    std::int64_t stop_after_, taken_ = 0, taken_after_ = 0, returned_after_ = 0;
    bool stopped_ = false;
    std::stop_source source_;
};

}  // namespace cairn::test
