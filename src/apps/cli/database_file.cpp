#include "apps/cli/database_file.hpp"

#include "cairn/error.hpp"

#include <array>
#include <fstream>
#include <string_view>
#include <system_error>

namespace cairn::cli {
namespace {

[[noreturn]] void refuse_file(const std::filesystem::path& path, const std::string& fault) {
    throw Error(ErrorKind::file, "db", path.string() + " " + fault);
}

}  // namespace

std::filesystem::path shipped_timings_file() {
    std::error_code fault;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", fault);
    if (fault) return {};
    std::filesystem::path shipped = program.parent_path().parent_path() / "share" / "cairn" / "shipped_timings.db";
    return std::filesystem::exists(shipped, fault) ? shipped : std::filesystem::path();
}

DatabaseFileInfo inspect_database_file(const std::filesystem::path& path) {
    // https://www.sqlite.org/fileformat.html: the first 16 bytes, then the write and read versions.
    constexpr std::string_view magic{"SQLite format 3\0", 16};
    constexpr std::size_t version_at = 18;
    constexpr char with_log = 2;
    std::error_code fault;
    DatabaseFileInfo file;
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    if (!std::filesystem::is_directory(folder, fault)) refuse_file(path, "cannot be used: its folder does not exist");
    file.exists = std::filesystem::exists(path, fault);
    if (!file.exists) return file;
    if (!std::filesystem::is_regular_file(path, fault)) refuse_file(path, "is not a database");
    file.bytes = std::filesystem::file_size(path, fault);
    if (file.bytes == 0) return file;  // SQLite creates empty files
    std::array<char, 20> head{};
    std::ifstream stream(path, std::ios::binary);
    if (!stream.is_open()) refuse_file(path, "cannot be read");
    if (!stream.read(head.data(), head.size()) || std::string_view(head.data(), magic.size()) != magic)
        refuse_file(path, "is not a database");
    file.has_log = head[version_at] == with_log;
    return file;
}

}  // namespace cairn::cli
