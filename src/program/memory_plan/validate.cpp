#include "program/memory_plan/validate.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

namespace cairn::memory_plan {
namespace {

// Validator of one plan: each check returns its first fault in words. Deliberately simple and slow.
class Validator {
public:
    Validator(const PackingProblem& problem, const PackingSolution& solution)
        : problem_(problem), solution_(solution), n_(problem.buffers.size()) {
        for (const BufferRequest& b : problem.buffers) starts_.insert(b.first);
    }

    std::string validate() {
        std::string fault = problem_form();
        if (fault.empty()) fault = solution_form();
        if (fault.empty()) fault = order();
        if (fault.empty()) fault = every_size();
        for (std::size_t s = 0; s < static_cast<std::size_t>(problem_.samples) && fault.empty(); ++s) {
            fault = offsets(s);
            if (fault.empty()) fault = disjoint(s);
            if (fault.empty()) fault = heights(s);
        }
        return fault;
    }

private:
    static std::string number(std::int64_t value) { return std::to_string(value); }
    static std::string buffer(std::size_t b) { return "buffer " + std::to_string(b); }

    std::string problem_form() const {
        if (problem_.samples < 1) return "the problem has no sample";
        for (std::size_t b = 0; b < n_; ++b) {
            const BufferRequest& it = problem_.buffers[b];
            if (it.bytes.size() != static_cast<std::size_t>(problem_.samples))
                return buffer(b) + " has not one size a sample";
            if (*std::min_element(it.bytes.begin(), it.bytes.end()) < 0) return buffer(b) + " has a negative size";
            if (it.alignment < 1 || (it.alignment & (it.alignment - 1)) != 0)
                return buffer(b) + " has no legal alignment";
            if (it.last < it.first) return buffer(b) + " ends before it begins";
        }
        for (std::size_t s = 0; s < static_cast<std::size_t>(problem_.samples); ++s) {
            long double sum = 0;
            for (const BufferRequest& it : problem_.buffers)
                sum += static_cast<long double>(it.bytes[s]) + static_cast<long double>(it.alignment);
            if (sum > 0x1p62L) return "the sizes add up to more than 62 bits";
        }
        return {};
    }

    std::string solution_form() const {
        const auto samples = static_cast<std::size_t>(problem_.samples);
        if (solution_.below.size() != n_) return "`below` has not one entry a buffer";
        if (solution_.order.size() != n_) return "`order` has not one entry a buffer";
        if (solution_.offsets.size() != samples) return "`offsets` has not one entry a sample";
        if (solution_.height.size() != samples) return "`height` has not one entry a sample";
        if (solution_.lower_bound.size() != samples) return "`lower_bound` has not one entry a sample";
        for (const auto& offsets : solution_.offsets) {
            if (offsets.size() != n_) return "`offsets` has not one entry a buffer";
        }
        return {};
    }

    // A permutation in which each buffer comes after those below it; that also proves the relation acyclic.
    std::string order() const {
        std::vector<bool> seen(n_, false);
        for (const int at : solution_.order) {
            const auto b = static_cast<std::size_t>(at);
            if (at < 0 || b >= n_) return "`order` names buffer " + number(at) + " of " + std::to_string(n_);
            if (seen[b]) return "`order` names " + buffer(b) + " twice";
            for (const int lower : solution_.below[b]) {
                const auto j = static_cast<std::size_t>(lower);
                if (lower < 0 || j >= n_)
                    return buffer(b) + " is above buffer " + number(lower) + ", which does not exist";
                if (!seen[j]) return buffer(b) + " comes before " + buffer(j) + " in `order`, yet is above it";
            }
            seen[b] = true;
        }
        return {};
    }

