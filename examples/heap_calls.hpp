#pragma once

#include <cstdint>

/// Number of heap allocations of this process so far (malloc, calloc, realloc, aligned_alloc, posix_memalign and
/// functions built on them), counted by replacing glibc's entry points. -1 without glibc, or under a sanitizer, which
/// replaces them itself.
std::int64_t heap_calls() noexcept;
