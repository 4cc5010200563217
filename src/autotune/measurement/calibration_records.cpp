#include "autotune/measurement/calibration_records.hpp"

#include "autotune/database/key.hpp"
#include "autotune/measurement/benchmark.hpp"
#include "autotune/measurement/fingerprint.hpp"
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

/// Row names of rates, which are stored as the time of one operation.
std::string name_of(const UnitInfo& unit) { return fmt::format("machine.{}@1", unit.name); }
std::string name_of(Arithmetic arithmetic) { return fmt::format("machine.{}@1", to_string(arithmetic)); }

// Other rows, of the CPU and of devices.
constexpr std::string_view read_row = "machine.read@1", working_set_row = "machine.read_stretch@1",
                           cached_read_row = "machine.read_again@1";
// Of devices alone.
constexpr std::string_view launch_row = "machine.launch@1", upload_row = "machine.upload@1",
                           download_row = "machine.download@1", link_row = "machine.link@1";

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
    record(read_row, 1 / machine.bandwidth);
    record(working_set_row, machine.bandwidth_bytes / machine.bandwidth);
    record(cached_read_row, 1 / machine.cache_bandwidth);
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
    const double read = rows.seconds(read_row), again = rows.seconds(cached_read_row),
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
    const double working_set = rows.seconds(working_set_row);
    machine.bandwidth_bytes = std::max(working_set, 0.0) / read;
    return CalibrationRun{machine, working_set > 0 && rows.find(read_row)->quality > coarse_quality};
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

DeviceRecords records_of(const Context::Impl& context, Device device) {
    return {environment_of(context, device), link_environment_of(context, device), policy_of(context, device)};
}

void record_calibration(TimingDb& timings, const DeviceRecords& records, const device::DeviceCalibration& calibrated) {
    const Problem problem = whole_machine();
    const auto record = [&](const TimingEnvironment& environment, std::string_view row, double seconds,
                            double deviation = 0) {
        timings.record(problem, row, environment, records.policy,
                       of_seconds(seconds, calibrated.is_thorough, deviation));
    };
    for (std::size_t i = 0; i < arithmetic_count; ++i)
        if (const double flops = calibrated.flops[i]; flops > 0)
            record(records.device, name_of(static_cast<Arithmetic>(i)), 1 / flops, calibrated.noise / flops);
    record(records.device, read_row, 1 / calibrated.bandwidth);
    record(records.device, working_set_row, calibrated.bandwidth_bytes / calibrated.bandwidth);
    record(records.device, cached_read_row, 1 / calibrated.cache_bandwidth);
    record(records.device, launch_row, calibrated.launch_seconds);
    record(records.link, upload_row, 1 / calibrated.upload_bandwidth);
    record(records.link, download_row, 1 / calibrated.download_bandwidth);
    record(records.link, link_row, calibrated.link_seconds);
}

std::optional<device::DeviceCalibration> stored_calibration(const TimingDb& timings, const DeviceRecords& records) {
    const Rows device{timings, records.device, records.policy}, link{timings, records.link, records.policy};
    device::DeviceCalibration found;
    for (std::size_t i = 0; i < arithmetic_count; ++i)
        if (const auto row = device.find(name_of(static_cast<Arithmetic>(i))); row && row->median > 0) {
            found.flops[i] = 1 / row->median;
            if (static_cast<Arithmetic>(i) == Arithmetic::f32) found.noise = row->mad / row->median;
        }
    const double read = device.seconds(read_row), again = device.seconds(cached_read_row),
                 upload = link.seconds(upload_row), download = link.seconds(download_row);
    found.launch_seconds = device.seconds(launch_row);
    found.link_seconds = link.seconds(link_row);
    const bool is_whole = found.flops[static_cast<std::size_t>(Arithmetic::f32)] > 0 && read > 0 && again > 0 &&
                          upload > 0 && download > 0 && found.launch_seconds >= 0 && found.link_seconds >= 0;
    if (!is_whole) return std::nullopt;
    found.bandwidth = 1 / read;
    found.bandwidth_bytes = std::max(device.seconds(working_set_row), 0.0) / read;
    found.cache_bandwidth = 1 / again;
    found.upload_bandwidth = 1 / upload;
    found.download_bandwidth = 1 / download;
    found.is_thorough =
        device.find(read_row)->quality > coarse_quality && link.find(upload_row)->quality > coarse_quality;
    return found;
}

}  // namespace cairn::autotune
