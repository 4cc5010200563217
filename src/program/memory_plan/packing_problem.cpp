#include "program/memory_plan/packing_problem.hpp"

#include <bit>
#include <limits>

namespace cairn::memory_plan {
namespace {

std::string fault_of(const BufferRequest& buffer, int samples) {
    if (buffer.bytes.size() != static_cast<std::size_t>(samples)) {
        return "has " + std::to_string(buffer.bytes.size()) + " sizes, expected " + std::to_string(samples);
    }
    for (const std::int64_t bytes : buffer.bytes) {
        if (bytes < 0) return "has " + std::to_string(bytes) + " bytes";
    }
    if (buffer.alignment <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(buffer.alignment))) {
        return "has alignment " + std::to_string(buffer.alignment) + ", expected a power of two";
    }
    if (buffer.first > buffer.last) {
        return "has the live interval " + std::to_string(buffer.first) + " to " + std::to_string(buffer.last);
    }
    return {};
}

}  // namespace

std::string fault_of(const PackingProblem& problem) {
    constexpr std::int64_t most = std::int64_t{1} << 62;
    if (problem.samples < 1) return "a problem needs at least one sample, got " + std::to_string(problem.samples);
    if (problem.buffers.size() > static_cast<std::size_t>(std::numeric_limits<int>::max() / 4)) {
        return "too many buffers: " + std::to_string(problem.buffers.size());
    }
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
        const std::string fault = fault_of(problem.buffers[i], problem.samples);
        if (!fault.empty()) return "buffer " + std::to_string(i) + " " + fault;
    }
    for (std::size_t s = 0; s < static_cast<std::size_t>(problem.samples); ++s) {
        std::int64_t sum = 0;
        for (const BufferRequest& buffer : problem.buffers) {
            // Padding adds at most the alignment to an offset, so no later sum can overflow. Two steps: each must fit.
            if (buffer.bytes[s] > most - sum || buffer.alignment > most - sum - buffer.bytes[s]) {
                return "the sizes at sample " + std::to_string(s) + " add up to more than 62 bits";
            }
            sum += buffer.bytes[s] + buffer.alignment;
        }
    }
    return {};
}

}  // namespace cairn::memory_plan
