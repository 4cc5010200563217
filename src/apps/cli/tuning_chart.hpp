#pragma once

#include "apps/cli/progress.hpp"

#include <string>
#include <vector>

namespace cairn::cli {

/// The expected time of the best programs over the seconds of tuning.
std::string tuning_chart(const std::vector<TunePoint>& points);

}  // namespace cairn::cli
