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

/// What was recorded here, and how much of it the file holds. All of it is kept: if the file becomes another one, that
/// gets it too.
class Journal {
public:
    /// Rows go to the file of `reader`, which must outlive it; null: nowhere.
    Journal(DatabaseReader* reader, std::string program);

    /// Adds a row, of the session of these environments.
    template <typename T>
    void add(T row, const TimingEnvironment& environment) {
        row.session = session_of(environment);
        rows_.emplace_back(std::move(row));
    }
    /// Writes what the file does not hold; false while it does not take it.
    bool flush();
    /// The same, waiting for locks for ten seconds.
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
