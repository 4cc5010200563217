#include "apps/cli/device_diagnostics.hpp"

#include "apps/cli/output.hpp"
#include "apps/console/timestamp.hpp"
#include "cairn/timing_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace cairn::cli {
namespace {

/// `3.05 TB/s`, `25 GB/s`.
std::string rate_text(double rate, std::string_view unit) {
    const bool is_large = rate >= 1e12;
    return fmt::format("{:.3g} {}{}/s", rate / (is_large ? 1e12 : 1e9), is_large ? "T" : "G", unit);
}

bool is_open(const Context& context, Device device) {
    const std::vector<DeviceRates>& devices = context.kernels().devices;
    return std::any_of(devices.begin(), devices.end(),
                       [&](const DeviceRates& rates) { return rates.device == device; });
}

bool is_file(const std::filesystem::path& path) {
    std::error_code fault;
    return !path.empty() && std::filesystem::exists(path, fault);
}

/// A Context with the device that reads the database and never writes to it.
Context with_device(Device device, const std::filesystem::path& database) {
    ContextOptions options;
    options.devices = {Device::cpu, device};
    if (is_file(database)) options.shipped_timings = {database};
    return Context(options);
}

/// When the calibration of an environment was stored; empty if that is unknown.
std::string calibration_time(const std::filesystem::path& database, const TimingEnvironment& environment) {
    TimingFilter rows;
    rows.kernel = "machine.read@1";
    rows.problem = "machine |";
    rows.best_only = rows.with_calibrations = true;
    try {
        for (const TimingRecord& record : TimingFile(database, TimingFile::Use::read).query(rows))
            if (record.hard == environment.hard) return console::timestamp_text(record.time);
    } catch (const Error&) {
        // The database has a diagnostic of its own.
    }
    return {};
}

std::vector<MachineDiagnostic> facts_about(Device device, const Context& context,
                                           const std::filesystem::path& database) {
    if (is_open(context, device))
        return facts_of(device, device_info(context, device), {calibrate(context, device), RateSource::measured},
                        "now");
    const Context own = with_device(device, database);
    const KnownRates known = device_rates(own, device);
    const bool is_stored = known.source == RateSource::measured;
    return facts_of(device, device_info(own, device), known,
                    is_stored ? calibration_time(database, timing_environment(own, device)) : "");
}

}  // namespace

std::vector<MachineDiagnostic> facts_of(Device device, const DeviceInfo& info, const KnownRates& known,
                                        const std::string& since) {
    const std::string name = to_string(device);
    std::vector<MachineDiagnostic> facts;
    const auto add = [&](std::string_view what, std::string value, std::string advice = {}) {
        facts.push_back(
            {fmt::format("{}{}{}", name, what.empty() ? "" : " ", what), std::move(value), std::move(advice)});
    };
    add("", fmt::format("{}, compute capability {}.{}, {} multiprocessors, L2 of {}", info.name,
                        info.compute_capability / 10, info.compute_capability % 10, info.multiprocessors,
                        bytes_text(static_cast<double>(info.cache_bytes))));
    add("memory", fmt::format("{} of {} free", bytes_text(static_cast<double>(info.free_bytes)),
                              bytes_text(static_cast<double>(info.memory_bytes))));
    add("driver", info.driver);
    if (info.compiler.empty())
        add("NVRTC", "none", "kernels cannot be compiled for it: " + info.compiler_path);
    else
        add("NVRTC", fmt::format("{}, {}", info.compiler, info.compiler_path));
    // It is optional: its absence is no problem.
    add("cuBLASLt", info.cublaslt.empty() ? "none: " + info.cublaslt_path
                                          : fmt::format("{}, {}", info.cublaslt, info.cublaslt_path));
    const bool is_measured = known.source == RateSource::measured;
    add("rates", is_measured ? fmt::format("measured{}{}", since.empty() ? "" : " ", since)
                             : fmt::format("{}: cairn tune --device {} measures them", to_string(known.source), name));
    const DeviceRates& rates = known.rates;
    add("read bandwidth", rate_text(rates.bandwidth, "B"));
    if (rates.cache_bandwidth > 0) add("cache bandwidth", rate_text(rates.cache_bandwidth, "B"));
    add(to_string(Arithmetic::f32), rate_text(rates.flops, "FLOP"));
    for (std::size_t i = 0; i < arithmetic_count; ++i)
        if (const auto arithmetic = static_cast<Arithmetic>(i);
            arithmetic != Arithmetic::f32 && rates.arithmetic_flops[i] > 0)
            add(to_string(arithmetic), rate_text(rates.arithmetic_flops[i], "FLOP"));
    add("launch", time_text(rates.launch_seconds));
    add("link", fmt::format("{}, {} a copy", rate_text(rates.link_bandwidth, "B"), time_text(rates.link_seconds)));
    return facts;
}

MachineDiagnostic absence_of(const FoundDevices& found) {
    if (!found.has_driver) return {"GPU", "none: " + found.reason, {}};
    return {"GPU", "none", found.reason};
}

std::vector<MachineDiagnostic> device_diagnostics(const Context& context, const std::filesystem::path& database) {
    const FoundDevices found = find_devices();
    if (found.devices.empty()) return {absence_of(found)};
    std::vector<MachineDiagnostic> facts;
    for (const Device device : found.devices) {
        try {
            for (MachineDiagnostic& fact : facts_about(device, context, database)) facts.push_back(std::move(fact));
        } catch (const Error& error) { facts.push_back({to_string(device), "cannot be used", error.what()}); }
    }
    return facts;
}

}  // namespace cairn::cli
