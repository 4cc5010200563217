#include "apps/compare/agreement.hpp"

#include <algorithm>
#include <cmath>

namespace cairn::compare {
namespace {

/// The relative L2 difference; nothing for different numbers of values, or none.
std::optional<double> difference_of(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size() || a.empty()) return {};
    double of_a = 0, of_b = 0, between = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        of_a += a[i] * a[i];
        of_b += b[i] * b[i];
        between += (a[i] - b[i]) * (a[i] - b[i]);
    }
    if (between == 0) return 0.0;
    const double largest = std::max(of_a, of_b);
    return largest > 0 ? std::sqrt(between / largest) : HUGE_VAL;  // NaN stays NaN
}

}  // namespace

std::optional<double> accuracy_of(std::span<const DataRow> rows, std::span<const Answer> answers) {
    std::size_t known = 0, right = 0;
    for (std::size_t r = 0; r < rows.size() && r < answers.size(); ++r) {
        if (!rows[r].label || answers[r].label.empty()) continue;
        ++known;
        if (*rows[r].label == answers[r].label) ++right;
    }
    return known == 0 ? std::nullopt : std::optional(static_cast<double>(right) / static_cast<double>(known));
}

Agreement agreement_of(std::span<const Answer> one, std::span<const Answer> other, Task task, double tolerance) {
    Agreement result;
    std::size_t agreed = 0;
    bool is_comparable = true;
    double largest = 0;
    for (std::size_t r = 0; r < one.size(); ++r) {
        const std::optional<double> difference = difference_of(one[r].values, other[r].values);
        if (difference) largest = *difference <= largest ? largest : *difference;
        is_comparable = is_comparable && difference.has_value();
        const bool agrees = task == Task::classify   ? one[r].label == other[r].label
                            : task == Task::generate ? one[r].tokens == other[r].tokens
                                                     : difference && *difference <= tolerance;
        if (agrees) ++agreed;
    }
    result.share = one.empty() ? 1 : static_cast<double>(agreed) / static_cast<double>(one.size());
    if (is_comparable && !one.empty() && std::isfinite(largest)) result.difference = largest;
    return result;
}

}  // namespace cairn::compare
