#pragma once

#include "cli/study.hpp"

#include <string>
#include <string_view>

namespace cairn::cli {

/// The chosen steps beside those of another way, whose column has this title: the lines that differ.
std::string ways_table(const Study& study, const OtherWay& other, std::string_view title);

}  // namespace cairn::cli
