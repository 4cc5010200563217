#pragma once

#include "apps/cli/report_data.hpp"

#include <string>
#include <vector>

namespace cairn::cli {

/// A row for each instruction of a run, in execution order: edges to its readers, the fused ops, the kernel, the names
/// of operands, and the measured time beside the expected time.
std::string dataflow_chart(const ReportData& study);

/// Assigns a column to each edge between rows that are not neighbours, so that edges in one column never overlap. Edges
/// that start at the same row may share a column.
///
///     0 -> 2, 0 -> 5, 3 -> 4     ->     {0, 1, 0}
struct RowSpan {
    int from = 0, to = 0;
};
std::vector<int> edge_columns(const std::vector<RowSpan>& spans);

}  // namespace cairn::cli