    std::string every_size() const {
        std::vector<std::vector<bool>> under(n_, std::vector<bool>(n_, false));
        for (const int at : solution_.order) {
            const auto i = static_cast<std::size_t>(at);
            for (const int lower : solution_.below[i]) {
                const auto j = static_cast<std::size_t>(lower);
                under[i][j] = true;
                for (std::size_t k = 0; k < n_; ++k) {
                    if (under[j][k]) under[i][k] = true;
                }
            }
        }
        for (std::size_t i = 0; i < n_; ++i) {
            for (std::size_t j = i + 1; j < n_; ++j) {
                const int from = std::max(problem_.buffers[i].first, problem_.buffers[j].first);
                const int to = std::min(problem_.buffers[i].last, problem_.buffers[j].last);
                if (from <= to && !under[i][j] && !under[j][i]) {
                    return "buffers " + std::to_string(i) + " and " + std::to_string(j) +
                           " are live together at instruction " + number(from) + " but neither is below the other";
                }
            }
        }
        return {};
    }

    std::string offsets(std::size_t s) const {
        const auto& offset = solution_.offsets[s];
        for (const int at : solution_.order) {  // this order: the ends of those below are checked already
            const auto i = static_cast<std::size_t>(at);
            const std::int64_t unit = problem_.buffers[i].alignment;
            std::int64_t expected = 0;
            for (const int lower : solution_.below[i]) {
                const auto j = static_cast<std::size_t>(lower);
                const std::int64_t end = offset[j] + problem_.buffers[j].bytes[s];
                expected = std::max(expected, (end + unit - 1) / unit * unit);
            }
            if (offset[i] % unit != 0)
                return buffer(i) + " is at " + number(offset[i]) + ", not aligned to " + number(unit);
            if (offset[i] != expected) {
                return buffer(i) + " is at " + number(offset[i]) + " at sample " + std::to_string(s) +
                       ", the relation gives " + number(expected);
            }
        }
        return {};
    }

    // At each instruction where a buffer begins: sorted by offset, each buffer ends before the next one starts.
    std::string disjoint(std::size_t s) const {
        const auto& offset = solution_.offsets[s];
        for (const int now : starts_) {
            std::vector<std::size_t> alive;
            for (std::size_t b = 0; b < n_; ++b) {
                const BufferRequest& it = problem_.buffers[b];
                if (it.first <= now && now <= it.last && it.bytes[s] > 0) alive.push_back(b);
            }
            std::sort(alive.begin(), alive.end(), [&](std::size_t a, std::size_t b) { return offset[a] < offset[b]; });
            for (std::size_t k = 1; k < alive.size(); ++k) {
                const std::size_t a = alive[k - 1], b = alive[k];
                if (offset[a] + problem_.buffers[a].bytes[s] > offset[b]) {
                    return "buffers " + std::to_string(a) + " and " + std::to_string(b) +
                           " share bytes at instruction " + number(now) + ", sample " + std::to_string(s);
                }
            }
        }
        return {};
    }

    std::string heights(std::size_t s) const {
        std::int64_t top = 0, bound = 0, unit = 0;
        for (std::size_t b = 0; b < n_; ++b) {
            top = std::max(top, solution_.offsets[s][b] + problem_.buffers[b].bytes[s]);
            if (unit == 0 || problem_.buffers[b].alignment < unit) unit = problem_.buffers[b].alignment;
        }
        for (const int now : starts_) {
            std::int64_t rounded = 0, spare = 0;
            for (const BufferRequest& b : problem_.buffers) {
                if (b.first > now || b.last < now || b.bytes[s] == 0) continue;
                const std::int64_t padding = (unit - b.bytes[s] % unit) % unit;
                rounded += b.bytes[s] + padding;
                spare = std::max(spare, padding);
            }
            bound = std::max(bound, rounded - spare);
        }
        if (solution_.height[s] != top) {
            return "height " + number(solution_.height[s]) + " at sample " + std::to_string(s) +
                   ", the highest end is " + number(top);
        }
        if (solution_.lower_bound[s] != bound) {
            return "lower bound " + number(solution_.lower_bound[s]) + " at sample " + std::to_string(s) +
                   ", the maximum of live bytes is " + number(bound);
        }
        return top < bound ? "the height " + number(top) + " is below the bound " + number(bound) : std::string();
    }

    const PackingProblem& problem_;
    const PackingSolution& solution_;
    std::size_t n_;
    std::set<int> starts_;
};

}  // namespace

std::string validate(const PackingProblem& problem, const PackingSolution& solution) {
    return Validator(problem, solution).validate();
}

}  // namespace cairn::memory_plan
