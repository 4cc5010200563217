#pragma once

/// Version of the headers a program was compiled with; `cairn::version()` returns that of the library at run time.
/// CMake reads the version from these three lines; it is written nowhere else.
#define CAIRN_VERSION_MAJOR 0
#define CAIRN_VERSION_MINOR 1
#define CAIRN_VERSION_PATCH 0

/// Exports a name from the shared library. All other names are hidden.
#if defined(__GNUC__)
#define CAIRN_API __attribute__((visibility("default")))
#else
#define CAIRN_API
#endif

// Requirements of all headers, each reported as one error message.
#if defined(__clang__)
#if __clang_major__ < 16
#error "Cairn needs clang 16 or later: earlier ones lack std::source_location"
#endif
#elif defined(__GNUC__)
#if __GNUC__ < 12
#error "Cairn needs gcc 12 or later"
#endif
#else
#error "Cairn needs gcc 12 or later, or clang 16 or later: no other compiler is supported"
#endif
#if __cplusplus < 202002L
#error "Cairn needs C++20: compile with -std=c++20 or later"
#endif
#if !defined(__unix__) && !defined(__APPLE__)
#error "Cairn needs a POSIX system: it maps files and memory"
#endif
#if __SIZEOF_POINTER__ != 8 || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Cairn needs a 64-bit little-endian machine: weights and programs are memory-mapped from files"
#endif
