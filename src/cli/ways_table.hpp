#pragma once

#include "cli/study.hpp"

#include <string>

namespace cairn::cli {

/// The chosen steps beside those of the runner-up: the lines that differ, and how many are the same.
std::string ways_table(const Study& study);

}  // namespace cairn::cli
