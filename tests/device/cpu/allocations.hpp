#pragma once

namespace cairn::device::testing {

/// Number of calls of `operator new` in this program, which is replaced to count them.
long allocations() noexcept;

}  // namespace cairn::device::testing
