#include "tests/gpu/real_device.hpp"

#include "device/cuda/cuda_backend.hpp"
#include "driver/cuda_devices.hpp"
#include "driver/make_context.hpp"
#include "kernels/cuda/prelude_text.hpp"

#include <atomic>
#include <memory>
#include <utility>

namespace cairn::test {
namespace {

using namespace device::cuda;

// Functions of a table have no context.
std::atomic<std::int64_t> launched{0};
decltype(DriverTable::launch) real_launch = nullptr;

Result counting_launch(const LaunchConfig* config, FunctionHandle function, void** parameters, void** extra) {
    ++launched;
    return real_launch(config, function, parameters, extra);
}

}  // namespace

Context RealDevice::context(ContextOptions options) {
    OpenedDriver opened = open_driver();
    if (opened.driver == nullptr) throw Error(ErrorKind::unsupported, "cuda", opened.reason);
    auto table = std::make_shared<DriverTable>(*opened.driver);
    real_launch = opened.driver->launch;
    table->launch = counting_launch;
    DeviceRates rates{Device::cuda(), 1e15, 1e14, 1e-9, 1e13, 1e-9, "a GPU"};
    std::vector<DeviceBackend> devices;
    devices.push_back({rates.device,
                       cuda_backend(0, table, std::make_shared<Nvrtc>(LibraryFolders{{}, CAIRN_NVRTC_FOLDER}),
                                    std::string(kernels::cuda::prelude_text())),
                       driver::kernels_for_cuda(rates, 90)});
    return driver::make_context(std::move(options), std::move(devices));
}

std::int64_t RealDevice::launches() const noexcept { return launched; }

}  // namespace cairn::test
