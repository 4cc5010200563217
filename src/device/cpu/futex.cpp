#include "device/cpu/futex.hpp"

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#endif

namespace cairn::device {

#if defined(__linux__)

namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

void call(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) noexcept {
    syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

}  // namespace

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    call(word, FUTEX_WAIT, expected);
}
void futex_wake_one(const std::atomic<std::uint32_t>& word) noexcept { call(word, FUTEX_WAKE, 1); }
void futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept { call(word, FUTEX_WAKE, INT_MAX); }

#else

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept { word.wait(expected); }
void futex_wake_one(const std::atomic<std::uint32_t>& word) noexcept {
    const_cast<std::atomic<std::uint32_t>&>(word).notify_one();
}
void futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept {
    const_cast<std::atomic<std::uint32_t>&>(word).notify_all();
}

#endif

}  // namespace cairn::device
