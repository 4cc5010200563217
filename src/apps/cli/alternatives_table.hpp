#pragma once

#include "apps/cli/report_data.hpp"

#include <string>
#include <string_view>

namespace cairn::cli {

/// Table of the selected steps beside those of another path, whose column has this title; only the steps that differ.
std::string alternatives_table(const ReportData& study, const AlternativePath& other, std::string_view title);

}  // namespace cairn::cli
