#pragma once

#include <cstddef>

namespace cairn::test::bare {

/// While one of these lives, everything that this thread allocates lies behind what was allocated so before, from
/// `cases_at` on (case.hpp), and nothing of it is given back.
class InArena {
public:
    InArena();
    ~InArena();
    InArena(const InArena&) = delete;
    InArena& operator=(const InArena&) = delete;
};

/// Begins anew; throws std::runtime_error where the addresses are taken.
void clear_arena();
/// How much of it is used.
std::size_t arena_size() noexcept;

}  // namespace cairn::test::bare
