#include "driver/memory_limit.hpp"

#include "driver/verification_covers.hpp"
#include "selection/choose/memory_constrained_selection.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace cairn::driver {
namespace {

std::int64_t needed(const MemoryReport& memory) {
    return memory.bound + memory.states + memory.arena + memory.constants + memory.verification;
}

/// ` at T = 1, B = 8`: the sizes that need the most memory; ` at most` if only a bound of it is known.
std::string where_of(const MemoryReport& memory) {
    std::string text;
    for (const auto& [symbol, value] : memory.arena_sizes)
        text += fmt::format("{} {} = {}", text.empty() ? " at" : ",", symbol, value);
    return memory.arena_is_exact ? text : " at most";
}

std::string verification_of(const MemoryReport& memory) {
    return memory.verification == 0 ? "" : fmt::format(", verification {}", memory.verification);
}

/// Plans the memory of the programs of covers, without dumps and checks.
class LimitedMemory {
public:
    LimitedMemory(const Stages& stages, std::vector<PreparedBucket>& buckets, const CompileOptions& options)
        : stages_(stages), buckets_(buckets), quiet_(without_diagnostics(options)) {}

    std::int64_t bytes_of(const selection::Selections& selections, const selection::Selections* inexact) {
        MemoryReport report = report_of(selections, inexact);
        const std::int64_t bytes = needed(report);
        if (!least_ || bytes < needed(*least_)) least_ = std::move(report);
        return bytes;
    }
    /// The report with the fewest bytes so far.
    const std::optional<MemoryReport>& least() const { return least_; }

private:
    MemoryReport report_of(const selection::Selections& selections, const selection::Selections* inexact) {
        std::vector<runtime::BucketProgram> programs;
        for (std::size_t b = 0; b < buckets_.size(); ++b) {
            PreparedBucket& bucket = buckets_[b];
            StageDriver driver(quiet_, "");
            const selection::Selection& first = inexact == nullptr ? selections.buckets[b] : inexact->buckets[b];
            programs.push_back(stages_.emit(bucket, first, driver));
            if (inexact != nullptr)
                attach_exact_program(bucket, first, {stages_, bucket, selections.buckets[b]}, quiet_, programs.back());
        }
        return stages_.link(std::move(programs)).memory();
    }

    const Stages& stages_;
    std::vector<PreparedBucket>& buckets_;
    CompileOptions quiet_;
    std::optional<MemoryReport> least_;
};

}  // namespace

void check_limit(const MemoryReport& memory, const CompileOptions& options) {
    if (options.memory_limit && needed(memory) > *options.memory_limit)
        throw Error(
            ErrorKind::memory, "compile",
            fmt::format("{} bytes are needed (bound {}, states {}, arena {}{}, constants {}{}), the limit is {}",
                        needed(memory), memory.bound, memory.states, memory.arena, where_of(memory), memory.constants,
                        verification_of(memory), *options.memory_limit));
}

selection::Selections choose_within_limit(const Stages& stages, std::vector<PreparedBucket>& buckets,
                                          std::span<const selection::Bucket> seen, const CompileOptions& options,
                                          const selection::Options& select_options) {
    LimitedMemory memory(stages, buckets, options);
    const auto bytes_of = [&](const selection::Selections& selections) { return memory.bytes_of(selections, nullptr); };
    selection::ConstrainedSelection within =
        selection::select_within_memory(seen, *options.memory_limit, bytes_of, select_options);
    if (!within.selections) check_limit(*memory.least(), options);
    return std::move(*within.selections);
}

std::optional<selection::Selections> find_within_limit(const Stages& stages, std::vector<PreparedBucket>& buckets,
                                                       std::span<const selection::Bucket> seen,
                                                       const selection::Selections* inexact,
                                                       const CompileOptions& options,
                                                       const selection::Options& select_options) {
    LimitedMemory memory(stages, buckets, options);
    const auto bytes_of = [&](const selection::Selections& selections) { return memory.bytes_of(selections, inexact); };
    return selection::select_within_memory(seen, *options.memory_limit, bytes_of, select_options).selections;
}

}  // namespace cairn::driver
