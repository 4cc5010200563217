#pragma once

#include <cstdint>

/// Heap calls of this process so far (malloc, calloc, realloc, aligned_alloc and what rests on them): this program
/// replaces the allocator's entry points by counting ones. -1 under a sanitizer, which has an allocator of its own.
std::int64_t heap_calls() noexcept;
