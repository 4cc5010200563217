#pragma once

#include "autotune/database/rows.hpp"
#include "autotune/database/sqlite_file.hpp"

/// Writes rows to a database file.
namespace cairn::autotune {

/// Adds rows to a file of the current schema version, which must outlive the writer.
class RowWriter {
public:
    explicit RowWriter(SqliteFile& file);

    /// Adds a row, which must be valid (why_invalid). False if the row is there already. Throws DatabaseFault.
    bool insert(const Row& row);

private:
    struct Parents {
        std::string problem, candidate, environment, policy;
    };
    std::string put_environment(const std::string& hard, const std::string& soft);
    void put_text(Statement& statement, const std::string& id, const std::string& text);
    Parents put_parents(const Key& key);
    bool run(Statement& statement);
    bool insert(const std::string& id, const SessionRow& row);
    bool insert(const std::string& id, const TimeRow& row);
    bool insert(const std::string& id, const ErrorRow& row);
    bool insert(const std::string& id, const ChoiceRow& row);
    bool insert(const std::string& id, const RuleRow& row);

    SqliteFile& file_;
    Statement problem_, candidate_, environment_, policy_, session_, time_, error_, choice_, rule_;
};

}  // namespace cairn::autotune
