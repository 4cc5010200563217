#pragma once

#include "autotune/database/rows.hpp"
#include "autotune/database/sqlite_file.hpp"

#include <functional>
#include <string>
#include <string_view>

/// How rows get out of a file: all of them, or the columns of one.
namespace cairn::autotune {

/// The columns that timing_of reads, in its order.
constexpr std::string_view timing_columns = "status, samples, inner, min, p10, median, p90, mad, bound, quality, note";
constexpr int timing_column_count = 11;
Timing timing_of(const Statement& row, int first = 0);

constexpr std::string_view figures_columns = "relative, largest, promised, inputs, compared";
constexpr int figures_column_count = 5;
ErrorMeasurement figures_of(const Statement& row, int first = 0);

constexpr std::string_view choice_columns = "answer, ratio, low, high, samples";
constexpr int choice_column_count = 5;
Choice choice_of(const Statement& row, int first = 0);

/// `kernel, problem, verdict, reason, time` of the table `rule`.
constexpr std::string_view rule_columns = "kernel, problem, verdict, reason, time";
RuleRow rule_of(const Statement& row, int first = 0);

/// Who is told of the rows of a file.
struct RowVisitor {
    std::function<void(const Row& row)> row;  ///< one that can be one
    /// What is none, or cannot be read: which, and why.
    std::function<void(const std::string& fault)> fault = {};
};

/// Tells of all rows of a file that was found readable as `version`, table by table, each in the order of ids, except
/// where pages are damaged: what lies before and after them is read. Throws DatabaseFault for faults of other kinds.
void read_rows(SqliteFile& file, std::int64_t version, const RowVisitor& visitor);

}  // namespace cairn::autotune
