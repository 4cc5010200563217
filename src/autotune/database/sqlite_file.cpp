#include "autotune/database/sqlite_file.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <system_error>
#include <utility>

namespace cairn::autotune {
namespace {

FaultKind kind_of(int code) {
    const auto is_one_of = [](int given, std::initializer_list<int> codes) {
        return std::find(codes.begin(), codes.end(), given) != codes.end();
    };
    if (is_one_of(code, {SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_SHMSIZE}))
        return FaultKind::full;
    const int primary = code & 0xff;
    if (is_one_of(primary, {SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL})) return FaultKind::busy;
    if (primary == SQLITE_FULL) return FaultKind::full;
    if (is_one_of(primary, {SQLITE_CORRUPT, SQLITE_NOTADB})) return FaultKind::corrupt;
    // Codes of a missing table or column.
    if (is_one_of(primary, {SQLITE_SCHEMA, SQLITE_ERROR})) return FaultKind::foreign;
    return FaultKind::refused;
}

[[noreturn]] void fail(sqlite3* database, int code) {
    if (database == nullptr) throw DatabaseFault{sqlite3_errstr(code), kind_of(code)};
    throw DatabaseFault{sqlite3_errmsg(database), kind_of(sqlite3_extended_errcode(database))};
}

/// SQLite URI of a file name with parameters.
std::string uri_of(const std::string& name, std::string_view parameters) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    // In a URI two slashes introduce a host name.
    std::string uri = name.starts_with('/') ? "file://" : "file:";
    for (const char c : name) {
        if (c == '%' || c == '?' || c == '#') {
            uri += '%';
            uri += digits[static_cast<unsigned char>(c) >> 4];
            uri += digits[static_cast<unsigned char>(c) & 15];
        } else {
            uri += c;
        }
    }
    return uri.append("?").append(parameters);
}

// SQLite keeps a journal beside the file, whose name is longer by "-journal". Its limit for a whole path is 512 bytes.
constexpr std::size_t max_name_bytes = 255 - 8, max_path_bytes = 512 - 8;

/// Why a file of this path cannot be written because of the length of its name; empty if it can.
std::string length_fault(const std::filesystem::path& path) {
    if (const std::size_t bytes = path.filename().native().size(); bytes > max_name_bytes)
        return "its name has " + std::to_string(bytes) + " bytes, of which SQLite takes " +
               std::to_string(max_name_bytes) + " at most";
    std::error_code ignored;
    if (const std::size_t bytes = std::filesystem::absolute(path, ignored).native().size(); bytes > max_path_bytes)
        return "its path has " + std::to_string(bytes) + " bytes, of which SQLite takes " +
               std::to_string(max_path_bytes) + " at most";
    return {};
}

}  // namespace

std::string sqlite_name(const std::filesystem::path& path) {
    std::string name = path.string();
    if (name.empty()) throw DatabaseFault{"its name is empty"};
    if (name.find('\0') != name.npos) throw DatabaseFault{"its name holds a NUL"};
    return path.is_absolute() ? name : "./" + name;
}

Statement::Statement(sqlite3* database, std::string_view sql, std::int64_t* runs) : database_(database), runs_(runs) {
    const int code = sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
    if (code != SQLITE_OK) fail(database, code);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      runs_(other.runs_),
      is_running_(other.is_running_) {}

Statement& Statement::bind(int at, std::string_view text) {
    // A null pointer would be bound as NULL.
    sqlite3_bind_text64(statement_, at, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    return *this;
}

Statement& Statement::bind(int at, std::int64_t value) {
    sqlite3_bind_int64(statement_, at, value);
    return *this;
}

Statement& Statement::bind(int at, double value) {
    sqlite3_bind_double(statement_, at, value);
    return *this;
}

Statement& Statement::bind_blob(int at, std::string_view bytes) {
    sqlite3_bind_blob64(statement_, at, bytes.empty() ? "" : bytes.data(), bytes.size(), SQLITE_STATIC);
    return *this;
}

bool Statement::step() {
    if (!std::exchange(is_running_, true)) ++*runs_;
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    is_running_ = false;
    if (code == SQLITE_DONE) return false;
    const DatabaseFault fault{sqlite3_errmsg(database_), kind_of(sqlite3_extended_errcode(database_))};
    sqlite3_reset(statement_);
    throw fault;
}

void Statement::reset() noexcept {
    is_running_ = false;
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_INTEGER ? sqlite3_column_int64(statement_, column)
                                                                     : std::numeric_limits<std::int64_t>::min();
}

double Statement::number(int column) const {
    const int type = sqlite3_column_type(statement_, column);
    return type == SQLITE_FLOAT || type == SQLITE_INTEGER ? sqlite3_column_double(statement_, column)
                                                          : std::numeric_limits<double>::quiet_NaN();
}

std::string Statement::text(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    return bytes == nullptr ? std::string()
                            : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

SqliteFile::SqliteFile(const std::filesystem::path& path, Access access) {
    int flags = SQLITE_OPEN_FULLMUTEX;
    std::string name = sqlite_name(path);
    if (access == Access::read_write) {
        if (std::string fault = length_fault(path); !fault.empty()) throw DatabaseFault{std::move(fault)};
        flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    } else {
        flags |= SQLITE_OPEN_READONLY;
        if (access == Access::immutable) {
            flags |= SQLITE_OPEN_URI;
            name = uri_of(name, "immutable=1");
        }
    }
    const int code = sqlite3_open_v2(name.c_str(), &database_, flags, nullptr);
    if (code == SQLITE_OK && (access != Access::read_write || sqlite3_db_readonly(database_, "main") == 0)) return;
    const DatabaseFault fault =
        code == SQLITE_OK ? DatabaseFault{"it may only be read"}
                          : DatabaseFault{database_ != nullptr ? sqlite3_errmsg(database_) : sqlite3_errstr(code)};
    sqlite3_close(database_);
    throw fault;
}

SqliteFile::~SqliteFile() { sqlite3_close_v2(database_); }

void SqliteFile::wait_for_locks(int milliseconds) noexcept { sqlite3_busy_timeout(database_, milliseconds); }

void SqliteFile::execute(const std::string& sql) {
    ++runs_;
    const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(database_, code);
}

std::int64_t SqliteFile::ask(std::string_view sql) {
    Statement statement = prepare(sql);
    return statement.step() ? statement.integer(0) : 0;
}

std::int64_t SqliteFile::changes() const noexcept { return sqlite3_changes64(database_); }

bool SqliteFile::has_moved() const noexcept {
    int moved = 0;
    return sqlite3_file_control(database_, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

bool SqliteFile::is_in_transaction() const noexcept { return sqlite3_get_autocommit(database_) == 0; }

Transaction::~Transaction() {
    if (!file_.is_in_transaction()) return;
    try {
        file_.execute("ROLLBACK");
    } catch (const DatabaseFault&) {  // SQLite has already rolled it back
    }
}

}  // namespace cairn::autotune
