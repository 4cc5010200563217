#pragma once

#include <cstddef>

namespace cairn::test::bare {

/// Arena scope: while one exists, all allocations of this thread come from the arena at `cases_at` (case.hpp), one
/// after another, and are never freed.
class InArena {
public:
    InArena();
    ~InArena();
    InArena(const InArena&) = delete;
    InArena& operator=(const InArena&) = delete;
};

/// Empties the arena; throws std::runtime_error if its addresses are taken.
void clear_arena();
/// Bytes of the arena in use.
std::size_t arena_size() noexcept;

}  // namespace cairn::test::bare
