#include "apps/cli/timing_output.hpp"

#include "apps/console/timestamp.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::cli {

std::string outcome_text(const Timing& timing) {
    switch (timing.status) {
        case TimingStatus::ok: return time_text(timing.median);
        case TimingStatus::censored: return "> " + time_text(timing.bound);
        case TimingStatus::failed: break;
    }
    return "failed";
}

void add_outcome(OutputRow& row, const std::string& prefix, const Timing& timing) {
    switch (timing.status) {
        case TimingStatus::ok: row[prefix + "cost_ns"] = nanoseconds(timing.median); return;
        case TimingStatus::censored: row[prefix + "at_least_ns"] = nanoseconds(timing.bound); return;
        case TimingStatus::failed: row[prefix + "reason"] = timing.note; return;
    }
}

namespace {

bool is_valid_here(std::string_view hard, std::span<const TimingEnvironment> here) {
    return std::any_of(here.begin(), here.end(), [&](const TimingEnvironment& each) { return each.hard == hard; });
}

/// True if nothing tells whether an environment is that of a GPU of this machine.
bool is_unknown(std::string_view hard, std::span<const TimingEnvironment> here) {
    return here.size() == 1 && is_gpu_environment(hard);
}

/// Compares with the environment of the CPU.
std::string cpu_match_text(std::string_view hard, std::string_view this_machine) {
    constexpr std::string_view between = " | ", word = "threads ";
    // Environments match if they differ only in the part that begins with the number of threads.
    std::string_view theirs, ours;
    for (std::string_view a = hard, b = this_machine; !a.empty() || !b.empty();) {
        const auto next_field = [&](std::string_view& text) {
            const std::size_t end = text.find(between);
            const std::string_view part = text.substr(0, end);
            text.remove_prefix(end == text.npos ? text.size() : end + between.size());
            return part;
        };
        const std::string_view one = next_field(a), other = next_field(b);
        if (one == other) continue;
        if (!theirs.empty() || !one.starts_with(word) || !other.starts_with(word)) return "elsewhere";
        theirs = one.substr(word.size(), one.find(' ', word.size()) - word.size());
        ours = other.substr(word.size(), other.find(' ', word.size()) - word.size());
    }
    return theirs == ours ? "elsewhere" : fmt::format("here, measured with {} threads, not {}", theirs, ours);
}

}  // namespace

bool is_gpu_environment(std::string_view hard) {
    // `cairn 0.1.0 | cuda | NVIDIA H100 80GB HBM3 | ...`
    constexpr std::string_view between = " | ";
    const std::size_t end = hard.find(between);
    return end != hard.npos && hard.substr(end + between.size()).starts_with("cuda | ");
}

std::string environment_match_text(std::string_view hard, std::span<const TimingEnvironment> here) {
    if (is_valid_here(hard, here)) return "here";
    if (is_unknown(hard, here)) return "of a GPU";
    return here.empty() ? "elsewhere" : cpu_match_text(hard, here.front().hard);
}

void add_environment_match(OutputRow& row, std::string_view hard, std::span<const TimingEnvironment> here) {
    row["here"] = is_valid_here(hard, here);
    if (is_unknown(hard, here)) row["here"] = nullptr;
}

void put_time(Output& output, const TimingRecord& record, std::span<const TimingEnvironment> here) {
    const Timing& timing = record.timing;
    OutputRow row{{"kind", "time"}, {"kernel", record.kernel}, {"problem", record.problem}};
    add_outcome(row, {}, timing);
    std::string how;
    if (timing.status == TimingStatus::ok) {
        row["min_ns"] = nanoseconds(timing.min);
        row["p90_ns"] = nanoseconds(timing.p90);
        row["samples"] = std::to_string(timing.samples);
        how = fmt::format("{} blocks of {}{}, ", timing.samples, timing.inner,
                          timing.quality == 0   ? ", coarse"
                          : timing.quality == 1 ? ", the machine was busy"
                                                : "");
    } else if (timing.status == TimingStatus::failed) {
        how = timing.note + ", ";
    }
    row["quality"] = timing.quality;
    row["policy"] = record.policy;
    row["time"] = std::to_string(record.time);
    row["environment"] = record.hard;
    add_environment_match(row, record.hard, here);
    output.line(row, fmt::format("{:>8}  {} | {}  ({}{}, {}, {})", outcome_text(timing), record.kernel, record.problem,
                                 how, record.policy, console::timestamp_text(record.time),
                                 environment_match_text(record.hard, here)));
}

}  // namespace cairn::cli
