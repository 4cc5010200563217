#pragma once

#include <string>

namespace cairn::kernels::cpu {

/// What the speed of these kernels depends on besides their ids: the compiler and its version, the flags that change
/// code, whether assertions and sanitizers are in, versions of libraries.
///
///     gcc 12.2.0, ndebug, -O3 -DNDEBUG -march=native, eigen 3.4.0
std::string build_info();

}  // namespace cairn::kernels::cpu
