#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::inline v0::text {

/// Cuts the ends of two id lists until both together have at most `room` ids: the longer loses first, and when both
/// must be cut they share the room, an odd place going to the one that was longer (to `second` when they were equal).
/// 5 and 2 ids in 4 places -> 2 and 2; 5 and 9 in 7 -> 3 and 4. Hugging Face calls it `longest_first`.
inline void truncate_pair(std::vector<std::int32_t>& first, std::vector<std::int32_t>& second, std::size_t room) {
    if (first.size() + second.size() <= room) return;
    auto& shorter = first.size() > second.size() ? second : first;
    auto& longer = first.size() > second.size() ? first : second;
    if (shorter.size() > room / 2) shorter.resize(room / 2);
    longer.resize(std::min(longer.size(), room - shorter.size()));
}

}  // namespace cairn::inline v0::text
