#pragma once

#include "apps/cli/report_data.hpp"

#include <string>
#include <vector>

namespace cairn::cli {

/// What lies in the arena, as rectangles: from the first to the last instruction of the run that needs it, from its
/// offset on as high as it has bytes.
std::string memory_chart(const ReportData& study);

/// A piece of the arena. What is computed in place of something else shares its piece.
struct ArenaBlock {
    int first = 0, last = 0;
    std::int64_t offset = 0, bytes = 0;
    std::string names;  ///< of all that lies there
};
std::vector<ArenaBlock> arena_blocks(const MemoryReport& memory);

}  // namespace cairn::cli
