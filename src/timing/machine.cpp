#include "timing/machine.hpp"

#include "device/context_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace cairn::inline v0::timing {
namespace {

const Problem& whole_machine() {
    static const Problem problem = [] {
        Problem made;
        made.definition = "machine";
        return made;
    }();
    return problem;
}

constexpr std::array<std::string_view, 4> level_rows = {
    "machine.multiply_add.baseline@1",
    "machine.multiply_add.avx2@1",
    "machine.multiply_add.avx512@1",
    "machine.multiply_add.avx512_vnni_bf16@1",
};

struct Rows {
    const TimingDb& timings;
    const TimingEnvironment& environment;
    const TimingPolicy& policy;

    std::optional<Timing> find(std::string_view row) const {
        const auto timing = timings.find(whole_machine(), row, environment, policy);
        const bool is_possible =
            timing && timing->status == TimingStatus::ok && timing->median >= 0 && std::isfinite(timing->median);
        return is_possible ? timing : std::nullopt;
    }
    double seconds(std::string_view row) const {
        const auto timing = find(row);
        return timing ? timing->median : -1;
    }
};

Timing of_seconds(double seconds, double deviation = 0) {
    constexpr double least = 1e-15;  // nothing is no time
    Timing timing;
    timing.samples = 1;
    timing.min = timing.p10 = timing.median = timing.p90 = std::max(seconds, least);
    timing.mad = deviation;
    return timing;
}

}  // namespace

void record_machine(TimingDb& timings, const TimingEnvironment& environment, const TimingPolicy& policy,
                    const Calibration& machine) {
    const auto record = [&](std::string_view row, const Timing& timing) {
        timings.record(whole_machine(), row, environment, policy, timing);
    };
    for (std::size_t level = 0; level < level_rows.size(); ++level)
        if (const double flops = machine.level_flops[level]; flops > 0)
            record(level_rows[level], of_seconds(1 / flops, machine.noise / flops));
    record("machine.read@1", of_seconds(1 / machine.bandwidth));
    record("machine.read_again@1", of_seconds(1 / machine.cache_bandwidth));
    record("machine.read_what_caches_hold@1", of_seconds(machine.cache_bytes / machine.bandwidth));
    record("machine.timer@1", of_seconds(machine.timer_seconds));
    record("machine.barrier@1", of_seconds(machine.barrier_seconds));
}

std::optional<Calibration> known_machine(const TimingDb& timings, const TimingEnvironment& environment,
                                         const TimingPolicy& policy) {
    const Rows rows{timings, environment, policy};
    Calibration machine;
    for (std::size_t level = 0; level < level_rows.size(); ++level)
        if (const auto row = rows.find(level_rows[level]); row && row->median > 0) {
            machine.flops = machine.level_flops[level] = 1 / row->median;
            machine.noise = row->mad / row->median;
        }
    const double read = rows.seconds("machine.read@1"), again = rows.seconds("machine.read_again@1"),
                 cached = rows.seconds("machine.read_what_caches_hold@1");
    machine.timer_seconds = rows.seconds("machine.timer@1");
    machine.barrier_seconds = rows.seconds("machine.barrier@1");
    const bool is_whole = machine.flops > 0 && read > 0 && again > 0 && cached >= 0 && machine.timer_seconds >= 0 &&
                          machine.barrier_seconds >= 0;
    if (!is_whole) return std::nullopt;
    machine.bandwidth = 1 / read;
    machine.cache_bandwidth = 1 / again;
    machine.cache_bytes = cached / read;
    return machine;
}

std::optional<Calibration> machine_of(const Context& context, const TimingEnvironment& environment,
                                      const TimingPolicy& policy, bool may_measure) {
    Context::Parts& parts = *context.parts();
    if (auto known = known_machine(*parts.timings, environment, policy)) {
        const std::scoped_lock alone(parts.measuring);
        parts.machine = known;
        return known;
    }
    if (!may_measure) return std::nullopt;
    record_machine(*parts.timings, environment, policy, calibrate(context));
    return known_machine(*parts.timings, environment, policy);
}

}  // namespace cairn::inline v0::timing
