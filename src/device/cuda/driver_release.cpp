#include "device/cuda/driver_release.hpp"

#include <fstream>
#include <string_view>

namespace cairn::device::cuda {
namespace {

/// Numbers with dots between them: `580.82.07`.
bool is_release(std::string_view word) {
    bool has_dot = false, follows_digit = false;
    for (const char c : word) {
        const bool is_digit = c >= '0' && c <= '9';
        if (!is_digit && !(c == '.' && follows_digit)) return false;
        has_dot = has_dot || c == '.';
        follows_digit = is_digit;
    }
    return has_dot && follows_digit;
}

}  // namespace

std::string driver_release(const std::filesystem::path& file) {
    // NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build  (...)
    std::ifstream lines(file);
    for (std::string word; lines >> word;)
        if (is_release(word)) return word;
    return {};
}

}  // namespace cairn::device::cuda
