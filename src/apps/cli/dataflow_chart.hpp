#pragma once

#include "apps/cli/report_data.hpp"

#include <string>
#include <vector>

namespace cairn::cli {

/// A row for each instruction of a run, in its order: what hands to what, what it computes as one group, by which
/// kernel, what it reads and writes by name, and how long it took beside what was expected.
std::string dataflow_chart(const ReportData& study);

/// A column for each line between rows that are not neighbours, such that lines in one column never meet; lines to
/// several readers of one row share theirs.
///
///     0 -> 2, 0 -> 5, 3 -> 4     ->     {0, 1, 0}
struct RowSpan {
    int from = 0, to = 0;
};
std::vector<int> edge_columns(const std::vector<RowSpan>& spans);

}  // namespace cairn::cli
