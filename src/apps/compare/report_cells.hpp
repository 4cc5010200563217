#pragma once

#include "apps/compare/report.hpp"

#include <string>
#include <vector>

/// The parts that a report for a terminal and one as a page share.
namespace cairn::compare {

/// A table of texts, with the names of its columns.
struct Cells {
    std::vector<std::string> names;
    std::vector<std::vector<std::string>> rows;
    std::size_t texts = 1;  ///< columns from the left that hold texts; the others hold numbers
};

/// A row for each batch size of each implementation that has times.
Cells times_cells(const Report& report);
/// A row for each implementation that was loaded: what it has taken and how good its answers are.
Cells implementation_cells(const Report& report);
/// A row for each pair that has answered.
Cells agreement_cells(const Report& report);

/// Sentences on what was measured and how: data, turns, threads, versions.
std::vector<std::string> settings_sentences(const Report& report);
/// Sentences on the machine; a calibration that varies much is one.
std::vector<std::string> machine_sentences(const Report& report);
/// `NAME failed: why`, for each failure.
std::vector<std::string> failure_sentences(const Report& report);

}  // namespace cairn::compare
