#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

/// A thin C++ wrapper of the SQLite calls that the timing database needs. Faults are exceptions that never leave
/// src/autotune.
namespace cairn::autotune {

enum class FaultKind : std::uint8_t {
    busy,     ///< another connection holds a lock: try later
    full,     ///< no space to write: try later
    refused,  ///< it cannot be opened, read or written: a folder, no permission, no such folder
    corrupt,  ///< its contents are damaged, or it is not a database
    foreign,  ///< it belongs to another program, or has a version that cannot be read
};

/// A fault of the database file.
struct DatabaseFault {
    std::string reason;
    FaultKind kind = FaultKind::refused;
};

/// The name by which SQLite opens exactly the file at a path. SQLite interprets `:memory:`, names that begin with
/// `file:` and the empty name in another sense. Throws DatabaseFault for a path that no file can have: an empty one, or
/// one that contains a NUL.
std::string sqlite_name(const std::filesystem::path& path);

/// A prepared statement, to be reset after each use.
class Statement {
public:
    Statement(sqlite3* database, std::string_view sql, std::int64_t* runs);
    ~Statement();
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;

    /// Binds a parameter; numbers start at 1. Text and bytes must stay valid until the next reset.
    Statement& bind(int at, std::string_view text);
    Statement& bind(int at, std::int64_t value);
    Statement& bind(int at, int value) { return bind(at, static_cast<std::int64_t>(value)); }
    Statement& bind(int at, double value);
    Statement& bind_blob(int at, std::string_view bytes);
    /// Advances to the next row; false if there is none. Throws DatabaseFault.
    bool step();
    /// Drops the current row and the parameters.
    void reset() noexcept;

    /// Value of a column. If the column has another type, a value that no valid row contains: the least integer, or
    /// NaN.
    std::int64_t integer(int column) const;
    double number(int column) const;
    /// Value of a text or blob column.
    std::string text(int column) const;

private:
    sqlite3* database_;
    sqlite3_stmt* statement_ = nullptr;
    std::int64_t* runs_;
    bool is_running_ = false;
};

enum class Access : std::uint8_t {
    read_write,
    read_only,
    immutable,  ///< reads the file without locking, even if others may write it: for folders in which no lock can be
                ///< held
};

/// An open database file.
class SqliteFile {
public:
    /// Opens the file of exactly this path; read_write creates it if it is missing. Throws DatabaseFault, also if
    /// read_write was requested and the file is read-only.
    SqliteFile(const std::filesystem::path& path, Access access);
    ~SqliteFile();
    SqliteFile(const SqliteFile&) = delete;
    SqliteFile& operator=(const SqliteFile&) = delete;

    /// Sets how long to wait for locks of others; 0 by default.
    void wait_for_locks(int milliseconds) noexcept;
    void execute(const std::string& sql);
    Statement prepare(std::string_view sql) { return Statement(database_, sql, &runs_); }
    /// Runs a query such as a pragma and returns its first integer.
    std::int64_t ask(std::string_view sql);
    /// Number of rows that the last statement changed.
    std::int64_t changes() const noexcept;
    /// True if the path now names another file, or none.
    bool has_moved() const noexcept;
    bool is_in_transaction() const noexcept;
    /// Number of statements run so far.
    std::int64_t runs() const noexcept { return runs_; }

private:
    sqlite3* database_ = nullptr;
    std::int64_t runs_ = 0;
};

/// A write transaction: BEGIN IMMEDIATE, and ROLLBACK in the destructor unless it was committed.
class Transaction {
public:
    explicit Transaction(SqliteFile& file) : file_(file) { file.execute("BEGIN IMMEDIATE"); }
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit() { file_.execute("COMMIT"); }

private:
    SqliteFile& file_;
};

}  // namespace cairn::autotune
