#include "autotune/database/schema.hpp"

#include <string>

namespace cairn::autotune {
namespace {

// Ids are 128-bit digests of the text beside them, so rows of two files can be distinguished and merged without
// renumbering.
constexpr std::string_view time_tables = R"sql(
CREATE TABLE problem(id BLOB PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE candidate(id BLOB PRIMARY KEY, kernel TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE environment(id BLOB PRIMARY KEY, hard TEXT NOT NULL, soft TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE policy(id BLOB PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE measurement(
  id BLOB PRIMARY KEY,
  key BLOB NOT NULL,
  problem BLOB NOT NULL REFERENCES problem(id),
  candidate BLOB NOT NULL REFERENCES candidate(id),
  environment BLOB NOT NULL REFERENCES environment(id),
  policy BLOB NOT NULL REFERENCES policy(id),
  status INTEGER NOT NULL,
  samples INTEGER NOT NULL, inner INTEGER NOT NULL,
  min REAL NOT NULL, p10 REAL NOT NULL, median REAL NOT NULL, p90 REAL NOT NULL, mad REAL NOT NULL,
  bound REAL NOT NULL, quality INTEGER NOT NULL, note TEXT NOT NULL,
  time INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX measurement_by_key ON measurement(key, quality DESC, samples DESC, time DESC);
)sql";

// `class` is the key of all problems that one error violation applies to.
constexpr std::string_view accuracy_tables = R"sql(
CREATE TABLE accuracy(
  id BLOB PRIMARY KEY,
  key BLOB NOT NULL, class BLOB NOT NULL, class_text TEXT NOT NULL,
  problem BLOB NOT NULL REFERENCES problem(id),
  candidate BLOB NOT NULL REFERENCES candidate(id),
  environment BLOB NOT NULL REFERENCES environment(id),
  error REAL NOT NULL, relative REAL NOT NULL, largest REAL NOT NULL, promised REAL NOT NULL,
  inputs TEXT NOT NULL, compared TEXT NOT NULL,
  time INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX accuracy_by_key ON accuracy(key, error DESC);
CREATE INDEX accuracy_by_class ON accuracy(class, error DESC);
)sql";

// Rows written before schema version 3 have no session. `format` tells older libraries whether they may read the file:
// those that know schema version `reader` may.
constexpr std::string_view session_tables = R"sql(
CREATE TABLE session(
  id BLOB PRIMARY KEY,
  environment BLOB NOT NULL REFERENCES environment(id),
  version TEXT NOT NULL, program TEXT NOT NULL,
  time INTEGER NOT NULL
) WITHOUT ROWID;
ALTER TABLE measurement ADD COLUMN session BLOB NOT NULL DEFAULT x'';
ALTER TABLE accuracy ADD COLUMN session BLOB NOT NULL DEFAULT x'';
CREATE TABLE choice(
  id BLOB PRIMARY KEY,
  key BLOB NOT NULL,
  question TEXT NOT NULL, answer TEXT NOT NULL,
  environment BLOB NOT NULL REFERENCES environment(id),
  policy BLOB NOT NULL REFERENCES policy(id),
  ratio REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL, samples INTEGER NOT NULL,
  time INTEGER NOT NULL, session BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX choice_by_key ON choice(key, time DESC);
CREATE TABLE rule(
  id BLOB PRIMARY KEY,
  kernel TEXT NOT NULL, problem TEXT NOT NULL, verdict INTEGER NOT NULL, reason TEXT NOT NULL,
  time INTEGER NOT NULL, session BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE format(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO format VALUES('reader', 3);
)sql";

void check_owner(SqliteFile& file) {
    if (file.ask("PRAGMA application_id") != application_id)
        throw DatabaseFault{"it belongs to another program", FaultKind::foreign};
}

}  // namespace

void prepare_schema(SqliteFile& file) {
    const auto is_empty = [&] {
        return file.ask("PRAGMA application_id") == 0 && file.ask("PRAGMA user_version") == 0 &&
               file.ask("SELECT count(*) FROM sqlite_schema") == 0;
    };
    if (!is_empty()) {
        check_owner(file);
        if (file.ask("PRAGMA user_version") >= schema_version) return;
    }
    Transaction transaction(file);
    // Another process may have created the tables meanwhile.
    if (!is_empty()) check_owner(file);
    const std::int64_t present = file.ask("PRAGMA user_version");
    if (present < 1) file.execute(std::string(time_tables));
    if (present < 2) file.execute(std::string(accuracy_tables));
    if (present < 3) file.execute(std::string(session_tables));
    if (present < schema_version)
        file.execute("PRAGMA application_id=" + std::to_string(application_id) +
                     ";PRAGMA user_version=" + std::to_string(schema_version) + ";");
    transaction.commit();
}

std::int64_t readable_version(SqliteFile& file) {
    check_owner(file);
    const std::int64_t version = file.ask("PRAGMA user_version");
    if (version >= 1 && version <= schema_version) return version;
    if (version < 1) throw DatabaseFault{"it has no schema version", FaultKind::foreign};
    std::int64_t reader = version;
    try {
        reader = file.ask("SELECT value FROM format WHERE name='reader'");
    } catch (const DatabaseFault& fault) {
        if (fault.kind != FaultKind::foreign) throw;
    }
    if (reader < 1 || reader > schema_version)
        throw DatabaseFault{"it was written by a newer version", FaultKind::foreign};
    return schema_version;
}

bool is_writable_version(SqliteFile& file) { return file.ask("PRAGMA user_version") == schema_version; }

}  // namespace cairn::autotune
