#pragma once

#include "timing/rows.hpp"

#include <functional>
#include <string>
#include <string_view>

/// The text form of rows, one JSON object each:
///
///     {"row":"rule","kernel":"*.eigen.*","problem":"*","verdict":"ban","reason":"slow","lifted":false,"time":17,...}
namespace cairn::inline v0::timing {

/// Without the end of the line. Numbers have all their digits; what is endless is "inf".
std::string to_line(const Row& row);

/// The inverse. `refuse` must throw: it is told what is wrong.
Row parse_line(std::string_view line, const std::function<void(const std::string& what)>& refuse);

}  // namespace cairn::inline v0::timing
