#include "device/fork_guard.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

namespace cairn::device {
namespace {

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

ForkGuard::ForkGuard() noexcept {
#if defined(MADV_WIPEONFORK)
    void* const page = mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (madvise(page, page_bytes(), MADV_WIPEONFORK) != 0) {
        munmap(page, page_bytes());
        return;
    }
    mark_ = new (page) std::atomic<int>(1);
#endif
}

ForkGuard::~ForkGuard() {
    if (mark_ != nullptr) munmap(mark_, page_bytes());
}

}  // namespace cairn::device
