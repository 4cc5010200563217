#include "timing/schema.hpp"

namespace cairn::inline v0::timing {
namespace {

// Ids are 128-bit digests of the text beside them, so rows of two files can be told apart and merged without
// renumbering.
constexpr std::string_view tables = R"sql(
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

// Since version 2. `class` is the key of all problems that a broken promise tells of.
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

}  // namespace

void prepare_schema(SqliteFile& file, bool& newer) {
    const std::int64_t version = file.ask("PRAGMA user_version");
    const std::int64_t application = file.ask("PRAGMA application_id");
    newer = application == application_id && version > schema_version;
    if (newer) throw DatabaseFault{"it was written by a newer version", false};
    if (application == application_id && version == schema_version) return;
    const bool is_empty = application == 0 && version == 0 && file.ask("SELECT count(*) FROM sqlite_schema") == 0;
    if (application != application_id && !is_empty) throw DatabaseFault{"it belongs to another program", false};
    file.execute("BEGIN IMMEDIATE");
    // Another process may have been quicker.
    const std::int64_t present = file.ask("PRAGMA user_version");
    if (present < 1) file.execute(std::string(tables));
    if (present < 2) file.execute(std::string(accuracy_tables));
    if (present < schema_version)
        file.execute("PRAGMA application_id=" + std::to_string(application_id) +
                     ";PRAGMA user_version=" + std::to_string(schema_version) + ";");
    file.execute("COMMIT");
}

void check_pages(SqliteFile& file) {
    Statement check = file.prepare("PRAGMA quick_check(1)");
    if (check.step() && check.text(0) != "ok") throw DatabaseFault{check.text(0), true};
}

}  // namespace cairn::inline v0::timing
