#include "runtime/whole_file.hpp"

#include "cairn/error.hpp"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace cairn::inline v0::runtime {

void write_file(const std::filesystem::path& path, std::string_view contents, std::string_view part) {
    const std::filesystem::path partial = path.native() + ".partial-" + std::to_string(::getpid());
    std::ofstream file(partial, std::ios::binary);
    file << contents;
    file.close();
    std::error_code failure;
    if (file) std::filesystem::rename(partial, path, failure);
    if (!file || failure) {
        std::filesystem::remove(partial, failure);
        throw Error(ErrorKind::file, std::string(part), "cannot write " + path.string());
    }
}

std::string read_file(const std::filesystem::path& path, std::string_view part, std::string_view what) {
    try {
        std::ifstream file(path, std::ios::binary);
        std::string contents{std::istreambuf_iterator<char>(file), {}};
        if (file.is_open() && !file.bad()) return contents;
    } catch (const std::ios_base::failure&) {}  // a folder opens, and only then fails
    throw Error(ErrorKind::file, std::string(part), "cannot read " + std::string(what) + ' ' + path.string());
}

}  // namespace cairn::inline v0::runtime
