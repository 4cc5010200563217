#pragma once

#include <string>
#include <vector>

namespace cairn::cli {

/// A line of an alignment of two lists: the index in each, -1 if only the other list has the element.
struct DiffLine {
    int left = -1, right = -1;
    friend bool operator==(const DiffLine&, const DiffLine&) = default;
};

/// The shortest alignment of two lists, by their longest common subsequence. If more than 16 million pairs of elements
/// remain between the common beginning and end, all of those elements count as different.
///
///     a b c, a x c     ->     (0,0) (1,-1) (-1,1) (2,2)
std::vector<DiffLine> sequence_diff(const std::vector<std::string>& left, const std::vector<std::string>& right);

}  // namespace cairn::cli
