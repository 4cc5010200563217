#pragma once

#include "program/memory_plan/packing_problem.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

/// Problems for the tests of the planner.
namespace cairn::memory_plan::testing {

/// A buffer with one sample, and alignment 1 by default.
struct Simple {
    std::int64_t bytes;
    int first, last;
    std::int64_t alignment = 1;
};

inline PackingProblem problem_of(const std::vector<Simple>& buffers) {
    PackingProblem problem;
    for (const Simple& b : buffers) problem.buffers.push_back({{b.bytes}, b.alignment, b.first, b.last});
    return problem;
}

/// Random live intervals and sizes; one in eight sizes is 0.
inline PackingProblem random_problem(std::mt19937& random, int buffers, int instructions, int samples,
                                     std::int64_t largest, std::int64_t alignment) {
    const auto below = [&](std::int64_t n) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    };
    PackingProblem problem;
    problem.samples = samples;
    for (int i = 0; i < buffers; ++i) {
        BufferRequest b;
        b.alignment = alignment;
        b.first = static_cast<int>(below(instructions));
        b.last = std::min(instructions - 1, b.first + static_cast<int>(below(1 + instructions / 3)));
        for (int s = 0; s < samples; ++s) b.bytes.push_back(below(8) == 0 ? 0 : 1 + below(largest));
        problem.buffers.push_back(b);
    }
    return problem;
}

/// A size as a polynomial of one symbol: constant + linear * n + square * n^2.
struct Polynomial {
    std::int64_t constant, linear, square;
    std::int64_t at(std::int64_t n) const { return constant + linear * n + square * n * n; }
};

/// A buffer whose size depends on a symbol.
struct Symbolic {
    Polynomial bytes;
    int first, last;
};

inline PackingProblem at_sizes(const std::vector<Symbolic>& buffers, const std::vector<std::int64_t>& sizes) {
    PackingProblem problem;
    problem.samples = static_cast<int>(sizes.size());
    for (const Symbolic& s : buffers) {
        BufferRequest b{{}, 64, s.first, s.last};
        for (const std::int64_t n : sizes) b.bytes.push_back(s.bytes.at(n));
        problem.buffers.push_back(b);
    }
    return problem;
}

/// The buffers of a transformer of `layers` layers of width 768 with 12 heads, about 11 a layer: attention scores grow
/// with n^2.
inline std::vector<Symbolic> transformer(int layers) {
    constexpr std::int64_t row = 4 * 768, heads = 4 * 12;
    std::vector<Symbolic> buffers;
    for (int layer = 0; layer < layers; ++layer) {
        const int t = 14 * layer;
        buffers.push_back({{0, row, 0}, t, t + 14});           // residual
        buffers.push_back({{0, row, 0}, t, t + 1});            // normed
        buffers.push_back({{0, 3 * row, 0}, t + 1, t + 3});    // query, key, value
        buffers.push_back({{0, 0, heads}, t + 2, t + 4});      // scores
        buffers.push_back({{0, heads, 0}, t + 3, t + 5});      // row maxima
        buffers.push_back({{0, 0, heads}, t + 4, t + 5});      // shifted
        buffers.push_back({{0, 0, heads}, t + 5, t + 6});      // weights
        buffers.push_back({{0, row, 0}, t + 6, t + 7});        // mixed
        buffers.push_back({{0, row, 0}, t + 7, t + 8});        // projected
        buffers.push_back({{0, 4 * row, 0}, t + 9, t + 10});   // wide
        buffers.push_back({{0, 4 * row, 0}, t + 10, t + 12});  // gelu
    }
    return buffers;
}

inline bool alive_together(const BufferRequest& a, const BufferRequest& b) {
    return a.first <= b.last && b.first <= a.last;
}

/// Reference check: two buffers live together share a byte at a sample, or one ends above the height.
inline bool shares_bytes(const PackingProblem& problem, const PackingSolution& solution, std::size_t sample) {
    const auto& offset = solution.offsets[sample];
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
        const BufferRequest& a = problem.buffers[i];
        if (offset[i] + a.bytes[sample] > solution.height[sample]) return true;
        for (std::size_t j = 0; j < i; ++j) {
            const BufferRequest& b = problem.buffers[j];
            const std::int64_t from = std::max(offset[i], offset[j]);
            const std::int64_t to = std::min(offset[i] + a.bytes[sample], offset[j] + b.bytes[sample]);
            if (alive_together(a, b) && from < to) return true;
        }
    }
    return false;
}

/// The same relation at other sizes: `problem` has the same live intervals and its own samples.
inline PackingSolution reevaluated(const PackingProblem& problem, const PackingSolution& plan) {
    PackingSolution out{plan.below, plan.order, {}, {}, {}};
    for (std::size_t s = 0; s < static_cast<std::size_t>(problem.samples); ++s) {
        std::vector<std::int64_t> offset(problem.buffers.size(), 0);
        std::int64_t height = 0, bound = 0;
        for (const int i : plan.order) {
            for (const int j : plan.below[i]) {
                offset[i] = std::max(offset[i],
                                     align_up(offset[j] + problem.buffers[j].bytes[s], problem.buffers[i].alignment));
            }
            height = std::max(height, offset[i] + problem.buffers[i].bytes[s]);
        }
        for (const BufferRequest& now : problem.buffers) {
            std::int64_t live = 0, spare = 0;
            for (const BufferRequest& b : problem.buffers) {
                if (b.first > now.first || b.last < now.first || b.bytes[s] == 0) continue;
                live += align_up(b.bytes[s], b.alignment);
                spare = std::max(spare, align_up(b.bytes[s], b.alignment) - b.bytes[s]);
            }
            bound = std::max(bound, live - spare);
        }
        out.offsets.push_back(offset);
        out.height.push_back(height);
        out.lower_bound.push_back(bound);
    }
    return out;
}

}  // namespace cairn::memory_plan::testing
