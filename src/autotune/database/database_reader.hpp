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

/// Lookups in one database file.
namespace cairn::autotune {

template <typename T>
struct Timestamped {
    T value;
    std::int64_t time = 0;
};

/// Reads rows of one database file. Every lookup returns an empty result if the file cannot be used.
class DatabaseReader {
public:
    DatabaseReader(std::filesystem::path path, Access access, Database::Log log);

    /// Between begin_snapshot() and end_snapshot() lookups read one snapshot of the file and cache their results.
    void begin_snapshot() noexcept { is_reading_ = true; }
    void end_snapshot();
    /// Releases the snapshot; to be called before the file is written. The next lookup takes a new snapshot.
    void release_snapshot();
    /// Drops statements and cached results, for use after rows were added in bulk.
    void clear_lookups() { lookups_.reset(); }

    std::optional<Timestamped<Timing>> best_time(const std::string& key);
    std::optional<ErrorMeasurement> worst_error(const std::string& key);
    /// The largest error among rows that exceed their stated error, by the id of a problem class.
    std::optional<ErrorMeasurement> worst_violation(const std::string& class_id);
    std::optional<Timestamped<Choice>> latest_choice(const std::string& key);
    std::vector<RuleRow> rules();
    std::vector<TimingEnvironment> environments();
    /// All times of an environment (by its hard part) and a policy, without their sessions.
    std::vector<TimeRow> times(const std::string& hard, const std::string& policy);
    /// Number of times in the file, without calibration rows.
    std::int64_t size();

    /// Number of invalid rows read so far.
    std::int64_t invalid_rows() const noexcept { return invalid_rows_; }
    Database& database() noexcept { return database_; }
    const Database& database() const noexcept { return database_; }

private:
    /// A prepared statement, if the schema has the table, and its results cached within the current snapshot.
    template <typename T>
    struct Lookup {
        std::optional<Statement> statement;
        std::unordered_map<std::string, std::optional<T>> known = {};
    };
    struct Lookups {
        Lookups(SqliteFile& file, std::int64_t version);
        Lookup<Timestamped<Timing>> time;
        Lookup<ErrorMeasurement> error, violations;
        Lookup<Timestamped<Choice>> choice;
    };

    /// Returns the open file with its statements prepared, or null if there is none. Throws DatabaseFault.
    SqliteFile* ready();
    void take_snapshot(SqliteFile& file);
    /// Calls `work` with the file and returns its result; a default-constructed result if the file cannot be read.
    template <typename F>
    std::invoke_result_t<F, SqliteFile&> reading(const F& work);
    /// The first valid row that the statement finds for `id`.
    template <typename T, typename Read>
    std::optional<T> look_up(Lookup<T> Lookups::*which, const std::string& id, const Read& read);

    Database database_;
    std::optional<Lookups> lookups_;
    bool is_reading_ = false, holds_snapshot_ = false;
    std::int64_t state_ = -1;  // PRAGMA data_version of the snapshot: changes when another connection has written
    std::int64_t invalid_rows_ = 0;
};

}  // namespace cairn::autotune
