#include "apps/console/text_file.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

namespace cairn::console {
namespace {

[[noreturn]] void fail_file(std::string_view verb, const std::string& path, int code) {
    throw Error(ErrorKind::file, verb, fmt::format("{}: {}", path, std::generic_category().message(code)));
}

}  // namespace

std::string read_text(const std::string& path) {
    const auto close = [](std::FILE* file) { return file == stdin ? 0 : std::fclose(file); };
    const std::unique_ptr<std::FILE, decltype(close)> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"), close);
    if (file == nullptr) fail_file("read", path, errno);
    std::string text;
    std::array<char, 65536> part;
    while (const std::size_t count = std::fread(part.data(), 1, part.size(), file.get()))
        text.append(part.data(), count);
    if (std::ferror(file.get()) != 0) fail_file("read", path, errno);
    return text;
}

void check_can_write(const std::string& path) {
    if (path.empty()) return;
    std::error_code fault;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder, fault)) fail_file("write", path, ENOENT);
    if (std::filesystem::is_directory(path, fault)) fail_file("write", path, EISDIR);
}

void write_text(const std::string& path, std::string_view text) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) fail_file("write", path, errno);
    // An empty text may have a null address.
    const bool written =
        (text.empty() || std::fwrite(text.data(), 1, text.size(), file) == text.size()) && std::fflush(file) == 0;
    const int code = errno;
    std::fclose(file);
    if (!written) fail_file("write", path, code);
}

}  // namespace cairn::console
