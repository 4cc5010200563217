#pragma once

#include <string>
#include <vector>

namespace cairn::cli {

/// A place in two lists brought side by side: the index in each, -1 where only the other has it.
struct DiffLine {
    int left = -1, right = -1;
    friend bool operator==(const DiffLine&, const DiffLine&) = default;
};

/// The fewest lines: a longest common part stands on lines of its own. Where the lists differ in more than some
/// thousands of places, that between their common beginning and end counts as different.
///
///     a b c, a x c     ->     (0,0) (1,-1) (-1,1) (2,2)
std::vector<DiffLine> sequence_diff(const std::vector<std::string>& left, const std::vector<std::string>& right);

}  // namespace cairn::cli
