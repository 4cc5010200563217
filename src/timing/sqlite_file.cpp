#include "timing/sqlite_file.hpp"

#include <sqlite3.h>

#include <utility>

namespace cairn::inline v0::timing {
namespace {

constexpr int lock_wait_ms = 2000;

[[noreturn]] void fail(sqlite3* database, int code) {
    const int primary = code & 0xff;
    throw DatabaseFault{database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code),
                        primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB};
}

}  // namespace

Statement::Statement(sqlite3* database, std::string_view sql) : database_(database) {
    const int code = sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
    if (code != SQLITE_OK) fail(database, code);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}

Statement& Statement::bind(int at, std::string_view text) {
    sqlite3_bind_text64(statement_, at, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
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
    sqlite3_bind_blob64(statement_, at, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
    return *this;
}

bool Statement::step() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    fail(database_, code);
}

void Statement::reset() noexcept {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::number(int column) const { return sqlite3_column_double(statement_, column); }

std::string Statement::text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return text == nullptr ? std::string()
                           : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

SqliteFile::SqliteFile(const std::filesystem::path& path, Access access) {
    const int flags = access == Access::read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    const int code = sqlite3_open_v2(path.c_str(), &database_, flags | SQLITE_OPEN_FULLMUTEX, nullptr);
    if (code != SQLITE_OK) {
        const DatabaseFault fault{database_ != nullptr ? sqlite3_errmsg(database_) : sqlite3_errstr(code), false};
        sqlite3_close(database_);
        throw fault;
    }
    sqlite3_busy_timeout(database_, lock_wait_ms);
}

SqliteFile::~SqliteFile() { sqlite3_close_v2(database_); }

void SqliteFile::execute(const std::string& sql) {
    const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(database_, code);
}

std::int64_t SqliteFile::ask(std::string_view sql) {
    Statement statement = prepare(sql);
    return statement.step() ? statement.integer(0) : 0;
}

std::int64_t SqliteFile::changes() const noexcept { return sqlite3_changes64(database_); }

}  // namespace cairn::inline v0::timing
