#pragma once

#include <unistd.h>

#include <cstddef>

namespace cairn::device {

/// Bytes of the pages that the system maps and touches memory by.
inline std::size_t page_size() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace cairn::device
