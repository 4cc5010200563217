#pragma once

#include <atomic>
#include <cstdint>

namespace cairn::device {

/// Sleeps while `word` holds `expected`; returns when woken, at once when it holds something else, and sometimes for no
/// reason: call it in a loop. No allocation, no lock.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;

/// Wakes one or all of those who sleep on `word`. Change the word first.
void futex_wake_one(const std::atomic<std::uint32_t>& word) noexcept;
void futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept;

}  // namespace cairn::device
