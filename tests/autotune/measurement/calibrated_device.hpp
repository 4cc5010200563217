#pragma once

#include "tests/autotune/measurement/second_device.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cairn::test {

/// Plausible rates of a GPU.
inline device::DeviceCalibration device_calibration() {
    device::DeviceCalibration made;
    made.bandwidth = 3e12;
    made.bandwidth_bytes = 8e8;
    made.cache_bandwidth = 6e12;
    made.flops[static_cast<std::size_t>(Arithmetic::f32)] = 5e13;
    made.flops[static_cast<std::size_t>(Arithmetic::f16)] = 6e14;
    made.launch_seconds = 1e-6;
    made.upload_bandwidth = 1e10;
    made.download_bandwidth = 4e10;
    made.link_seconds = 8e-6;
    made.noise = 0.02;
    made.is_thorough = true;
    return made;
}

/// The device of PrivateMemoryBackend with a calibration.
class CalibratedBackend final : public device::Backend {
public:
    using Calibrate =
        std::function<std::optional<device::DeviceCalibration>(double seconds, const std::stop_token& stop)>;

    CalibratedBackend(int threads, Calibrate calibrate) : own_(threads), calibrate_(std::move(calibrate)) {}

    std::unique_ptr<device::Memory> reserve(std::size_t bytes, device::MemoryUse use) override {
        return own_.reserve(bytes, use);
    }
    std::size_t page_bytes() const noexcept override { return own_.page_bytes(); }
    std::optional<std::int64_t> free_memory() const override { return free_bytes; }
    std::vector<std::shared_ptr<const void>> compile(std::span<const device::DeviceCode* const> texts,
                                                     const device::CompileRequest& request = {}) override {
        return own_.compile(texts, request);
    }
    std::unique_ptr<device::CommandBuffer> record(std::span<const device::KernelLaunch> launches,
                                                  std::span<const std::int64_t> symbols) override {
        return own_.record(launches, symbols);
    }
    double time(const device::TimedCalls& calls, std::optional<device::Failure>& failure) override {
        return own_.time(calls, failure);
    }
    int threads() const noexcept override { return own_.threads(); }
    FeatureSet features() const override { return own_.features(); }
    device::CacheSizes caches() const override { return {0, cache_bytes}; }
    std::string fingerprint(const FeatureSet& enabled) const override { return own_.fingerprint(enabled); }
    std::optional<device::DeviceCalibration> calibrate(double seconds, const std::stop_token& stop) override {
        return calibrate_(seconds, stop);
    }
    DeviceInfo info() const override {
        DeviceInfo info;
        info.name = "an invented device";
        return info;
    }

    std::int64_t cache_bytes = 50 << 20, free_bytes = std::int64_t{80} << 30;

private:
    PrivateMemoryBackend own_;
    Calibrate calibrate_;
};

/// Nominal rates, of a device of this name.
inline DeviceRates nominal_rates(std::string name, Device device = Device::cuda()) {
    return {device, 1e15, 1e14, 1e-9, 1e13, 1e-9, std::move(name)};
}

/// A Context with devices of nominal rates, each calibrated by `calibrate`.
inline Context with_calibrated_devices(const std::vector<DeviceRates>& devices,
                                       const CalibratedBackend::Calibrate& calibrate, ContextOptions options = {}) {
    std::vector<DeviceBackend> backends;
    for (const DeviceRates& rates : devices) {
        KernelSet kernels = second_device(rates);
        for (Kernel& kernel : kernels.kernels)
            kernel.id = to_string(rates.device) + kernel.id.substr(kernel.id.find('.'));
        backends.push_back({.device = rates.device,
                            .backend = std::make_unique<CalibratedBackend>(options.threads, calibrate),
                            .kernels = std::move(kernels),
                            .has_nominal_rates = true});
    }
    return driver::make_context(std::move(options), std::move(backends));
}

}  // namespace cairn::test
