#pragma once

#include "selection/cost/cost.hpp"

#include <string>
#include <vector>

namespace cairn::driver {

/// Notes on times of this machine in the database that are unusable because they were measured with another number of
/// threads: `times in the database were measured with 2 threads, this Context has 1`.
std::vector<std::string> timing_notes(const selection::CostModel& costs);

}  // namespace cairn::driver
