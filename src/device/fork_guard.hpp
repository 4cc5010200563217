#pragma once

#include <atomic>

namespace cairn::device {

/// Detects whether the process was forked since construction, by a page that the system clears in a child. Costs one
/// load, whereas reading the process id costs a system call. If the system has no such page, forked() is always false.
class ForkGuard {
public:
    ForkGuard() noexcept;
    ~ForkGuard();
    ForkGuard(const ForkGuard&) = delete;
    ForkGuard& operator=(const ForkGuard&) = delete;

    bool forked() const noexcept { return mark_ != nullptr && mark_->load(std::memory_order_relaxed) == 0; }

private:
    std::atomic<int>* mark_ = nullptr;
};

}  // namespace cairn::device
