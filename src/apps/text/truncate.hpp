#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::inline v0::text {

/// Truncates an id list at its end, or its start, to at most `room` ids.
inline void truncate(std::vector<std::int32_t>& ids, std::size_t room, bool at_start) {
    if (ids.size() <= room) return;
    if (at_start) ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(room));
    ids.resize(room);
}

/// Truncates two id lists at their ends, or their starts, to at most `room` ids in total, like `longest_first` of
/// Hugging Face: the longer one is shortened first. If both must be shortened they share the room; an odd place goes to
/// the longer one (to `second` if they are equal). 5 and 2 ids in 4 places -> 2 and 2; 5 and 9 in 7 -> 3 and 4.
inline void truncate_pair(std::vector<std::int32_t>& first, std::vector<std::int32_t>& second, std::size_t room,
                          bool at_start) {
    if (first.size() + second.size() <= room) return;
    auto& shorter = first.size() > second.size() ? second : first;
    auto& longer = first.size() > second.size() ? first : second;
    truncate(shorter, room / 2, at_start);
    truncate(longer, room - shorter.size(), at_start);
}

}  // namespace cairn::inline v0::text
