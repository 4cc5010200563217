#include "runtime/file_io.hpp"

#include "cairn/error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>
#include <system_error>

namespace cairn::runtime {
namespace {

constexpr std::streamsize chunk_bytes = 1 << 16;  // read per call

/// Temporary file next to `path` that no other process or thread writes; removed unless it is renamed to `path`.
class NewFile {
public:
    explicit NewFile(const std::filesystem::path& path) {
        for (int attempt = 0; attempt < max_attempts && file_ < 0; ++attempt) {
            partial_ = path.native() + ".partial-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
            file_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, file_mode);
            if (file_ < 0 && errno != EEXIST) return;
        }
    }
    ~NewFile() {
        if (file_ < 0) return;
        ::close(file_);
        if (!is_renamed_) ::unlink(partial_.c_str());
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    int descriptor() const noexcept { return file_; }
    /// Renames it, once its contents are on the disk if a crash must not harm them. False with errno set.
    bool rename_to(const std::filesystem::path& path, Durability durability) {
        const bool is_written = durability == Durability::none || ::fsync(file_) == 0;
        return is_renamed_ = is_written && ::rename(partial_.c_str(), path.c_str()) == 0;
    }

private:
    static constexpr int max_attempts = 100;
    static constexpr mode_t file_mode = 0666;  // less the umask

    std::string partial_;
    int file_ = -1;
    bool is_renamed_ = false;
};

}  // namespace

void write_file(const std::filesystem::path& path, std::string_view contents, std::string_view part,
                Durability durability) {
    const auto fail = [&](int reason) {
        return Error(ErrorKind::file, std::string(part),
                     "cannot write " + path.string() + ": " + std::generic_category().message(reason));
    };
    NewFile file(path);
    if (file.descriptor() < 0) throw fail(errno);
    for (std::string_view rest = contents; !rest.empty();) {
        const ssize_t written = ::write(file.descriptor(), rest.data(), rest.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw fail(errno);
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    if (!file.rename_to(path, durability)) throw fail(errno);
}

std::string read_file(const std::filesystem::path& path, std::string_view part, std::string_view what) {
    try {
        std::ifstream file(path, std::ios::binary);
        std::string contents;
        for (std::size_t read = 0; file.good(); contents.resize(read)) {
            contents.resize(read + chunk_bytes);
            file.read(&contents[read], chunk_bytes);
            read += static_cast<std::size_t>(file.gcount());
        }
        if (file.is_open() && !file.bad()) return contents;
    } catch (const std::ios_base::failure&) {}  // a folder can be opened, but not read
    throw Error(ErrorKind::file, std::string(part), "cannot read " + std::string(what) + ' ' + path.string());
}

}  // namespace cairn::runtime
