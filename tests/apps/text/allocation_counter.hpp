#pragma once

#include <cstddef>

namespace cairn::text_test {

/// How often this program has called operator new.
std::size_t allocation_count();

}  // namespace cairn::text_test
