#pragma once

#include "apps/cli/progress.hpp"

#include <string>
#include <vector>

namespace cairn::cli {

/// The time that the best way takes, as far as was known, over the seconds of tuning.
std::string tuning_chart(const std::vector<TunePoint>& points);

}  // namespace cairn::cli
