#pragma once

#include <cstddef>

/// Functions on memory pages.
namespace cairn::device {

class ThreadPool;

/// Size of a page in bytes.
std::size_t page_size() noexcept;

/// `value` rounded up to a multiple of `unit`.
constexpr std::size_t round_up(std::size_t value, std::size_t unit) noexcept {
    return (value + unit - 1) / unit * unit;
}

/// Faults in the whole pages [begin, end) without changing their contents; only the bytes from `own` on belong to the
/// caller. Returns 0, or the errno of the failure. With a pool, its threads share the work if there are enough pages to
/// be worth waking them: one CPU limits the speed at which the system clears pages. That throws what ThreadPool::run
/// does.
int populate(std::byte* begin, std::byte* end, std::byte* own, ThreadPool* pool = nullptr);

}  // namespace cairn::device
