#pragma once

#include <atomic>
#include <cstdint>

namespace cairn::device {

/// Sleeps while `word` holds `expected`. Returns when woken, at once if the value differs, and sometimes spuriously:
/// call it in a loop. No allocation, no lock.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;

/// Wakes one or all threads that sleep on `word`. Change the word first.
void futex_wake_one(const std::atomic<std::uint32_t>& word) noexcept;
void futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept;

}  // namespace cairn::device
