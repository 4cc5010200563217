#pragma once

#include "tests/house/tree.hpp"

namespace cairn::house {

/// Sources, build files, scripts and documents must have at most 600 lines.
Faults long_files(const Tree& tree);

/// Files under include/ may include only the C++ standard library and `cairn/...`: no third-party or POSIX headers.
Faults foreign_includes_in_public_headers(const Tree& tree);

/// No name of a file or folder contains the words util(s), common, helper(s), core, manager or misc: they do not limit
/// what the file is for.
Faults uninformative_names(const Tree& tree);

/// src/device/cpu/parallel_region.{hpp,cpp} and all project files that they include must not use std's maps, sets,
/// mutexes, locks, strings, string streams or regexes: a run does not hash, lock or allocate.
Faults executor_allocations(const Tree& tree);

/// Some third-party headers may be included by one room only, tests and bench excepted: sqlite3.h in
/// src/autotune/database, Eigen in kernels/cpu/eigen, utf8proc.h in src/apps/text, tommath.h in
/// src/selection/search/natural.cpp.
Faults misplaced_library_includes(const Tree& tree);

/// Code in kernels/ that names instructions (intrinsics, assembler, compiler builtins, macros of instruction sets) is
/// permitted only in kernels/cpu/simd/vector/instructions.hpp and tile_registers.hpp, where each has an emulation.
Faults misplaced_instructions(const Tree& tree);

/// No test may use GTEST_SKIP: missing hardware is emulated, or the test asserts less.
Faults skipped_tests(const Tree& tree);

/// Code in include/, kernels/ and src/ (except src/apps/cli) must not end the process, print, read the environment, or
/// change signal handlers. src/driver/command_line_defaults.cpp may read environment variables.
Faults host_process_effects(const Tree& tree);

/// Every .hpp under include/, src/ and kernels/ must have `#pragma once`; every .cpp there must be listed in a build
/// file of its room.
Faults missing_declarations(const Tree& tree);

}  // namespace cairn::house
