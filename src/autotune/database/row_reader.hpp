#pragma once

#include "autotune/database/rows.hpp"
#include "autotune/database/sqlite_file.hpp"

#include <functional>
#include <string>
#include <string_view>

/// Reads rows from a database file: all rows, or the columns of one row.
namespace cairn::autotune {

/// The columns that timing_of() reads, in its order.
constexpr std::string_view timing_columns = "status, samples, inner, min, p10, median, p90, mad, bound, quality, note";
constexpr int timing_column_count = 11;
Timing timing_of(const Statement& row, int first = 0);

constexpr std::string_view error_columns = "relative, largest, promised, inputs, compared";
constexpr int figures_column_count = 5;
ErrorMeasurement error_of(const Statement& row, int first = 0);

constexpr std::string_view choice_columns = "answer, ratio, low, high, samples";
constexpr int choice_column_count = 5;
Choice choice_of(const Statement& row, int first = 0);

/// `kernel, problem, verdict, reason, time` of the table `rule`.
constexpr std::string_view rule_columns = "kernel, problem, verdict, reason, time";
RuleRow rule_of(const Statement& row, int first = 0);

/// Callbacks for the rows of a file.
struct RowVisitor {
    std::function<void(const Row& row)> row;  ///< a valid row
    /// An invalid or unreadable row: which one, and why.
    std::function<void(const std::string& fault)> fault = {};
};

/// Visits all rows of a file whose readable_version() is `version`: table by table, each in the order of ids. Rows on
/// damaged pages are skipped; those before and after are read. Throws DatabaseFault for faults of other kinds.
void read_rows(SqliteFile& file, std::int64_t version, const RowVisitor& visitor);

}  // namespace cairn::autotune
