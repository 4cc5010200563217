#pragma once

#include "cairn/tuning.hpp"
#include "device/context_impl.hpp"
#include "device/device_calibration.hpp"

#include <stop_token>

/// The rates of devices other than the CPU: stated, nominal or measured.
namespace cairn::autotune {

/// Where the rates of a device in the kernel set come from: never `measured`.
RateSource source_of_rates(const Context::Impl& context, Device device);

/// The rates of a device by its calibration; device and name are those of `rates`.
DeviceRates measured_rates(const DeviceRates& rates, const device::DeviceCalibration& calibrated);

/// The rates of a device of the kernel set: those of the stored calibration if the rates there are nominal, otherwise
/// those there. If there is no calibration, or only a brief one and at least `thorough_seconds` are allowed, the device
/// is calibrated now in about `seconds`; with 0 nothing is measured. A device that cannot be calibrated keeps its
/// rates, and the reason is logged. Throws Cancelled.
KnownRates rates_of(const Context& context, const DeviceRates& rates, double seconds, const std::stop_token& stop = {});

}  // namespace cairn::autotune
