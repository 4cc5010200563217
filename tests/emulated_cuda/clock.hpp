#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cairn::emulated_cuda {

/// A vector clock: for each thread of a cluster the time up to which its accesses are ordered before the holder's next
/// one. Component count + i is for the asynchronous copies of thread i. Threads that met at a barrier share one.
using Clock = std::shared_ptr<const std::vector<std::uint32_t>>;

/// The clock of one thread, whose own components are kept apart: they change with every release.
struct ThreadClock {
    Clock others;
    std::uint32_t thread = 0;
    std::uint32_t time = 1;       // of the thread's next access
    std::uint32_t copies = 0;     // asynchronous copies whose completion the thread has awaited
    std::uint32_t last_copy = 0;  // asynchronous copies started

    std::uint32_t threads() const { return static_cast<std::uint32_t>(others->size() / 2); }

    /// Whether an access of `component` at `when` is ordered before this thread's next access.
    bool follows(std::uint32_t component, std::uint32_t when) const {
        if (component == thread) return true;
        if (component == threads() + thread) return when <= std::max(copies, (*others)[component]);
        return when <= (*others)[component];
    }
};

/// What a thread, or the threads that met, made known to those that wait for them.
inline Clock joined(std::span<const ThreadClock> released) {
    auto result = std::make_shared<std::vector<std::uint32_t>>(*released.front().others);
    const std::vector<std::uint32_t>* last = released.front().others.get();
    for (const ThreadClock& clock : released) {
        if (clock.others.get() == last) continue;  // threads that met before share their clock
        last = clock.others.get();
        std::transform(result->begin(), result->end(), last->begin(), result->begin(),
                       [](std::uint32_t x, std::uint32_t y) { return std::max(x, y); });
    }
    for (const ThreadClock& clock : released) {
        std::uint32_t& own = (*result)[clock.thread];
        std::uint32_t& copies = (*result)[clock.threads() + clock.thread];
        own = std::max(own, clock.time);
        copies = std::max(copies, clock.copies);
    }
    return result;
}

/// The later of two clocks, component by component.
inline Clock joined(const Clock& one, const Clock& other) {
    if (one == nullptr || one == other) return other;
    if (other == nullptr) return one;
    auto result = std::make_shared<std::vector<std::uint32_t>>(*one);
    for (std::size_t i = 0; i < result->size(); ++i) (*result)[i] = std::max((*result)[i], (*other)[i]);
    return result;
}

/// A released clock as it is at this moment; later accesses of the thread are not part of it.
inline ThreadClock release(ThreadClock& clock) {
    const ThreadClock released = clock;
    ++clock.time;
    return released;
}

}  // namespace cairn::emulated_cuda
