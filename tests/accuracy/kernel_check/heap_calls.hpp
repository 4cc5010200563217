#pragma once

#include <cstdint>

namespace cairn::test {

/// Calls of malloc and its kin so far in this thread; always 0 where a sanitizer has its own allocator.
std::int64_t heap_calls() noexcept;

}  // namespace cairn::test
