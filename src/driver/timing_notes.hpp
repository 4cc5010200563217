#pragma once

#include "selection/cost/cost.hpp"

#include <string>
#include <vector>

namespace cairn::driver {

/// Notes on the times that a selection is based on: times of this machine in the database that are unusable because
/// they were measured with another number of threads (`times in the database were measured with 2 threads, this Context
/// has 1`), and by which rates, nominal or measured, the times of each device other than the CPU are estimated.
std::vector<std::string> timing_notes(const selection::CostModel& costs);

}  // namespace cairn::driver
