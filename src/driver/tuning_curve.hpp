#pragma once

#include "driver/stages.hpp"

#include <vector>

namespace cairn::driver {

/// Progress of the tune that led to these covers: of this compile, which has measured for `seconds`, or, if it has
/// measured nothing, of an earlier one that the timing database records.
std::vector<TuningPoint> tuning_of(const Stages& stages, const std::vector<PreparedBucket>& buckets,
                                   const selection::Selections& covers, const Context& context,
                                   const selection::Options& select_options, double seconds);

}  // namespace cairn::driver
