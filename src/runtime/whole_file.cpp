#include "runtime/whole_file.hpp"

#include "cairn/error.hpp"

#include <unistd.h>

#include <fstream>
#include <string>
#include <system_error>

namespace cairn::inline v0::runtime {
namespace {

constexpr std::streamsize stretch = 1 << 16;  // of a file, read at once

}  // namespace

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
        std::string contents;
        for (std::size_t read = 0; file.good(); contents.resize(read)) {
            contents.resize(read + stretch);
            file.read(&contents[read], stretch);
            read += static_cast<std::size_t>(file.gcount());
        }
        if (file.is_open() && !file.bad()) return contents;
    } catch (const std::ios_base::failure&) {}  // a folder opens, and only then fails
    throw Error(ErrorKind::file, std::string(part), "cannot read " + std::string(what) + ' ' + path.string());
}

}  // namespace cairn::inline v0::runtime
