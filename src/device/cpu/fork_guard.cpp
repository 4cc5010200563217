#include "device/cpu/fork_guard.hpp"

#include "device/cpu/pages.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace cairn::device {

ForkGuard::ForkGuard() noexcept {
#if defined(MADV_WIPEONFORK)
    void* const page = mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (madvise(page, page_size(), MADV_WIPEONFORK) != 0) {
        munmap(page, page_size());
        return;
    }
    mark_ = new (page) std::atomic<int>(1);
#endif
}

ForkGuard::~ForkGuard() {
    if (mark_ != nullptr) munmap(mark_, page_size());
}

}  // namespace cairn::device
