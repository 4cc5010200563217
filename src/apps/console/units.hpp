#pragma once

#include <string>

namespace cairn::console {

/// `412 ns`, `12.3 us`, `1.05 ms`, `2.5 s`.
std::string time_text(double seconds);
/// `512 B`, `1.5 KiB`, `474 MiB`.
std::string bytes_text(double bytes);

}  // namespace cairn::console
