#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace cairn::jinja {

/// A time as strftime writes it in the locale C: `%d %b %Y` -> "26 Jul 2024". Knows %a %A %b %B %d %H %I %j %m %M %p %S
/// %y %Y %%; throws Error (unsupported) for another.
std::string time_text(std::chrono::sys_seconds time, std::string_view format);

}  // namespace cairn::jinja
