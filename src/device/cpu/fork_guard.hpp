#pragma once

#include <atomic>

namespace cairn::device {

/// Knows whether the process was forked since it was made: a page that the system clears in a child. Costs one load,
/// where asking for the process id costs a system call. Where the system has no such page the answer is always no.
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
