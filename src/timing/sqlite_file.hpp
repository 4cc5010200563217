#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

/// The few calls of SQLite that the timing database needs, with faults as exceptions that never leave src/timing.
namespace cairn::inline v0::timing {

/// A fault of the database file; `corrupt` when its contents are damaged or it is no database.
struct DatabaseFault {
    std::string reason;
    bool corrupt = false;
};

/// A prepared statement, reset after each use.
class Statement {
public:
    Statement(sqlite3* database, std::string_view sql);
    ~Statement();
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;

    /// Values of the parameters, from 1 on.
    Statement& bind(int at, std::string_view text);
    Statement& bind(int at, std::int64_t value);
    Statement& bind(int at, int value) { return bind(at, static_cast<std::int64_t>(value)); }
    Statement& bind(int at, double value);
    Statement& bind_blob(int at, std::string_view bytes);
    /// True while there is a row. Throws DatabaseFault.
    bool step();
    /// Forgets the present row and the parameters.
    void reset() noexcept;

    std::int64_t integer(int column) const;
    double number(int column) const;
    std::string text(int column) const;

private:
    sqlite3* database_;
    sqlite3_stmt* statement_ = nullptr;
};

enum class Access : std::uint8_t { read_write, read_only };

/// An open database file.
class SqliteFile {
public:
    /// Opens, and with read_write makes, the file. Waits at most two seconds for others' locks. Throws DatabaseFault.
    SqliteFile(const std::filesystem::path& path, Access access);
    ~SqliteFile();
    SqliteFile(const SqliteFile&) = delete;
    SqliteFile& operator=(const SqliteFile&) = delete;

    void execute(const std::string& sql);
    Statement prepare(std::string_view sql) { return Statement(database_, sql); }
    /// The first integer of a query such as a pragma.
    std::int64_t ask(std::string_view sql);
    /// Rows changed by the last statement.
    std::int64_t changes() const noexcept;

private:
    sqlite3* database_ = nullptr;
};

}  // namespace cairn::inline v0::timing
