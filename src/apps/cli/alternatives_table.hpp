#pragma once

#include "apps/cli/report_data.hpp"

#include <string>
#include <string_view>

namespace cairn::cli {

/// The chosen steps beside those of another way, whose column has this title: the lines that differ.
std::string alternatives_table(const ReportData& study, const AlternativePath& other, std::string_view title);

}  // namespace cairn::cli
