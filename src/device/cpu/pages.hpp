#pragma once

#include <cstddef>

/// Memory by the page, as the system maps and touches it.
namespace cairn::device {

class ThreadPool;

/// Bytes of a page.
std::size_t page_size() noexcept;

/// `value` rounded up to a multiple of `unit`.
constexpr std::size_t round_up(std::size_t value, std::size_t unit) noexcept {
    return (value + unit - 1) / unit * unit;
}

/// Faults in [begin, end), whole pages of which the bytes from `own` on are ours, without changing what is in them.
/// Returns 0, or the errno that says why the system would not.
/// With a pool all its threads do it, a part each, where there are enough pages to wake them for: the system clears
/// pages at the speed of one CPU. That throws what ThreadPool::run does.
int populate(std::byte* begin, std::byte* end, std::byte* own, ThreadPool* pool = nullptr);

}  // namespace cairn::device
