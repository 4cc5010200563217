#include "apps/cli/sequence_diff.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace cairn::cli {
namespace {

/// Length of the longest common subsequence of the suffixes at each pair of positions, with an additional last row and
/// column.
std::vector<std::int32_t> common_lengths(const std::string* left, std::size_t rows, const std::string* right,
                                         std::size_t columns) {
    std::vector<std::int32_t> lengths((rows + 1) * (columns + 1), 0);
    for (std::size_t i = rows; i-- > 0;)
        for (std::size_t j = columns; j-- > 0;) {
            const std::size_t at = i * (columns + 1) + j;
            lengths[at] = left[i] == right[j] ? lengths[at + columns + 2] + 1
                                              : std::max(lengths[at + 1], lengths[at + columns + 1]);
        }
    return lengths;
}

}  // namespace

std::vector<DiffLine> sequence_diff(const std::vector<std::string>& left, const std::vector<std::string>& right) {
    constexpr std::size_t max_pairs = 16'000'000;
    std::size_t front = 0, back = 0;
    const std::size_t shorter = std::min(left.size(), right.size());
    while (front < shorter && left[front] == right[front]) ++front;
    while (back < shorter - front && left[left.size() - 1 - back] == right[right.size() - 1 - back]) ++back;
    const std::size_t rows = left.size() - front - back, columns = right.size() - front - back;
    std::vector<DiffLine> lines;
    const auto add = [&](std::size_t i, std::size_t j) { lines.push_back({static_cast<int>(i), static_cast<int>(j)}); };
    for (std::size_t i = 0; i < front; ++i) add(i, i);
    std::size_t i = 0, j = 0;
    if (rows * columns <= max_pairs) {
        const auto lengths = common_lengths(left.data() + front, rows, right.data() + front, columns);
        while (i < rows && j < columns) {
            const std::size_t at = i * (columns + 1) + j;
            if (left[front + i] == right[front + j])
                add(front + i++, front + j++);
            else if (lengths[at + columns + 1] >= lengths[at + 1])
                lines.push_back({static_cast<int>(front + i++), -1});
            else
                lines.push_back({-1, static_cast<int>(front + j++)});
        }
    }
    for (; i < rows; ++i) lines.push_back({static_cast<int>(front + i), -1});
    for (; j < columns; ++j) lines.push_back({-1, static_cast<int>(front + j)});
    for (std::size_t k = 0; k < back; ++k) add(front + rows + k, front + columns + k);
    return lines;
}

}  // namespace cairn::cli
