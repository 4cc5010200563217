#pragma once

namespace cairn::device::testing {

/// How many times this program has called `operator new`, which is replaced to count.
long allocations() noexcept;

}  // namespace cairn::device::testing
