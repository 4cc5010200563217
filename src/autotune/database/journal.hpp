#pragma once

#include "autotune/database/database_reader.hpp"
#include "autotune/database/row_writer.hpp"
#include "autotune/database/rows.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cairn::autotune {

/// The rows that this process recorded, and how many of them the file holds. All rows are kept: if the path comes to
/// name another file, they are written to that one too.
class Journal {
public:
    /// Rows are written to the file of `reader`, which must outlive the journal; null: rows are kept in memory only.
    Journal(DatabaseReader* reader, std::string program);

    /// Adds a row to the session of this environment.
    template <typename T>
    void add(T row, const TimingEnvironment& environment) {
        row.session = session_of(environment);
        rows_.emplace_back(std::move(row));
    }
    /// Writes the rows that the file does not hold. False if some could not be written.
    bool flush();
    /// As flush(), for the end of the process: waits for locks for up to ten seconds.
    void flush_at_last();
    std::size_t unwritten() const noexcept { return rows_.size() - written_; }
    const std::vector<Row>& rows() const noexcept { return rows_; }

private:
    bool has_work() const noexcept { return !rows_.empty() || reader_->database().has_quarantined(); }
    const std::string& session_of(const TimingEnvironment& environment);
    void write(SqliteFile& file);
    void salvage(SqliteFile& file, const Database::QuarantinedFile& quarantined);

    DatabaseReader* reader_;
    std::string program_;
    std::optional<RowWriter> writer_;
    std::vector<Row> rows_;
    std::size_t written_ = 0;
    std::map<std::pair<std::string, std::string>, std::string> sessions_;
};

}  // namespace cairn::autotune
