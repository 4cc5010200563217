#include "apps/cli/scratch_folder.hpp"

#include "cairn/error.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace cairn::cli {

ScratchFolder::ScratchFolder() {
    std::error_code fault;
    std::string name = (std::filesystem::temp_directory_path(fault) / "cairn-XXXXXX").string();
    if (fault || ::mkdtemp(name.data()) == nullptr) {
        const std::string reason = fault ? fault.message() : std::generic_category().message(errno);
        throw Error(ErrorKind::file, "write", "no folder can be made for temporary files: " + reason);
    }
    path_ = name;
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace cairn::cli
