#include "memory_limit.hpp"

#include "select/within.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace cairn::inline v0 {
namespace {

std::int64_t needed(const MemoryReport& memory) {
    return memory.bound + memory.states + memory.arena + memory.constants;
}

/// ` at T = 1, B = 8`: the sizes that need most.
std::string where_of(const MemoryReport& memory) {
    std::string text;
    for (const auto& [symbol, value] : memory.arena_sizes)
        text += fmt::format("{} {} = {}", text.empty() ? " at" : ",", symbol, value);
    return memory.arena_is_exact ? text : " at most";
}

/// Of the programs that covers become, without dumps and checks, and without what explain() would tell.
MemoryReport report_of(const Stages& stages, std::vector<PreparedBucket>& buckets, const select::Selections& selections,
                       const CompileOptions& quiet) {
    std::vector<runtime::BucketProgram> programs;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        StageDriver driver(quiet, "");
        programs.push_back({buckets[b].cut.ranges, stages.program_of(buckets[b], selections.buckets[b], driver), {}});
    }
    return stages.link(std::move(programs)).memory();
}

}  // namespace

void check_limit(const MemoryReport& memory, const CompileOptions& options) {
    if (options.memory_limit && needed(memory) > *options.memory_limit)
        throw Error(ErrorKind::memory, "compile",
                    fmt::format("{} bytes are needed (bound {}, states {}, arena {}{}, constants {}), the limit is {}",
                                needed(memory), memory.bound, memory.states, memory.arena, where_of(memory),
                                memory.constants, *options.memory_limit));
}

select::Selections choose_within_limit(const Stages& stages, std::vector<PreparedBucket>& buckets,
                                       const CompileOptions& options, const select::Options& select_options) {
    CompileOptions quiet = options;
    quiet.dump_stages.clear();
    quiet.verify = false;
    quiet.progress = nullptr;
    std::optional<MemoryReport> least;
    const auto bytes_of = [&](const select::Selections& selections) {
        MemoryReport report = report_of(stages, buckets, selections, quiet);
        const std::int64_t bytes = needed(report);
        if (!least || bytes < needed(*least)) least = std::move(report);
        return bytes;
    };
    select::Traded within = select::select_within(selectable(buckets), *options.memory_limit, bytes_of, select_options);
    if (!within.selections) check_limit(*least, options);
    return std::move(*within.selections);
}

}  // namespace cairn::inline v0
