#pragma once

#include "autotune/database/rows.hpp"

#include <functional>
#include <string>
#include <string_view>

/// The text form of rows, one JSON object each:
///
///     {"row":"rule","kernel":"*.eigen.*","problem":"*","verdict":"ban","reason":"slow","lifted":false,"time":17,...}
namespace cairn::autotune {

/// Serializes a row, without the end of the line. Numbers have all their digits; infinity is "inf".
std::string to_json_line(const Row& row);

/// The inverse of to_json_line(). Calls `refuse`, which must throw, with a description of the fault.
Row parse_json_line(std::string_view line, const std::function<void(const std::string& what)>& refuse);

}  // namespace cairn::autotune
