#pragma once

#include "driver/stages.hpp"

#include <vector>

namespace cairn::driver {

/// How the tune that led to these covers went: of this compile, which took so many seconds of measuring, or where it
/// measured nothing of an earlier one, as the timing database tells.
std::vector<TuningPoint> tuning_of(const Stages& stages, const std::vector<PreparedBucket>& buckets,
                                   const selection::Selections& covers, const Context& context,
                                   const selection::Options& select_options, double seconds);

}  // namespace cairn::driver
