#include "autotune/measurement/device_rates.hpp"

#include "autotune/measurement/calibrate.hpp"
#include "autotune/measurement/calibration_records.hpp"
#include "device/context_impl.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::autotune {
namespace {

constexpr auto f32 = static_cast<std::size_t>(Arithmetic::f32);

}  // namespace

RateSource source_of_rates(const Context::Impl& context, Device device) {
    const std::vector<DeviceRates>& stated = context.options.extra.devices;
    const bool is_stated =
        std::any_of(stated.begin(), stated.end(), [&](const DeviceRates& rates) { return rates.device == device; });
    const DeviceBackend* const opened = context.other_backend(device);
    return is_stated || opened == nullptr || !opened->has_nominal_rates ? RateSource::stated : RateSource::nominal;
}

DeviceRates measured_rates(const DeviceRates& rates, const device::DeviceCalibration& calibrated) {
    DeviceRates measured = rates;
    measured.flops = calibrated.flops[f32];
    measured.arithmetic_flops = calibrated.flops;
    measured.bandwidth = calibrated.bandwidth;
    measured.cache_bandwidth = calibrated.cache_bandwidth;
    measured.launch_seconds = calibrated.launch_seconds;
    // As much copied there as back.
    measured.link_bandwidth = 2 / (1 / calibrated.upload_bandwidth + 1 / calibrated.download_bandwidth);
    measured.link_seconds = calibrated.link_seconds;
    return measured;
}

KnownRates rates_of(const Context& context, const DeviceRates& rates, double seconds, const std::stop_token& stop) {
    Context::Impl& impl = *context.impl();
    if (source_of_rates(impl, rates.device) == RateSource::stated) return {rates, RateSource::stated};
    const DeviceRecords records = records_of(impl, rates.device);
    std::optional<device::DeviceCalibration> known = stored_calibration(*impl.timings, records);
    const bool is_enough = known && (known->is_thorough || seconds < thorough_seconds);
    if (!is_enough && seconds > 0) try {
            const std::scoped_lock alone(impl.measuring);
            if (const auto calibrated = impl.backend(rates.device).calibrate(seconds, stop)) {
                record_calibration(*impl.timings, records, *calibrated);
                known = stored_calibration(*impl.timings, records);
            } else if (!known) {
                impl.log(LogLevel::info,
                         fmt::format("the device {} keeps nominal rates: it takes too long to measure them",
                                     to_string(rates.device)));
            }
        } catch (const Cancelled&) { throw; } catch (const InternalError&) {
            throw;
        } catch (const Error& error) {
            impl.log(LogLevel::warning, fmt::format("the rates of the device {} cannot be measured: {}",
                                                    to_string(rates.device), error.what()));
        }
    if (!known) return {rates, RateSource::nominal};
    return {measured_rates(rates, *known), RateSource::measured};
}

}  // namespace cairn::autotune

namespace cairn::inline v0 {
namespace {

const DeviceRates& rates_in(const Context& context, Device device) {
    for (const DeviceRates& rates : context.kernels().devices)
        if (rates.device == device) return rates;
    throw Error(ErrorKind::argument, "calibrate",
                fmt::format("the device {} has no rates in this Context", to_string(device)));
}

}  // namespace

std::string_view to_string(RateSource source) noexcept {
    switch (source) {
        case RateSource::stated: return "stated";
        case RateSource::nominal: return "nominal";
        case RateSource::measured: break;
    }
    return "measured";
}

KnownRates device_rates(const Context& context, Device device) {
    return autotune::rates_of(context, rates_in(context, device), 0);
}

DeviceRates calibrate(const Context& context, Device device) {
    const DeviceRates& rates = rates_in(context, device);
    Context::Impl& impl = *context.impl();
    if (device::Backend* const opened = impl.opened(device)) {
        const std::scoped_lock alone(impl.measuring);
        if (const auto calibrated = opened->calibrate(autotune::thorough_seconds, {}))
            return autotune::measured_rates(rates, *calibrated);
    }
    throw Error(ErrorKind::unsupported, "calibrate",
                fmt::format("the device {} cannot be measured: it is simulated, or takes too long", to_string(device)));
}

}  // namespace cairn::inline v0
