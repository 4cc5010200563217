#include "driver/memory_limit.hpp"

#include "driver/verification_covers.hpp"
#include "selection/choose/memory_constrained_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace cairn::driver {
namespace {

std::int64_t needed(const DeviceMemory& memory) {
    return memory.bound + memory.states + memory.arena + memory.constants + memory.verification;
}

/// The limits that CompileOptions states.
std::map<Device, std::int64_t> limits_of(const CompileOptions& options) {
    std::map<Device, std::int64_t> limits = options.device_memory_limits;
    if (options.memory_limit) limits[Device::cpu] = *options.memory_limit;
    return limits;
}

DeviceMemory memory_on(const MemoryReport& report, Device device) {
    if (device == Device::cpu) return report;
    for (const auto& [other, memory] : report.devices)
        if (other == device) return memory;
    return {};
}

/// The bytes needed in units of the CPU's limit, or of the first device's: those of the device that exceeds its limit
/// most, or comes closest to it.
std::int64_t needed_of_limit(const MemoryReport& report, const std::map<Device, std::int64_t>& limits) {
    const auto unit = limits.begin()->second;
    std::int64_t most = 0;
    for (const auto& [device, limit] : limits) {
        const std::int64_t bytes = needed(memory_on(report, device));
        const double of_unit = static_cast<double>(bytes) / static_cast<double>(std::max<std::int64_t>(limit, 1)) *
                               static_cast<double>(unit);
        // Rounding must not decide whether the bytes are within the limit.
        const auto rounded = limit == unit ? bytes : static_cast<std::int64_t>(std::ceil(of_unit));
        most = std::max(most, bytes <= limit ? std::min(rounded, unit) : std::max(rounded, unit + 1));
    }
    return most;
}

/// ` at T = 1, B = 8`: the sizes that need the most memory; ` at most` if only a bound of it is known.
std::string where_of(const DeviceMemory& memory) {
    std::string text;
    for (const auto& [symbol, value] : memory.arena_sizes)
        text += fmt::format("{} {} = {}", text.empty() ? " at" : ",", symbol, value);
    return memory.arena_is_exact ? text : " at most";
}

std::string verification_of(const DeviceMemory& memory) {
    return memory.verification == 0 ? "" : fmt::format(", verification {}", memory.verification);
}

/// Plans the memory of the programs of covers, without dumps and checks.
class LimitedMemory {
public:
    LimitedMemory(const Stages& stages, std::vector<PreparedBucket>& buckets, const CompileOptions& options)
        : stages_(stages), buckets_(buckets), quiet_(without_diagnostics(options)), limits_(limits_of(options)) {}

    std::int64_t bytes_of(const selection::Selections& selections, const selection::Selections* inexact) {
        MemoryReport report = report_of(selections, inexact);
        const std::int64_t bytes = needed_of_limit(report, limits_);
        if (!least_ || bytes < needed_of_limit(*least_, limits_)) least_ = std::move(report);
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
    std::map<Device, std::int64_t> limits_;
    std::optional<MemoryReport> least_;
};

std::optional<selection::Selections> select_within(
    std::span<const selection::Bucket> seen, const CompileOptions& options,
    const std::function<std::int64_t(const selection::Selections&)>& bytes_of,
    const selection::Options& select_options) {
    const std::map<Device, std::int64_t> limits = limits_of(options);
    selection::MemoryLimit limit{limits.begin()->second, bytes_of, {}};
    for (const auto& [device, bytes] : limits)
        limit.weights[device] =
            static_cast<double>(limit.limit) / static_cast<double>(std::max<std::int64_t>(bytes, 1));
    return selection::select_within_memory(seen, limit, select_options).selections;
}

}  // namespace

void check_limit(const MemoryReport& memory, const CompileOptions& options) {
    for (const auto& [device, limit] : limits_of(options)) {
        const DeviceMemory of_device = memory_on(memory, device);
        if (needed(of_device) <= limit) continue;
        throw Error(
            ErrorKind::memory, "compile",
            fmt::format("{} bytes are needed{} (bound {}, states {}, arena {}{}, constants {}{}), the limit is {}",
                        needed(of_device), device == Device::cpu ? "" : " on " + to_string(device), of_device.bound,
                        of_device.states, of_device.arena, where_of(of_device), of_device.constants,
                        verification_of(of_device), limit));
    }
}

selection::Selections choose_within_limit(const Stages& stages, std::vector<PreparedBucket>& buckets,
                                          std::span<const selection::Bucket> seen, const CompileOptions& options,
                                          const selection::Options& select_options) {
    LimitedMemory memory(stages, buckets, options);
    const auto bytes_of = [&](const selection::Selections& selections) { return memory.bytes_of(selections, nullptr); };
    std::optional<selection::Selections> within = selection::with_cheapest_state_device(
        seen, [&] { return select_within(seen, options, bytes_of, select_options); });
    if (!within) check_limit(*memory.least(), options);
    return *std::move(within);
}

std::optional<selection::Selections> find_within_limit(const Stages& stages, std::vector<PreparedBucket>& buckets,
                                                       std::span<const selection::Bucket> seen,
                                                       const selection::Selections* inexact,
                                                       const CompileOptions& options,
                                                       const selection::Options& select_options) {
    LimitedMemory memory(stages, buckets, options);
    const auto bytes_of = [&](const selection::Selections& selections) { return memory.bytes_of(selections, inexact); };
    const auto select = [&] { return select_within(seen, options, bytes_of, select_options); };
    // What verifies other covers works on their states.
    return inexact == nullptr ? selection::with_cheapest_state_device(seen, select) : select();
}

}  // namespace cairn::driver
