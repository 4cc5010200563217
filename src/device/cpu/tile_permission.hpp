#pragma once

#include <string>

namespace cairn::device {

/// Asks the operating system to let this process use the tile registers of AMX, which Linux grants a process on
/// request, for all its threads and until it ends; asking again costs a system call. Returns why it refuses; empty if
/// it grants them. From then on it refuses alternate signal stacks that are too small to save the tiles.
std::string request_tiles();

}  // namespace cairn::device
