#include "autotune/database/database.hpp"

#include "autotune/database/folder_lock.hpp"
#include "autotune/database/schema.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>
#include <utility>

namespace cairn::autotune {
namespace {

constexpr std::chrono::milliseconds pause_when_busy{50}, pause_when_refused{1000};
constexpr int max_attempts = 4;  // attempts to open the file while others rename it
constexpr const char* replaced = "it was deleted or replaced; what was recorded here is written again";

bool path_exists(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

/// True if the file is missing or empty: another process may be creating it.
bool is_unmade(const std::filesystem::path& path) {
    std::error_code ignored;
    return !path_exists(path) ||
           (std::filesystem::is_regular_file(path, ignored) && std::filesystem::file_size(path, ignored) == 0);
}

void remove(const std::filesystem::path& path) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
}

/// Device and inode of a file; nothing if there is no such file.
std::optional<std::pair<std::uint64_t, std::uint64_t>> identity_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return std::nullopt;
    return std::pair(std::uint64_t{status.st_dev}, std::uint64_t{status.st_ino});
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
    return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// True if the permissions of the file and of its folder allow this process to write.
bool permits_writing(const std::filesystem::path& path) {
    return ::access(path.c_str(), W_OK) == 0 && ::access(folder_of(path).c_str(), W_OK) == 0;
}

}  // namespace

Database::Database(std::filesystem::path path, Access access, Log log)
    : path_(std::move(path)), access_(access), log_(std::move(log)) {}

std::string Database::shown_path() const {
    std::string text;
    for (const char c : path_.string()) text += c == '\0' ? std::string("\\0") : std::string(1, c);
    return text;
}

void Database::log_once(const std::string& text) {
    if (log_ && logged_.insert(text).second) log_(fmt::format("timing database {}: {}", shown_path(), text));
}

Database::Stamp Database::stamp() const {
    std::error_code ignored;
    Stamp stamp;
    stamp.written = std::filesystem::last_write_time(path_, ignored);
    stamp.bytes = std::filesystem::file_size(path_, ignored);
    return stamp;
}

// For a file read without locks only the stamp shows that it was written.
bool Database::is_replaced() const { return file_->has_moved() || (is_immutable_ && !(stamp() == stamp_)); }

/// True if another thread or process has quarantined the open file, as quarantine() does.
bool Database::was_quarantined() const { return identity_ && identity_ == identity_of(companion(".corrupt")); }

SqliteFile* Database::use() {
    if (file_ != nullptr) {
        if (!is_replaced()) return file_.get();
        if (is_writable_ && !was_quarantined()) log_once(replaced);
        close();
        next_try_ = {};
    }
    if (Clock::now() < next_try_) return nullptr;
    // Two attempts: the first one renames a damaged file.
    for (int attempt = 0; attempt < 2 && Clock::now() >= next_try_; ++attempt) try {
            open();
            return file_.get();
        } catch (const DatabaseFault& fault) {
            this->fault(fault);
            close();
        }
    return nullptr;
}

SqliteFile* Database::use_for_writing() {
    // A file that was read-only may be writable by now.
    if (file_ != nullptr && !is_writable_ && access_ == Access::read_write && Clock::now() >= next_try_) close();
    SqliteFile* const file = use();
    return is_writable() ? file : nullptr;
}

void Database::wait_for_locks(int milliseconds) noexcept {
    lock_wait_ = milliseconds;
    if (file_ != nullptr) file_->wait_for_locks(milliseconds);
}

void Database::close() {
    if (file_ == nullptr) return;
    for (const auto& work : before_closing_) work();
    file_.reset();
}

void Database::open() {
    close();
    (void)sqlite_name(path_);  // throws for a path that no file can have
    if (access_ == Access::read_write)
        open_for_writing();
    else
        open_for_reading();
}

void Database::open_for_writing() {
    if (!path_exists(folder_of(path_))) throw DatabaseFault{"there is no such folder"};
    for (int attempt = 1; attempt <= max_attempts && !open_in_place(attempt == max_attempts); ++attempt) {}
    if (file_ == nullptr) throw DatabaseFault{"other processes replace it all the time", FaultKind::busy};
}

/// Opens the file at the path. False, with no file open, if another process renamed it meanwhile, or may have: SQLite
/// refuses a file whose companions are renamed while it opens them. The last attempt takes that for a file that may
/// only be read.
bool Database::open_in_place(bool is_last) {
    try {
        if (!is_unmade(path_)) {
            open_and_set_up();
            return is_in_place();
        }
        const FolderLock lock(folder_of(path_));
        if (!path_exists(path_)) {
            // SQLite would take the companion files of a deleted file for those of the new one.
            remove(companion("-wal"));
            remove(companion("-shm"));
        }
        open_and_set_up();
        return is_in_place();
    } catch (const DatabaseFault& fault) {
        if (file_ != nullptr && !is_in_place()) return false;
        if (fault.kind != FaultKind::refused || !path_exists(path_)) throw;
        close();
        if (!is_last && permits_writing(path_)) return false;
        open_for_reading();
        next_try_ = Clock::now() + pause_when_refused;
        log_once("it may only be read: new timings are kept in memory");
        return true;
    }
}

/// Closes the file and returns false if it was renamed since it was opened.
bool Database::is_in_place() {
    if (!file_->has_moved()) return true;
    close();
    return false;
}

void Database::open_and_set_up() {
    is_immutable_ = false;
    is_writable_ = true;
    file_ = std::make_unique<SqliteFile>(path_, Access::read_write);
    file_->wait_for_locks(lock_wait_);
    identity_ = identity_of(path_.string());
    // With cell_size_check SQLite reports a page whose cells exceed its bounds as damaged when it is read.
    file_->execute("PRAGMA cell_size_check=ON; PRAGMA foreign_keys=OFF;");
    prepare_schema(*file_);
    version_ = readable_version(*file_);
    is_writable_ = is_writable_version(*file_);
    if (!is_writable_) {
        next_try_ = Clock::now() + pause_when_refused;
        return log_once("a newer version wrote it: it is read, and new timings are kept in memory");
    }
    try {
        // A file system without shared memory refuses the write-ahead log; the rollback journal is kept then, and also
        // while another connection reads.
        file_->execute("PRAGMA journal_mode=WAL;");
    } catch (const DatabaseFault& fault) {
        if (fault.kind == FaultKind::corrupt) throw;
    }
    file_->execute("PRAGMA synchronous=NORMAL;");
}

void Database::open_for_reading() {
    is_writable_ = false;
    if (!path_exists(path_)) throw DatabaseFault{"there is no such file"};
    for (const Access access : {Access::read_only, Access::immutable}) try {
            is_immutable_ = access == Access::immutable;
            stamp_ = stamp();
            file_ = std::make_unique<SqliteFile>(path_, access);
            file_->wait_for_locks(lock_wait_);
            file_->execute("PRAGMA cell_size_check=ON;");
            version_ = readable_version(*file_);
            return;
        } catch (const DatabaseFault& fault) {
            close();
            // If its companion files can be neither created nor read, the file is opened as immutable.
            if (is_immutable_ || fault.kind != FaultKind::refused) throw;
        }
}

void Database::fault(const DatabaseFault& fault) {
    if (fault.kind == FaultKind::refused && file_ != nullptr && is_writable_ && file_->has_moved()) {
        // SQLite refuses to write to a renamed file.
        if (!was_quarantined()) log_once(replaced);
        close();
        next_try_ = {};
        return;
    }
    last_fault_ = fault.kind;
    reason_ = fault.reason;
    switch (fault.kind) {
        case FaultKind::busy:
        case FaultKind::full:
            log_once(fault.reason + "; new timings wait in memory");
            // After one timeout do not wait again for each row.
            wait_for_locks(0);
            next_try_ = Clock::now() + (fault.kind == FaultKind::busy ? pause_when_busy : pause_when_refused);
            return;
        case FaultKind::corrupt:
            if (is_writable_) return quarantine(fault.reason);
            [[fallthrough]];
        case FaultKind::refused:
        case FaultKind::foreign: break;
    }
    close();
    next_try_ = Clock::now() + pause_when_refused;
    log_once(fault.reason + (access_ == Access::read_write ? "; timings are kept in memory" : "; it is not read"));
}

void Database::quarantine(const std::string& reason) {
    const FolderLock lock(folder_of(path_));
    // Another process may have renamed it first, and the path names a new file. If no file is open, an earlier fault
    // renamed it.
    const bool is_gone = file_ == nullptr || file_->has_moved();
    close();
    if (is_gone) return;
    if (lock.is_taken()) {
        last_fault_ = FaultKind::busy;
        next_try_ = Clock::now() + pause_when_busy;
        return log_once(reason + "; another process holds its folder; new timings wait in memory");
    }
    std::filesystem::path quarantined = companion(".corrupt");
    std::error_code failure, ignored;
    remove(quarantined.string() + "-wal");
    remove(quarantined.string() + "-shm");
    std::filesystem::rename(path_, quarantined, failure);
    // On a file system without locks another process may have renamed it since the check.
    if (failure == std::errc::no_such_file_or_directory) return;
    if (failure) {
        next_try_ = Clock::now() + pause_when_refused;
        return log_once(
            fmt::format("{}; it cannot be set aside: {}; timings are kept in memory", reason, failure.message()));
    }
    std::filesystem::rename(companion("-wal"), quarantined.string() + "-wal", ignored);
    remove(companion("-shm"));
    quarantined_ = {std::move(quarantined), reason};
}

std::optional<Database::QuarantinedFile> Database::take_quarantined() {
    return std::exchange(quarantined_, std::nullopt);
}

}  // namespace cairn::autotune
