#pragma once

#include "cairn/args.hpp"
#include "cairn/types.hpp"

#include <cstdint>

/// The data that bare_test writes to the disk of the image that runs without an operating system. Both map it at the
/// same address, so that it may contain pointers.
namespace cairn::test::bare {

/// One output: `count` elements, of the kernel and of its twin.
struct Result {
    DType dtype;
    const std::byte *got, *wanted;
    std::int64_t count;
};

/// One call of the table's function number `function`.
struct Case {
    int function;
    Args args;
    const Result* results;
    std::int64_t result_count;
};

/// At the beginning of that memory.
struct Cases {
    std::int64_t count;
    const Case* cases;
    std::int64_t bytes;  ///< of all the data
};

/// The workspace of the current call follows the cases.
inline constexpr std::uintptr_t cases_at = 0x4000000, cases_size = 0x8000000, workspace_at = cases_at + cases_size,
                                workspace_size = 0x4000000;

}  // namespace cairn::test::bare
