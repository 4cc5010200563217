#pragma once

#include "apps/cli/report_data.hpp"

#include <string>
#include <vector>

namespace cairn::cli {

/// The arena as rectangles: horizontally the live interval, from the first to the last instruction that needs a buffer;
/// vertically its offset and bytes.
std::string memory_chart(const ReportData& study);

/// Memory in the arena. Buffers that are computed in place of one another share a block.
struct ArenaBlock {
    int first = 0, last = 0;
    std::int64_t offset = 0, bytes = 0;
    std::string names;  ///< of all buffers in the block
};
std::vector<ArenaBlock> arena_blocks(const MemoryReport& memory);

}  // namespace cairn::cli
