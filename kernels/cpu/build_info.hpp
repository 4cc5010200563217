#pragma once

#include <string>

namespace cairn::kernels::cpu {

/// Describes the build: compiler and version, code-changing flags, assertions, sanitizers and library versions. Kernel
/// times depend on it besides the kernel ids.
///
///     gcc 12.2.0, ndebug, -O3 -DNDEBUG -march=native, eigen 3.4.0
std::string build_info();

}  // namespace cairn::kernels::cpu
