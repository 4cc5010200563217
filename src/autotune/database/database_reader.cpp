#include "autotune/database/database_reader.hpp"

#include "autotune/database/row_reader.hpp"

#include <fmt/format.h>

#include <utility>

namespace cairn::autotune {
namespace {

void prepare(std::optional<Statement>& statement, SqliteFile& file, std::string_view columns, std::string_view rest) {
    statement.emplace(file.prepare(fmt::format("SELECT {} FROM {}", columns, rest)));
}

}  // namespace

DatabaseReader::Lookups::Lookups(SqliteFile& file, std::int64_t version) {
    prepare(time.statement, file, fmt::format("{}, time", timing_columns),
            "measurement WHERE key=?1 ORDER BY quality DESC, samples DESC, time DESC");
    if (version < 2) return;
    prepare(error.statement, file, error_columns, "accuracy WHERE key=?1 ORDER BY error DESC");
    prepare(violations.statement, file, error_columns,
            "accuracy WHERE class=?1 AND error > promised ORDER BY error DESC");
    if (version < 3) return;
    prepare(choice.statement, file, fmt::format("{}, time", choice_columns), "choice WHERE key=?1 ORDER BY time DESC");
}

DatabaseReader::DatabaseReader(std::filesystem::path path, Access access, Database::Log log)
    : database_(std::move(path), access, std::move(log)) {
    database_.before_closing([this] {
        lookups_.reset();
        holds_snapshot_ = false;
    });
}

void DatabaseReader::end_snapshot() {
    is_reading_ = false;
    release_snapshot();
}

void DatabaseReader::release_snapshot() {
    if (!std::exchange(holds_snapshot_, false)) return;
    try {
        if (SqliteFile* const file = database_.open_file()) file->execute("COMMIT");
    } catch (const DatabaseFault& fault) { database_.fault(fault); }
}

SqliteFile* DatabaseReader::ready() {
    // While a snapshot is held the path is not checked.
    SqliteFile* const file = holds_snapshot_ ? database_.open_file() : database_.use();
    if (file == nullptr) return nullptr;
    if (!lookups_) {
        lookups_.emplace(*file, database_.version());
        state_ = -1;
    }
    if (is_reading_ && !holds_snapshot_) take_snapshot(*file);
    return file;
}

void DatabaseReader::take_snapshot(SqliteFile& file) {
    file.execute("BEGIN");
    holds_snapshot_ = true;
    const std::int64_t state = file.ask("PRAGMA data_version");
    if (std::exchange(state_, state) == state) return;
    lookups_->time.known.clear();
    lookups_->error.known.clear();
    lookups_->violations.known.clear();
    lookups_->choice.known.clear();
}

template <typename F>
std::invoke_result_t<F, SqliteFile&> DatabaseReader::reading(const F& work) {
    try {
        if (SqliteFile* const file = ready()) return work(*file);
    } catch (const DatabaseFault& fault) {
        // fault() closes a damaged file. It comes first because ending a transaction on that file would fail too.
        database_.fault(fault);
        release_snapshot();
    }
    return {};
}

template <typename T, typename Read>
std::optional<T> DatabaseReader::look_up(Lookup<T> Lookups::*which, const std::string& id, const Read& read) {
    return reading([&](SqliteFile&) -> std::optional<T> {
        Lookup<T>& lookup = (*lookups_).*which;
        if (!lookup.statement) return std::nullopt;
        if (is_reading_)
            if (const auto it = lookup.known.find(id); it != lookup.known.end()) return it->second;
        Statement& row = *lookup.statement;
        std::optional<T> found;
        row.bind_blob(1, id);
        while (!found && row.step()) {
            found = read(row);
            if (!found) ++invalid_rows_;
        }
        row.reset();
        if (is_reading_) lookup.known.emplace(id, found);
        return found;
    });
}

std::optional<Timestamped<Timing>> DatabaseReader::best_time(const std::string& key) {
    return look_up(&Lookups::time, key, [](const Statement& row) -> std::optional<Timestamped<Timing>> {
        Timing timing = timing_of(row);
        if (!why_invalid(timing).empty()) return std::nullopt;
        return Timestamped<Timing>{std::move(timing), row.integer(timing_column_count)};
    });
}

namespace {

std::optional<ErrorMeasurement> valid_error(const Statement& row) {
    ErrorMeasurement figures = error_of(row);
    if (!why_invalid(figures).empty()) return std::nullopt;
    return figures;
}

}  // namespace

std::optional<ErrorMeasurement> DatabaseReader::worst_error(const std::string& key) {
    return look_up(&Lookups::error, key, valid_error);
}

std::optional<ErrorMeasurement> DatabaseReader::worst_violation(const std::string& class_id) {
    return look_up(&Lookups::violations, class_id, valid_error);
}

std::optional<Timestamped<Choice>> DatabaseReader::latest_choice(const std::string& key) {
    return look_up(&Lookups::choice, key, [](const Statement& row) -> std::optional<Timestamped<Choice>> {
        Choice choice = choice_of(row);
        if (!why_invalid(choice).empty()) return std::nullopt;
        return Timestamped<Choice>{std::move(choice), row.integer(choice_column_count)};
    });
}

std::vector<RuleRow> DatabaseReader::rules() {
    return reading([&](SqliteFile& file) {
        std::vector<RuleRow> rules;
        if (database_.version() < 3) return rules;
        Statement rows = file.prepare(fmt::format("SELECT {} FROM rule", rule_columns));
        while (rows.step()) {
            RuleRow rule = rule_of(rows);
            if (why_invalid(Row(rule)).empty())
                rules.push_back(std::move(rule));
            else
                ++invalid_rows_;
        }
        return rules;
    });
}

std::vector<TimingEnvironment> DatabaseReader::environments() {
    return reading([](SqliteFile& file) {
        std::vector<TimingEnvironment> environments;
        Statement rows = file.prepare("SELECT hard, soft FROM environment ORDER BY hard");
        while (rows.step()) environments.push_back({rows.text(0), rows.text(1)});
        return environments;
    });
}

std::vector<TimeRow> DatabaseReader::times(const std::string& hard, const std::string& policy) {
    return reading([&](SqliteFile& file) {
        std::vector<TimeRow> times;
        Statement rows = file.prepare(fmt::format(
            "SELECT {}, time, p.text, c.kernel FROM measurement m JOIN problem p ON p.id=m.problem JOIN candidate c ON "
            "c.id=m.candidate WHERE m.environment IN (SELECT id FROM environment WHERE hard=?1) AND m.policy IN "
            "(SELECT id FROM policy WHERE text=?2)",
            timing_columns));
        rows.bind(1, hard).bind(2, policy);
        constexpr int at = timing_column_count;
        while (rows.step()) {
            TimeRow row{{rows.text(at + 1), rows.text(at + 2), hard, {}, policy}, timing_of(rows), rows.integer(at)};
            if (why_invalid(Row(row)).empty())
                times.push_back(std::move(row));
            else
                ++invalid_rows_;
        }
        return times;
    });
}

std::int64_t DatabaseReader::size() {
    return reading([](SqliteFile& file) {
        const std::string machine = id_of(machine_problem);
        Statement row = file.prepare("SELECT count(*) FROM measurement WHERE problem != ?1");
        return row.bind_blob(1, machine).step() ? row.integer(0) : 0;
    });
}

}  // namespace cairn::autotune
