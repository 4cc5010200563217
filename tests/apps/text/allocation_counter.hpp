#pragma once

#include <cstddef>

namespace cairn::text_test {

/// Number of calls of operator new in this program.
std::size_t allocation_count();

}  // namespace cairn::text_test
