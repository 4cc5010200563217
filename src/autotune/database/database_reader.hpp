#pragma once

#include "autotune/database/database.hpp"
#include "autotune/database/rows.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

/// What is looked up in one database file.
namespace cairn::autotune {

template <typename T>
struct Timestamped {
    T value;
    std::int64_t time = 0;
};

/// All lookups answer "nothing" where the file cannot be used.
class DatabaseReader {
public:
    DatabaseReader(std::filesystem::path path, Access access, Database::Log log);

    /// Between the two, lookups read one state of the file, and each thing once.
    void begin_snapshot() noexcept { is_reading_ = true; }
    void end_snapshot();
    /// Lets go of that state, to be called before the file is written: the next lookup takes the one that is then.
    void release_snapshot();
    /// Rows were added otherwise than one by one.
    void clear_lookups() { lookups_.reset(); }

    std::optional<Timestamped<Timing>> best_time(const std::string& key);
    std::optional<ErrorMeasurement> worst_error(const std::string& key);
    /// Of the rows above their promise; by the id of a class.
    std::optional<ErrorMeasurement> worst_violation(const std::string& class_id);
    std::optional<Timestamped<Choice>> latest_choice(const std::string& key);
    std::vector<RuleRow> rules();
    std::vector<TimingEnvironment> environments();
    /// All times of an environment (its hard part) and a policy, without their sessions.
    std::vector<TimeRow> times(const std::string& hard, const std::string& policy);
    /// Times in the file, figures of machines not among them.
    std::int64_t size();

    /// Rows met that can be none.
    std::int64_t invalid_rows() const noexcept { return invalid_rows_; }
    Database& database() noexcept { return database_; }
    const Database& database() const noexcept { return database_; }

private:
    /// A statement, where the schema has the table, and what it answered in the state that is read.
    template <typename T>
    struct Lookup {
        std::optional<Statement> statement;
        std::unordered_map<std::string, std::optional<T>> known = {};
    };
    struct Lookups {
        Lookups(SqliteFile& file, std::int64_t version);
        Lookup<Timestamped<Timing>> time;
        Lookup<ErrorMeasurement> error, broken;
        Lookup<Timestamped<Choice>> choice;
    };

    /// The open file, its statements prepared; null where there is none. Throws DatabaseFault.
    SqliteFile* ready();
    void take_snapshot(SqliteFile& file);
    /// What `work` answers, given the file; nothing in its place where that cannot be read.
    template <typename F>
    std::invoke_result_t<F, SqliteFile&> reading(const F& work);
    /// The first row that can be one.
    template <typename T, typename Read>
    std::optional<T> look_up(Lookup<T> Lookups::*which, const std::string& id, const Read& read);

    Database database_;
    std::optional<Lookups> lookups_;
    bool is_reading_ = false, holds_snapshot_ = false;
    std::int64_t state_ = -1;  // as SQLite numbers those that others made
    std::int64_t invalid_rows_ = 0;
};

}  // namespace cairn::autotune
