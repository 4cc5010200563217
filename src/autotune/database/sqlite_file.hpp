#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

/// The few calls of SQLite that the timing database needs, with faults as exceptions that never leave src/autotune.
namespace cairn::autotune {

enum class FaultKind : std::uint8_t {
    busy,     ///< somebody else holds a lock: later
    full,     ///< no room for what is written: later
    refused,  ///< it cannot be opened, read or written here: a folder, no permission, no such folder
    corrupt,  ///< its contents are damaged, or it is no database
    foreign,  ///< it is of another program, or of a version that cannot be read
};

/// A fault of the database file.
struct DatabaseFault {
    std::string reason;
    FaultKind kind = FaultKind::refused;
};

/// The name by which SQLite opens the file at a path and nothing else: it takes `:memory:`, names that begin with
/// `file:` and the empty name for something else. Throws DatabaseFault for a path that no file can have: an empty one,
/// one that holds a NUL.
std::string sqlite_name(const std::filesystem::path& path);

/// A prepared statement, to be reset after each use.
class Statement {
public:
    Statement(sqlite3* database, std::string_view sql, std::int64_t* runs);
    ~Statement();
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;

    /// Values of the parameters, from 1 on. Text and bytes must stay until the next reset.
    Statement& bind(int at, std::string_view text);
    Statement& bind(int at, std::int64_t value);
    Statement& bind(int at, int value) { return bind(at, static_cast<std::int64_t>(value)); }
    Statement& bind(int at, double value);
    Statement& bind_blob(int at, std::string_view bytes);
    /// True while there is a row. Throws DatabaseFault.
    bool step();
    /// Forgets the present row and the parameters.
    void reset() noexcept;

    /// What a column holds, or what no row of ours may hold where it is of another type: the least integer, not a
    /// number.
    std::int64_t integer(int column) const;
    double number(int column) const;
    /// Of text and bytes alike.
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
    immutable,  ///< reads the file as it stands, whoever may write it: for folders in which no lock can be held
};

/// An open database file.
class SqliteFile {
public:
    /// Opens, and with read_write makes, the file of exactly this path. Throws DatabaseFault, also where read_write was
    /// asked for and the file may only be read.
    SqliteFile(const std::filesystem::path& path, Access access);
    ~SqliteFile();
    SqliteFile(const SqliteFile&) = delete;
    SqliteFile& operator=(const SqliteFile&) = delete;

    /// How long others' locks are waited for; at first not at all.
    void wait_for_locks(int milliseconds) noexcept;
    void execute(const std::string& sql);
    Statement prepare(std::string_view sql) { return Statement(database_, sql, &runs_); }
    /// The first integer of a query such as a pragma.
    std::int64_t ask(std::string_view sql);
    /// Rows changed by the last statement.
    std::int64_t changes() const noexcept;
    /// True when the path is another file by now, or none.
    bool has_moved() const noexcept;
    bool is_in_transaction() const noexcept;
    /// Statements run so far.
    std::int64_t runs() const noexcept { return runs_; }

private:
    sqlite3* database_ = nullptr;
    std::int64_t runs_ = 0;
};

/// BEGIN IMMEDIATE, and ROLLBACK unless it was committed.
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
