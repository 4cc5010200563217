#include "program/memory_plan/sections.hpp"

#include <algorithm>

namespace cairn::memory_plan {

Section section_of(const PackingProblem& problem, const LiveIntervals& intervals, const Sizes& sizes, int column,
                   const std::vector<int>& buffers) {
    Section section;
    std::vector<int> ends;
    for (const int b : buffers) {
        if (sizes.at(b, column) == 0) continue;
        section.buffers.push_back(b);
        section.alignment.push_back(problem.buffers[b].alignment);
        ends.push_back(intervals.last[b]);
    }
    if (section.buffers.empty()) return section;
    const auto [least, most] = std::minmax_element(section.alignment.begin(), section.alignment.end());
    section.unit = *least;
    section.has_one_alignment = *least == *most;
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    section.ticks = static_cast<int>(ends.size());
    const auto tick = [&](int time) {
        return static_cast<int>(std::lower_bound(ends.begin(), ends.end(), time) - ends.begin());
    };
    std::vector<std::int64_t> change(ends.size() + 1, 0);
    for (const int b : section.buffers) {
        section.bytes.push_back(align_up(sizes.at(b, column), section.unit));
        section.first.push_back(tick(intervals.first[b]));
        section.last.push_back(tick(intervals.last[b]));
        change[section.first.back()] += section.bytes.back();
        change[section.last.back() + 1] -= section.bytes.back();
    }
    std::int64_t live = 0;
    for (const std::int64_t bytes : change) section.lower_bound = std::max(section.lower_bound, live += bytes);
    return section;
}

std::vector<Section> sections_of(const PackingProblem& problem, const LiveIntervals& intervals, const Sizes& sizes,
                                 int column) {
    std::vector<Section> sections;
    std::vector<int> buffers;
    int last = -1;
    const auto cut = [&] {
        if (!buffers.empty()) sections.push_back(section_of(problem, intervals, sizes, column, buffers));
        buffers.clear();
    };
    for (const int b : intervals.by_first) {
        if (sizes.at(b, column) == 0) continue;
        if (intervals.first[b] > last) cut();
        last = std::max(last, intervals.last[b]);
        buffers.push_back(b);
    }
    cut();
    return sections;
}

}  // namespace cairn::memory_plan
