#pragma once

#include "cairn/args.hpp"
#include "cairn/types.hpp"

#include <cstdint>

/// What bare_test writes to the disk of the image that runs without an operating system. Both have it in memory at one
/// address, so that it may be full of pointers.
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

/// At the very begin of that memory.
struct Cases {
    std::int64_t count;
    const Case* cases;
    std::int64_t bytes;  ///< of all of it
};

/// Behind them is the workspace of whatever call is being run.
inline constexpr std::uintptr_t cases_at = 0x4000000, cases_size = 0x8000000, workspace_at = cases_at + cases_size,
                                workspace_size = 0x4000000;

}  // namespace cairn::test::bare
