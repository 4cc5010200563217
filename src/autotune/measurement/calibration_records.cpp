#include "autotune/measurement/calibration_records.hpp"

#include "autotune/database/key.hpp"
#include "autotune/measurement/benchmark.hpp"
#include "device/context_impl.hpp"
#include "graph/types/unit_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace cairn::autotune {
namespace {

Problem whole_machine() {
    Problem made;
    made.definition = machine_problem.substr(0, machine_problem.find(' '));
    return made;
}

/// Row name of a unit's rate, which is stored as the time of one operation.
std::string name_of(const UnitInfo& unit) { return fmt::format("machine.{}@1", unit.name); }

// Times of rows must be above 0: a time of 0 is stored as this value, and read as 0.
constexpr double least_seconds = 1e-15;

struct Rows {
    const TimingDb& timings;
    const TimingEnvironment& environment;
    const TimingPolicy& policy;

    std::optional<Timing> find(std::string_view row) const {
        const auto timing = timings.find(machine_problem, row, environment, policy);
        const bool is_possible =
            timing && timing->status == TimingStatus::ok && timing->median >= 0 && std::isfinite(timing->median);
        return is_possible ? timing : std::nullopt;
    }
    double seconds(std::string_view row) const {
        const auto timing = find(row);
        if (!timing) return -1;
        return timing->median > least_seconds ? timing->median : 0;
    }
};

Timing of_seconds(double seconds, bool is_thorough, double deviation = 0) {
    Timing timing;
    timing.samples = 1;
    timing.min = timing.p10 = timing.median = timing.p90 = std::max(seconds, least_seconds);
    timing.mad = deviation;
    if (!is_thorough) timing.quality = coarse_quality;
    return timing;
}

}  // namespace

void record_calibration(TimingDb& timings, const TimingEnvironment& environment, const TimingPolicy& policy,
                        const CalibrationRun& calibrated) {
    const Calibration& machine = calibrated.machine;
    const Problem problem = whole_machine();
    const auto record = [&](std::string_view row, double seconds, double deviation = 0) {
        timings.record(problem, row, environment, policy, of_seconds(seconds, calibrated.is_thorough, deviation));
    };
    for (const UnitInfo& unit : unit_table)
        if (const double flops = machine.unit_flops[index_of(unit.unit)]; flops > 0)
            record(name_of(unit), 1 / flops, machine.noise / flops);
    record("machine.read@1", 1 / machine.bandwidth);
    record("machine.read_stretch@1", machine.bandwidth_bytes / machine.bandwidth);
    record("machine.read_again@1", 1 / machine.cache_bandwidth);
    record("machine.read_what_caches_hold@1", machine.cache_bytes / machine.bandwidth);
    record("machine.timer@1", machine.timer_seconds);
    record("machine.barrier@1", machine.barrier_seconds);
    record("machine.handover@1", machine.cross_core_transfer_seconds);
    record("machine.handover_byte@1", machine.cross_core_transfer_byte_seconds);
}

std::optional<CalibrationRun> stored_calibration(const TimingDb& timings, const TimingEnvironment& environment,
                                                 const TimingPolicy& policy) {
    const Rows rows{timings, environment, policy};
    Calibration machine;
    for (const UnitInfo& unit : unit_table)
        if (const auto row = rows.find(name_of(unit)); row && row->median > 0) {
            const double flops = machine.unit_flops[index_of(unit.unit)] = 1 / row->median;
            if (unit.arithmetic != Arithmetic::f32) continue;
            machine.flops = flops;
            machine.noise = row->mad / row->median;
        }
    const double read = rows.seconds("machine.read@1"), again = rows.seconds("machine.read_again@1"),
                 cached = rows.seconds("machine.read_what_caches_hold@1");
    machine.timer_seconds = rows.seconds("machine.timer@1");
    machine.barrier_seconds = rows.seconds("machine.barrier@1");
    machine.cross_core_transfer_seconds = rows.seconds("machine.handover@1");
    machine.cross_core_transfer_byte_seconds = rows.seconds("machine.handover_byte@1");
    const bool is_whole = machine.flops > 0 && read > 0 && again > 0 && cached >= 0 && machine.timer_seconds >= 0 &&
                          machine.barrier_seconds >= 0 && machine.cross_core_transfer_seconds >= 0 &&
                          machine.cross_core_transfer_byte_seconds >= 0;
    if (!is_whole) return std::nullopt;
    machine.bandwidth = 1 / read;
    machine.cache_bandwidth = 1 / again;
    machine.cache_bytes = cached / read;
    // A rate whose working set is unknown may be that of a cache: it is measured again if there is time.
    const double working_set = rows.seconds("machine.read_stretch@1");
    machine.bandwidth_bytes = std::max(working_set, 0.0) / read;
    return CalibrationRun{machine, working_set > 0 && rows.find("machine.read@1")->quality > coarse_quality};
}

std::optional<Calibration> calibration_of(const Context& context, const TimingEnvironment& environment,
                                          const TimingPolicy& policy, double seconds, const std::stop_token& stop) {
    Context::Impl& impl = *context.impl();
    std::optional<CalibrationRun> known = stored_calibration(*impl.timings, environment, policy);
    const bool is_enough = known && (known->is_thorough || seconds < thorough_seconds);
    if (!is_enough && seconds > 0) {
        record_calibration(*impl.timings, environment, policy, calibrate_within(impl, seconds, stop));
        known = stored_calibration(*impl.timings, environment, policy);
    }
    if (!known) return std::nullopt;
    const std::scoped_lock alone(impl.measuring);
    impl.machine = known->machine;
    return known->machine;
}

}  // namespace cairn::autotune
