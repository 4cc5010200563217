#include "autotune/database/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace cairn::autotune {

FolderLock::FolderLock(const std::filesystem::path& folder) {
    folder_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_ < 0) return;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (::flock(folder_, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return;
        if ((is_taken_ = std::chrono::steady_clock::now() > end)) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

FolderLock::~FolderLock() {
    if (folder_ >= 0) ::close(folder_);
}

}  // namespace cairn::autotune
