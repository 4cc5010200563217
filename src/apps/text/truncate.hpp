#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::inline v0::text {

/// Cuts the end of an id list, or its start, so that at most `room` ids are left.
inline void truncate(std::vector<std::int32_t>& ids, std::size_t room, bool at_start) {
    if (ids.size() <= room) return;
    if (at_start) ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(room));
    ids.resize(room);
}

/// Cuts the ends of two id lists, or their starts, until both together have at most `room` ids: the longer loses first,
/// and when both must be cut they share the room, an odd place going to the one that was longer (to `second` when they
/// were equal). 5 and 2 ids in 4 places -> 2 and 2; 5 and 9 in 7 -> 3 and 4. Hugging Face calls it `longest_first`.
inline void truncate_pair(std::vector<std::int32_t>& first, std::vector<std::int32_t>& second, std::size_t room,
                          bool at_start) {
    if (first.size() + second.size() <= room) return;
    auto& shorter = first.size() > second.size() ? second : first;
    auto& longer = first.size() > second.size() ? first : second;
    truncate(shorter, room / 2, at_start);
    truncate(longer, room - shorter.size(), at_start);
}

}  // namespace cairn::inline v0::text
