#pragma once

#include "tests/house/tree.hpp"

namespace cairn::house {

/// Sources, build files, scripts and documents have at most 600 lines.
Faults long_files(const Tree& tree);

/// Files under include/ include the C++ standard library and `cairn/...` only: no third party, nothing of POSIX.
Faults foreign_includes_in_face(const Tree& tree);

/// No file or folder is called utils, common, helpers, core or manager, alone or as a word of its name: such a room
/// ends up knowing everybody.
Faults empty_names(const Tree& tree);

/// src/runtime/executor.{hpp,cpp} and all of ours that they include name no map, set, mutex, lock or string: a run
/// hashes, locks and allocates nothing.
Faults executor_names(const Tree& tree);

/// sqlite3.h is included in src/autotune only, Eigen in kernels/cpu/eigen only, tommath.h in one file (tests and bench
/// aside).
Faults libraries_out_of_place(const Tree& tree);

/// What names instructions in kernels/ stands in kernels/cpu/simd/vector/instructions.hpp and tile_registers.hpp,
/// beside its twin for machines that lack them: intrinsics, assembler, the compiler's builtins and macros of
/// instruction sets.
Faults instructions_out_of_place(const Tree& tree);

/// No test is skipped: what a machine lacks is emulated, or the test asserts less.
Faults skipped_tests(const Tree& tree);

/// Nothing in include/, src/ (but cli/) and kernels/ ends the process, prints, reads the environment, or touches the
/// process's signals.
Faults host_is_sacred(const Tree& tree);

/// Every source under include/, src/ and kernels/ that is a header begins with `#pragma once`; each .cpp under src/ and
/// kernels/ is listed in the build file of its room.
Faults forgotten_lines(const Tree& tree);

}  // namespace cairn::house
