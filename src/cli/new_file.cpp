#include "cli/new_file.hpp"

#include "cairn/error.hpp"
#include "cli/host.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <system_error>

namespace cairn::cli {

NewFile::NewFile(const std::string& path, bool may_replace)
    : path_(path), unfinished_(fmt::format("{}.{}.part", path, ::getpid())) {
    check_can_write(path);
    std::error_code fault;
    const bool exists = std::filesystem::exists(path_, fault);
    if (exists && !std::filesystem::is_regular_file(path_, fault))
        throw Error(ErrorKind::file, "write", path + " is no plain file");
    if (exists && !may_replace) throw Error(ErrorKind::file, "write", path + " is there already: --force replaces it");
    write_text(unfinished_.string(), {});
}

NewFile::~NewFile() {
    std::error_code ignored;
    std::filesystem::remove(unfinished_, ignored);
}

void NewFile::keep() {
    std::error_code fault;
    std::filesystem::rename(unfinished_, path_, fault);
    if (fault) throw Error(ErrorKind::file, "write", fmt::format("{}: {}", path_.string(), fault.message()));
}

}  // namespace cairn::cli
