#include "tests/kernels/bare/arena.hpp"

#include "tests/kernels/bare/case.hpp"

#include <sys/mman.h>
#include <cstdlib>
#include <new>
#include <stdexcept>

namespace cairn::test::bare {
namespace {

thread_local bool is_open = false;
std::size_t used = 0;

bool is_inside(const void* p) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(p);
    return at >= cases_at && at < cases_at + cases_size;
}

void* allocate(std::size_t size, std::size_t alignment) {
    if (!is_open) {
        if (void* p = alignment > 16 ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                                     : std::malloc(size > 0 ? size : 1))
            return p;
        throw std::bad_alloc();
    }
    const std::size_t begin = (used + alignment - 1) / alignment * alignment;
    if (begin + size > cases_size) throw std::bad_alloc();
    used = begin + size;
    return reinterpret_cast<void*>(cases_at + begin);
}
void release(void* p) noexcept {
    if (!is_inside(p)) std::free(p);
}

}  // namespace

InArena::InArena() { is_open = true; }
InArena::~InArena() { is_open = false; }

void clear_arena() {
    void* const at = reinterpret_cast<void*>(cases_at);
    munmap(at, used > 0 ? cases_size : 1);
    if (mmap(at, cases_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != at)
        throw std::runtime_error("the addresses of the cases are taken");
    used = sizeof(Cases);
}
std::size_t arena_size() noexcept { return used; }

}  // namespace cairn::test::bare

void* operator new(std::size_t size) { return cairn::test::bare::allocate(size, 64); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return cairn::test::bare::allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept { cairn::test::bare::release(p); }
void operator delete(void* p, std::size_t) noexcept { cairn::test::bare::release(p); }
void operator delete(void* p, std::align_val_t) noexcept { cairn::test::bare::release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { cairn::test::bare::release(p); }
