#include "kernels/cpu/build_info.hpp"

#include <array>
#include <sstream>
#include <string_view>

// Defined by the build: all compile flags of these objects, and the versions of the libraries.
#ifndef CAIRN_KERNEL_FLAGS
#error "CAIRN_KERNEL_FLAGS is missing: see kernels/cpu/CMakeLists.txt"
#endif
// A test compiles this file under another function name.
#ifndef CAIRN_BUILD_TEXT
#define CAIRN_BUILD_TEXT build_info
#endif

namespace cairn::kernels::cpu {
namespace {

#if defined(__clang__)
constexpr std::string_view compiler = "clang " __clang_version__;
#else
constexpr std::string_view compiler = "gcc " __VERSION__;
#endif

#ifdef NDEBUG
constexpr std::string_view assertions = "ndebug";
#else
constexpr std::string_view assertions = "assertions";
#endif

/// True if a compile flag can change code. Warnings, include folders and debug symbols cannot.
bool changes_code(std::string_view flag) {
    constexpr std::array<std::string_view, 6> flags_without_effect{
        "-W", "-I", "-g", "-isystem", "-fdiagnostics", "-fvisibility"};
    for (const std::string_view prefix : flags_without_effect)
        if (flag.starts_with(prefix)) return false;
    return flag.starts_with("-") && flag.find("prefix-map") == flag.npos;
}

}  // namespace

std::string CAIRN_BUILD_TEXT() {
    std::string text = std::string(compiler) + ", " + std::string(assertions) + ",";
    std::istringstream flags(CAIRN_KERNEL_FLAGS);
    for (std::string flag; flags >> flag;)
        if (changes_code(flag)) text += " " + flag;
    return text + ", " + CAIRN_KERNEL_LIBRARIES;
}

}  // namespace cairn::kernels::cpu
