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

/// Opens the timing database file and recovers from faults: a missing, locked, deleted or damaged file.
namespace cairn::autotune {

class Database {
public:
    using Log = std::function<void(std::string_view)>;
    /// Does not access the file before the first use. With read_only the file is never created or changed.
    Database(std::filesystem::path path, Access access, Log log);
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// Returns the file. Opens it if it is not open, or if the path has come to name another file. Null if it cannot be
    /// opened: each reason is logged once, and the next attempt is delayed.
    SqliteFile* use();
    /// As use(); null unless rows can be written.
    SqliteFile* use_for_writing();
    /// Returns the file if it is open, without checking whether the path still names it.
    SqliteFile* open_file() const noexcept { return file_.get(); }
    /// Handles a fault thrown by an access to the file. A damaged file is renamed by exactly one of the threads and
    /// processes that have it open for writing; the others open the new file at their next use.
    void fault(const DatabaseFault& fault);
    /// Reason of the last fault.
    const std::string& reason() const noexcept { return reason_; }
    /// Makes the next use try again at once, whatever the result of the last attempt.
    void try_again() noexcept {
        next_try_ = {};
        last_fault_.reset();
    }

    /// Sets how long to wait for locks of others. After one timeout the wait is 0 until this is called again.
    void wait_for_locks(int milliseconds = 250) noexcept;

    /// Registers a callback that runs before the file is closed. Holders of prepared statements release them in it.
    void before_closing(std::function<void()> work) { before_closing_.push_back(std::move(work)); }
    /// Kind of the last fault since try_again(); none if there was no fault.
    std::optional<FaultKind> last_fault() const noexcept { return last_fault_; }
    bool is_writable() const noexcept { return file_ != nullptr && is_writable_; }
    /// Schema version used to read the file.
    std::int64_t version() const noexcept { return version_; }
    /// A damaged file that was renamed. It is kept until take_quarantined(), whose caller logs it.
    struct QuarantinedFile {
        std::filesystem::path path;
        std::string reason;
    };
    bool has_quarantined() const noexcept { return quarantined_.has_value(); }
    std::optional<QuarantinedFile> take_quarantined();
    void log_once(const std::string& text);
    const std::filesystem::path& path() const noexcept { return path_; }
    /// The path for messages, with NUL bytes escaped.
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
    bool open_in_place(bool is_last);
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
