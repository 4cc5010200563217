#pragma once

#include "autotune/database/sqlite_file.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A database file as it is met in the field: not there yet, locked, deleted while it is open, damaged.
namespace cairn::autotune {

class Database {
public:
    using Log = std::function<void(std::string_view)>;
    /// Nothing is touched before it is used. With read_only the file is never made nor changed.
    Database(std::filesystem::path path, Access access, Log log);
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// The file, opened now if it was not, or if the path has become another file. Null where it cannot be had: that is
    /// logged once for each reason, and not tried again for a while.
    SqliteFile* use();
    /// The same, if rows can be written.
    SqliteFile* use_for_writing();
    /// The file if it is open, whatever became of the path meanwhile.
    SqliteFile* open_file() const noexcept { return file_.get(); }
    /// Handles a fault that a use of the file threw. A damaged file is renamed by exactly one of the threads and
    /// processes that have it open for writing; the others open the new file at their next use.
    void fault(const DatabaseFault& fault);
    /// Why it could not be used.
    const std::string& reason() const noexcept { return reason_; }
    /// The next use tries, whatever the last one came to.
    void try_again() noexcept {
        next_try_ = {};
        last_fault_.reset();
    }

    /// How long others' locks are waited for: after a wait in vain not at all, until this is called.
    void wait_for_locks(int milliseconds = 250) noexcept;

    /// Called before the file is closed: whoever holds statements lets go of them.
    void before_closing(std::function<void()> work) { before_closing_.push_back(std::move(work)); }
    /// Of which kind the last fault was, since try_again.
    std::optional<FaultKind> last_fault() const noexcept { return last_fault_; }
    bool is_writable() const noexcept { return file_ != nullptr && is_writable_; }
    /// The schema as which it is read.
    std::int64_t version() const noexcept { return version_; }
    /// A damaged file that was renamed, until somebody takes it from here, and logs it.
    struct QuarantinedFile {
        std::filesystem::path path;
        std::string reason;
    };
    bool has_quarantined() const noexcept { return quarantined_.has_value(); }
    std::optional<QuarantinedFile> take_quarantined();
    void log_once(const std::string& text);
    const std::filesystem::path& path() const noexcept { return path_; }
    /// The path in messages, where a NUL would end them.
    std::string shown_path() const;
    void close();

private:
    using Clock = std::chrono::steady_clock;
    struct Stamp {
        std::filesystem::file_time_type written;
        std::uintmax_t bytes = 0;
        bool operator==(const Stamp&) const = default;
    };
    void open();
    void open_for_writing();
    void open_for_reading();
    bool open_in_place();
    bool is_in_place();
    void open_and_set_up();
    bool is_replaced() const;
    Stamp stamp() const;
    void quarantine(const std::string& reason);
    std::string companion(std::string_view tail) const { return path_.string().append(tail); }
    bool was_quarantined() const;

    std::filesystem::path path_;
    Access access_;
    Log log_;
    std::unique_ptr<SqliteFile> file_;
    bool is_writable_ = false, is_immutable_ = false;
    std::optional<FaultKind> last_fault_;
    std::int64_t version_ = 0;
    int lock_wait_ = 250;
    std::vector<std::function<void()>> before_closing_;
    Stamp stamp_;                                                      // of an immutable file
    std::optional<std::pair<std::uint64_t, std::uint64_t>> identity_;  // of the open file
    Clock::time_point next_try_ = {};
    std::set<std::string> logged_;
    std::string reason_;
    std::optional<QuarantinedFile> quarantined_;
};

}  // namespace cairn::autotune
