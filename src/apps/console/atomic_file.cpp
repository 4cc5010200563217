#include "apps/console/atomic_file.hpp"

#include "apps/console/text_file.hpp"
#include "cairn/error.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <system_error>

namespace cairn::console {

AtomicFile::AtomicFile(const std::string& path, bool may_replace)
    : path_(path), temporary_path_(fmt::format("{}.{}.part", path, ::getpid())) {
    check_can_write(path);
    std::error_code fault;
    const bool exists = std::filesystem::exists(path_, fault);
    if (exists && !std::filesystem::is_regular_file(path_, fault))
        throw Error(ErrorKind::file, "write", path + " is not a regular file");
    if (exists && !may_replace) throw Error(ErrorKind::file, "write", path + " is there already: --force replaces it");
    write_text(temporary_path_.string(), {});
}

AtomicFile::~AtomicFile() {
    std::error_code ignored;
    std::filesystem::remove(temporary_path_, ignored);
}

void AtomicFile::commit() {
    std::error_code fault;
    std::filesystem::rename(temporary_path_, path_, fault);
    if (fault) throw Error(ErrorKind::file, "write", fmt::format("{}: {}", path_.string(), fault.message()));
}

}  // namespace cairn::console
