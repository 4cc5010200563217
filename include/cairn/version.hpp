#pragma once

/// The version of the headers a program was compiled with; `cairn::version()` tells that of the library it runs with.
/// CMake reads these three lines: they are the one place where the version is written.
#define CAIRN_VERSION_MAJOR 0
#define CAIRN_VERSION_MINOR 1
#define CAIRN_VERSION_PATCH 0

/// Marks a name that the shared library exports; everything else is hidden.
#if defined(__GNUC__)
#define CAIRN_API __attribute__((visibility("default")))
#else
#define CAIRN_API
#endif
