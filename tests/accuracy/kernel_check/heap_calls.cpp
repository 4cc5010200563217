#include "tests/accuracy/kernel_check/heap_calls.hpp"

#include <cerrno>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)

std::int64_t cairn::test::heap_calls() noexcept { return 0; }

#else

namespace {
thread_local std::int64_t calls __attribute__((tls_model("initial-exec"))) = 0;
}

std::int64_t cairn::test::heap_calls() noexcept { return calls; }

// Counting wrappers of the allocator's own entry points replace those that a program calls; free needs no counting.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) { return ++calls, __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) { return ++calls, __libc_calloc(count, size); }
void* realloc(void* memory, std::size_t size) { return ++calls, __libc_realloc(memory, size); }
void* memalign(std::size_t alignment, std::size_t size) { return ++calls, __libc_memalign(alignment, size); }
void* aligned_alloc(std::size_t alignment, std::size_t size) { return ++calls, __libc_memalign(alignment, size); }
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
    ++calls;
    *memory = __libc_memalign(alignment, size);
    return *memory == nullptr ? ENOMEM : 0;
}
}

#endif
